import {
	chmodSync,
	chownSync,
	mkdirSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	unlinkSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { comparePictures, type Picture, takePicture } from '../../scripts/lib/git/guard.ts';
import { openRepository } from '../../scripts/lib/git/repository.ts';
import {
	addSubmodule,
	GIT_TEST_ENV,
	makeFifo,
	makeRepository,
	type TestRepository,
} from '../support/git-repository.ts';

const env = GIT_TEST_ENV;

/** What the guard says about a change, as `path: what`. The first picture goes through JSON, as a run stores it. */
async function guarded(root: string, change: () => void, exclude: string[] = []): Promise<string[]> {
	const repository = await openRepository(root, { env });
	const before = JSON.parse(JSON.stringify(await takePicture(repository, exclude))) as Picture;
	change();
	return comparePictures(before, await takePicture(repository, exclude)).map(({ path: at, what }) => `${at}: ${what}`);
}

async function project(): Promise<TestRepository> {
	const test = await makeRepository();
	test.write('src/a.ts', 'content\n');
	test.write('b.ts', 'content\n');
	test.write('.gitignore', 'ignored/\n');
	symlinkSync('b.ts', path.join(test.root, 'link'));
	test.commit();
	test.write('untracked/u.ts', 'content\n');
	test.write('ignored/i.ts', 'content\n');
	return test;
}

const KINDS: [string, (test: TestRepository) => void, string[]][] = [
	['nothing', () => {}, []],
	['a touch', (test) => test.write('b.ts', 'content\n'), []],
	['tracked content', (test) => test.write('src/a.ts', 'changed\n'), ['src/a.ts: content changed']],
	['a deletion', (test) => rmSync(path.join(test.root, 'b.ts')), ['b.ts: removed']],
	['untracked content', (test) => test.write('untracked/u.ts', 'changed\n'), ['untracked/u.ts: content changed']],
	['a new file in an untracked folder', (test) => test.write('untracked/v.ts', ''), ['untracked/v.ts: added']],
	['an empty file', (test) => test.write('empty', ''), ['empty: added']],
	['an ignored file', (test) => test.write('ignored/i.ts', 'changed\n'), []],
	['a mode', (test) => chmodSync(path.join(test.root, 'b.ts'), 0o755), ['b.ts: mode changed from 644 to 755']],
	[
		'a link',
		(test) => {
			unlinkSync(path.join(test.root, 'link'));
			symlinkSync('elsewhere', path.join(test.root, 'link'));
		},
		['link: link target changed'],
	],
	[
		'a link instead of a file',
		(test) => {
			unlinkSync(path.join(test.root, 'b.ts'));
			symlinkSync('src/a.ts', path.join(test.root, 'b.ts'));
		},
		['b.ts: changed from file to link'],
	],
	[
		'a link instead of a folder',
		(test) => {
			renameSync(path.join(test.root, 'src'), path.join(test.root, '../elsewhere'));
			symlinkSync('../elsewhere', path.join(test.root, 'src'));
		},
		['src: added', 'src/a.ts: removed'],
	],
	['a FIFO', (test) => makeFifo(path.join(test.root, 'src/pipe')), ['src/pipe: added']],
	[
		'staging',
		(test) => {
			test.write('b.ts', 'staged\n');
			test.git('add', 'b.ts');
			test.write('b.ts', 'content\n');
		},
		['b.ts: staged content changed'],
	],
	['a staged mode', (test) => test.git('update-index', '--chmod=+x', 'b.ts'), ['b.ts: staged mode changed']],
	['git rm --cached', (test) => test.git('rm', '-q', '--cached', 'b.ts'), ['b.ts: removed from the index']],
	['git add', (test) => test.git('add', 'untracked'), ['untracked/u.ts: added to the index']],
	[
		'a file behind assume-unchanged and skip-worktree',
		(test) => {
			test.git('update-index', '--assume-unchanged', 'b.ts');
			test.git('update-index', '--skip-worktree', 'src/a.ts');
			test.write('b.ts', 'changed\n');
			test.write('src/a.ts', 'changed\n');
		},
		['b.ts: content changed', 'src/a.ts: content changed'],
	],
	[
		'a change that keeps size and time',
		(test) => {
			const file = path.join(test.root, 'b.ts');
			const { atime, mtime } = statSync(file);
			writeFileSync(file, 'CONTENT\n');
			utimesSync(file, atime, mtime);
		},
		['b.ts: content changed'],
	],
	[
		'a mode that git ignores',
		(test) => {
			test.git('config', 'core.fileMode', 'false');
			chmodSync(path.join(test.root, 'b.ts'), 0o755);
		},
		['b.ts: mode changed from 644 to 755'],
	],
	[
		'a .gitignore that hides a new file',
		(test) => {
			test.write('.gitignore', 'ignored/\nuntracked/\n');
			test.write('untracked/evil.ts', '');
		},
		['.gitignore: content changed', 'untracked/u.ts: removed'],
	],
	[
		'a .gitignore that hides itself',
		(test) => {
			test.write('h/.gitignore', '*\n');
			test.write('h/evil.ts', '');
		},
		['h/.gitignore: added'],
	],
	[
		'a rule in .git/info/exclude',
		(test) => {
			test.write('.git/info/exclude', 'evil.ts\n');
			test.write('evil.ts', '');
		},
		['.git/info/exclude: content changed'],
	],
	[
		'a file beside the records of another run',
		(test) => {
			test.write('h/run.md', '# CCC Run\n');
			test.write('h/state/x', '');
			test.write('h/evil.ts', '');
		},
		['h/evil.ts: added'],
	],
	[
		'nothing in another run',
		(test) => {
			test.write('h/run.md', '# CCC Run\n');
			test.write('h/.gitignore', '*\n');
			test.write('h/state/x', '');
		},
		[],
	],
	['a run folder', (test) => test.write('runs/1/run.md', 'x'), []],
	['a name with a line break', (test) => test.write('new\nline', ''), ['"new\\nline": added']],
	['a name that is special in JavaScript', (test) => test.write('__proto__', ''), ['__proto__: added']],
];

describe('guard', () => {
	it.each(KINDS)('sees %s', async (_, change, expected) => {
		const test = await project();
		expect(await guarded(test.root, () => change(test), ['runs/1'])).toEqual(expected);
	});

	it('sees HEAD and its branch move', async () => {
		const test = await project();
		const first = test.git('rev-parse', 'HEAD').trim();
		const moved = await guarded(test.root, () => test.git('commit', '-q', '--allow-empty', '-m', 'x'));
		expect(moved).toEqual([`HEAD: HEAD moved from ${first} to ${test.git('rev-parse', 'HEAD').trim()}`]);
		const switched = await guarded(test.root, () => test.git('checkout', '-q', '-b', 'other'));
		expect(switched).toEqual(['HEAD: HEAD switched from refs/heads/main to refs/heads/other']);
	});

	it('works without commits and in SHA-256 repositories', async () => {
		const test = await makeRepository({ sha256: true });
		test.write('a', 'a');
		expect(await guarded(test.root, () => test.write('a', 'b'))).toEqual(['a: content changed']);
		expect(await guarded(test.root, () => test.commit())).toHaveLength(2);
	});

	it('looks into submodules and nested repositories', async () => {
		const inner = await makeRepository();
		inner.write('f', 'old\n');
		inner.commit();
		const test = await makeRepository();
		const submodule = addSubmodule(test, inner, 'sub');
		mkdirSync(path.join(test.root, 'nested'));
		const nested = await makeRepository({ folder: path.join(test.root, 'nested') });
		nested.write('n', 'old\n');
		expect(await guarded(test.root, () => submodule.write('f', 'new\n'))).toEqual(['sub/f: content changed']);
		expect(await guarded(test.root, () => submodule.write('g', ''))).toEqual(['sub/g: added']);
		expect(await guarded(test.root, () => submodule.git('add', 'f'))).toEqual(['sub/f: staged content changed']);
		expect(await guarded(test.root, () => nested.write('n', 'new\n'))).toEqual(['nested/n: content changed']);
		const commits = await guarded(test.root, () => {
			submodule.git('commit', '-q', '-m', 'x');
			nested.commit();
		});
		expect(commits).toEqual([
			expect.stringMatching(/^nested: HEAD moved from none to [0-9a-f]{40}$/),
			'nested/n: added to the index',
			expect.stringMatching(/^sub: HEAD moved from [0-9a-f]{40} to [0-9a-f]{40}$/),
		]);
	});

	it('sees a file put into a submodule that is not checked out', async () => {
		const inner = await makeRepository();
		inner.write('f', 'old\n');
		inner.commit();
		const test = await makeRepository();
		addSubmodule(test, inner, 'sub');
		test.git('submodule', '--quiet', 'deinit', '-f', 'sub');
		expect(await guarded(test.root, () => test.write('sub/evil', ''))).toEqual(['sub: content changed']);
	});

	it('sees a conflict come', async () => {
		const test = await project();
		test.git('checkout', '-q', '-b', 'side');
		test.write('b.ts', 'side\n');
		test.git('commit', '-qam', 'x');
		test.git('checkout', '-q', 'main');
		test.write('b.ts', 'main\n');
		test.git('commit', '-qam', 'x');
		const changes = await guarded(test.root, () => expect(() => test.git('merge', '-q', 'side')).toThrow());
		expect(changes).toEqual(['b.ts: staged content changed', 'b.ts: content changed']);
	});

	it.runIf(process.getuid?.() === 0)('names a file that may not be read', async () => {
		const test = await makeRepository();
		test.write('secret', 'x');
		chmodSync(path.join(test.root, 'secret'), 0o000);
		const others = 65_534;
		for (const part of ['..', '.', '.git']) chownSync(path.join(test.root, part), others, others);
		process.seteuid?.(others);
		try {
			const repository = await openRepository(test.root, { env });
			const error = await takePicture(repository, []).catch((thrown: unknown) => thrown);
			expect(error).toMatchObject({ code: 'unreadable-file', exitCode: 3, facts: { at: 'secret' } });
		} finally {
			process.seteuid?.(0);
		}
	});

	it('pictures 20,000 files in a few seconds', async () => {
		const test = await makeRepository();
		for (let folder = 0; folder < 200; folder += 1) {
			mkdirSync(path.join(test.root, `d${folder}`));
			for (let file = 0; file < 100; file += 1) writeFileSync(path.join(test.root, `d${folder}`, `f${file}`), 'x\n');
		}
		test.git('add', '-A');
		const repository = await openRepository(test.root, { env });
		const start = performance.now();
		const picture = await takePicture(repository, []);
		// Far above the goal of 2 s, because the machine that tests may be busy.
		expect(performance.now() - start).toBeLessThan(8000);
		expect(Object.keys(picture.entries).filter((name) => !name.startsWith('.git/'))).toHaveLength(20_000);
	});
});
