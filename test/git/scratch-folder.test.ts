import { cpSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureBaseline } from '../../scripts/lib/git/baseline.ts';
import { comparePictures, takePicture } from '../../scripts/lib/git/guard.ts';
import { openRepository, type Repository } from '../../scripts/lib/git/repository.ts';
import { readReviewSurface } from '../../scripts/lib/git/review-surface.ts';
import { withView } from '../../scripts/lib/git/view.ts';
import { rejectionOf } from '../support/ccc-error.ts';
import { addSubmodule, GIT_TEST_ENV as env, makeRepository, type TestRepository } from '../support/git-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** The repository as a command finds it that may write no temporary folder. */
async function confined(root: string, scratch?: string): Promise<Repository> {
	const repository = await openRepository(root, { env, ...(scratch === undefined ? {} : { scratch }) });
	return { ...repository, temporaryFolders: ['/proc', path.join(root, '.git', 'HEAD')] };
}

async function changedRepository(): Promise<TestRepository> {
	const test = await makeRepository();
	test.write('a.txt', 'a\n');
	test.commit();
	test.write('a.txt', 'b\n');
	test.write('new.txt', 'new\n');
	return test;
}

/** Everything that ccc reads of a repository through a view. */
async function readAll(repository: Repository) {
	const capture = await captureBaseline(repository, []);
	const surface = await readReviewSurface(repository, capture.baseline, { exclude: [], budgetBytes: 100_000 });
	return { capture, surface, picture: await takePicture(repository, []) };
}

const scratchFolders = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('ccc-git-'));

describe('without a writable temporary folder', () => {
	it.each([
		['the folder handed in', 'runs/one/state', true],
		['the nearest that exists', 'runs/one/state', false],
		['the root of the repository', 'other/one/state', false],
	])('everything is read as with one, in %s', async (_, scratch, make) => {
		const test = await changedRepository();
		const folder = path.join(test.root, scratch);
		mkdirSync(make ? folder : path.join(test.root, 'runs'), { recursive: true });
		const expected = await readAll(await openRepository(test.root, { env }));
		expect(await readAll(await confined(test.root, folder))).toEqual(expected);
		expect(test.git('status', '--short', '--ignored')).toBe(' M a.txt\n?? new.txt\n');
	});

	it('submodules too', async () => {
		const [outer, inner] = [await makeRepository(), await changedRepository()];
		inner.commit();
		const sub = addSubmodule(outer, inner, 'sub');
		sub.write('a.txt', 'changed inside\n');
		const expected = await readAll(await openRepository(outer.root, { env }));
		expect(expected.surface.text).toContain('changed inside');
		expect(await readAll(await confined(outer.root, path.join(outer.root, 'state')))).toEqual(expected);
	});

	it('the folder is there while it is used, seen by no git call, and gone afterwards, also after a failure', async () => {
		const test = await changedRepository();
		const repository = await confined(test.root, path.join(test.root, 'state'));
		const plain = await openRepository(test.root, { env });
		const before = await readAll(plain);
		const work = withView(repository, async (view) => {
			expect(path.dirname(view.folder)).toBe(test.root);
			expect(statSync(view.folder).mode & 0o777).toBe(0o700);
			expect(test.git('status', '--short')).toBe(' M a.txt\n?? new.txt\n');
			expect(test.git('ls-files', '--others', '--exclude-standard')).toBe('new.txt\n');
			const during = await readAll(plain);
			expect([during.capture, during.surface.changedPaths]).toEqual([before.capture, before.surface.changedPaths]);
			throw new Error('stopped');
		});
		await expect(work).rejects.toThrow('stopped');
		expect(scratchFolders(test.root)).toEqual([]);
	});

	it('the pictures of before and after a call are the same, run by run', async () => {
		const test = await changedRepository();
		const [one, two] = ['one', 'two'].map((name) => path.join(test.root, 'runs', name, 'state'));
		for (const [index, state] of [one, two].entries()) {
			mkdirSync(state ?? '', { recursive: true });
			writeFileSync(path.join(state ?? '', '..', 'run.md'), '# CCC Run\n');
			writeFileSync(path.join(state ?? '', '..', '.gitignore'), index === 0 ? '*\n' : '');
		}
		const repository = await confined(test.root, one);
		const before = await takePicture(repository, ['runs/one']);
		const after = await withView(await confined(test.root, two), () => takePicture(repository, ['runs/one']));
		expect(comparePictures(before, after)).toEqual([]);
	});

	it('leftovers are swept after ten minutes; what is not ours stays', async () => {
		const test = await changedRepository();
		const place = path.join(test.root, 'state');
		mkdirSync(place);
		const repository = await confined(test.root, place);
		let left = '';
		await withView(repository, async (view) => {
			left = `${view.folder.slice(0, -6)}AAAAAA`;
			cpSync(view.folder, left, { recursive: true });
		});
		const theirs = path.join(place, 'ccc-git-BBBBBB');
		const empty = path.join(place, 'ccc-git-CCCCCC');
		for (const folder of [theirs, empty]) mkdirSync(folder);
		writeFileSync(path.join(theirs, 'kept'), '');
		symlinkSync(theirs, path.join(place, 'ccc-git-DDDDDD'));
		const age = (minutes: number): void => {
			const then = Date.now() / 1000 - minutes * 60;
			for (const folder of [left, theirs, empty]) utimesSync(folder, then, then);
		};
		age(9);
		await withView(repository, async () => undefined);
		expect(scratchFolders(place)).toHaveLength(4);
		age(11);
		await withView(repository, async () => undefined);
		expect(scratchFolders(place)).toEqual(['ccc-git-BBBBBB', 'ccc-git-DDDDDD']);
		expect(existsSync(path.join(theirs, 'kept'))).toBe(true);
	});

	it.each([
		['none is handed in', () => undefined],
		['it is outside the repository', (root: string) => path.join(root, '..', 'elsewhere')],
		['it is a link that leads outside', (root: string) => path.join(root, 'link', 'state')],
		['it is no folder', (root: string) => path.join(root, 'a.txt')],
	])('the error names what was tried when %s', async (_, scratch) => {
		const test = await changedRepository();
		const outside = await tempFolder();
		symlinkSync(outside, path.join(test.root, 'link'));
		const repository = await confined(test.root, scratch(test.root));
		const error = await rejectionOf(captureBaseline(repository, []));
		expect(error).toMatchObject({ code: 'no-temporary-folder', exitCode: 3 });
		expect(error.facts.expected).toContain('/proc');
		expect(readdirSync(outside)).toEqual([]);
	});
});

describe('with one', () => {
	it('nothing is written into the repository', async () => {
		const test = await changedRepository();
		const repository = await openRepository(test.root, { env, scratch: test.root });
		await withView(repository, async (view) => {
			expect(path.relative(test.root, view.folder)).toMatch(/^\.\./);
		});
	});
});
