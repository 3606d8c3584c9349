import { createHash } from 'node:crypto';
import {
	chmodSync,
	existsSync,
	lstatSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureBaseline, confirmBaseline } from '../../scripts/lib/git/baseline.ts';
import { readChanges } from '../../scripts/lib/git/changes.ts';
import { takePicture } from '../../scripts/lib/git/guard.ts';
import { openRepository, type Repository, readHead } from '../../scripts/lib/git/repository.ts';
import { readReviewSurface } from '../../scripts/lib/git/review-surface.ts';
import { addSubmodule, GIT_TEST_ENV, makeRepository, type TestRepository } from '../support/git-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

const env = GIT_TEST_ENV;

/** Everything the room can say about a repository. */
async function readAll(repository: Repository): Promise<unknown> {
	const { baseline, status, stagedDiff, unstagedDiff } = await captureBaseline(repository, []);
	await confirmBaseline(repository, baseline);
	return {
		head: await readHead(repository),
		baseline: [status, stagedDiff, unstagedDiff].map(String),
		surface: await readReviewSurface(repository, baseline, { exclude: [], budgetBytes: 10 }),
		changes: String(await readChanges(repository, baseline, [])),
		picture: await takePicture(repository, []),
	};
}

/** A repository with a submodule, both with staged, unstaged, touched, renamed and untracked files. */
async function busyRepository(): Promise<{ test: TestRepository; submodule: TestRepository }> {
	const inner = await makeRepository();
	const outer = await makeRepository();
	for (const one of [inner, outer]) {
		for (const name of ['edited.txt', 'staged.txt', 'touched.txt', 'old.txt'])
			one.write(name, `${name}\n1\n2\n\n3\n4\n`);
		one.write('.gitattributes', '*.txt filter=evil diff=evil\nstaged.txt filter=a=b\n');
		one.commit();
	}
	const submodule = addSubmodule(outer, inner, 'sub');
	for (const one of [submodule, outer]) {
		one.write('staged.txt', 'staged\n1\n2\n\n3\n4\n');
		one.git('add', 'staged.txt');
		one.write('edited.txt', 'edited.txt\n1\n2\n\nthree\n4\n');
		one.git('mv', 'old.txt', 'new.txt');
		one.write('dir/neu ü.txt', 'untracked\n');
		const later = new Date(Date.now() + 5000);
		utimesSync(path.join(one.root, 'touched.txt'), later, later);
	}
	return { test: outer, submodule };
}

/** A program that leaves a mark when it runs. */
async function makeTrap(): Promise<{ script: string; mark: string }> {
	const folder = await tempFolder();
	const mark = path.join(folder, 'mark');
	const script = path.join(folder, 'trap.sh');
	writeFileSync(script, `#!/bin/sh\necho "$0 $*" >> '${mark}'\ncat\n`);
	chmodSync(script, 0o755);
	return { script: `'${script}'`, mark };
}

function trapSettings(script: string, hooks: string): [string, string][] {
	return [
		['core.fsmonitor', script],
		['core.hooksPath', hooks],
		['core.pager', script],
		['core.editor', script],
		['core.sshCommand', script],
		['core.askPass', script],
		['diff.external', script],
		['diff.evil.command', script],
		['diff.evil.textconv', script],
		['filter.evil.clean', script],
		['filter.evil.smudge', script],
		['filter.evil.process', script],
		['filter.evil.required', 'true'],
		['filter.a=b.clean', script],
		['filter.a=b.required', 'true'],
		['pager.status', script],
		['pager.diff', script],
		['interactive.diffFilter', script],
		['alias.status', `!${script}`],
	];
}

const DISTORTIONS: [string, string][] = [
	['core.quotePath', 'true'],
	['core.abbrev', '4'],
	['core.excludesFile', '/ignore-everything'],
	['core.untrackedCache', 'true'],
	['core.whitespace', 'tab-in-indent'],
	['color.ui', 'always'],
	['color.diff', 'always'],
	['color.status', 'always'],
	['column.ui', 'always'],
	['diff.noprefix', 'true'],
	['diff.mnemonicPrefix', 'true'],
	['diff.renames', 'false'],
	['diff.algorithm', 'patience'],
	['diff.context', '9'],
	['diff.interHunkContext', '9'],
	['diff.wsErrorHighlight', 'all'],
	['diff.relative', 'true'],
	['diff.indentHeuristic', 'false'],
	['diff.suppressBlankEmpty', 'true'],
	['diff.colorMoved', 'zebra'],
	['diff.ignoreSubmodules', 'all'],
	['diff.submodule', 'log'],
	['diff.statGraphWidth', '3'],
	['diff.autoRefreshIndex', 'false'],
	['diff.wordRegex', '.'],
	['diff.dirstat', 'files'],
	['diff.orderFile', '/nowhere'],
	['status.short', 'true'],
	['status.branch', 'true'],
	['status.showUntrackedFiles', 'no'],
	['status.relativePaths', 'false'],
	['status.renames', 'false'],
	['status.showStash', 'true'],
	['status.submoduleSummary', 'true'],
	['status.displayCommentPrefix', 'true'],
	['submodule.recurse', 'true'],
	['submodule.sub.ignore', 'all'],
];

describe('hostile configuration', () => {
	it("runs nothing from the repository's own, nor from a submodule's, whenever it was set", async () => {
		const { test, submodule } = await busyRepository();
		const { script, mark } = await makeTrap();
		const hooks = await tempFolder();
		for (const name of ['post-index-change', 'fsmonitor-watchman', 'reference-transaction', 'pre-commit']) {
			writeFileSync(path.join(hooks, name), `#!/bin/sh\necho hook >> '${mark}'\n`, { mode: 0o755 });
		}
		const repository = await openRepository(test.root, { env });
		const before = await readAll(repository);
		for (const one of [test, submodule]) {
			for (const [name, value] of trapSettings(script, hooks)) one.git('config', name, value);
		}
		writeFileSync(path.join(test.root, '.git/info/attributes'), '* filter=evil diff=evil\n');
		expect(await readAll(repository)).toEqual(before);
		expect(await readAll(await openRepository(test.root, { env }))).toEqual(before);
		expect(existsSync(mark)).toBe(false);
		// The trap works: git by itself falls into it.
		expect(() => test.git('-c', 'core.fsmonitor=false', 'diff')).toThrow();
		expect(existsSync(mark)).toBe(true);
	});

	it("is not distorted by the repository's own", async () => {
		const { test, submodule } = await busyRepository();
		const repository = await openRepository(test.root, { env });
		const before = await readAll(repository);
		for (const one of [test, submodule]) for (const [name, value] of DISTORTIONS) one.git('config', name, value);
		expect(await readAll(repository)).toEqual(before);
	});

	it("is neither distorted nor run by the user's, wherever it is", async () => {
		const { test } = await busyRepository();
		const { script, mark } = await makeTrap();
		const home = await tempFolder();
		const everything = path.join(home, 'everything');
		writeFileSync(everything, '*\n');
		const file = path.join(home, '.gitconfig');
		const settings = [...trapSettings(script, home), ...DISTORTIONS, ['core.excludesFile', everything] as const];
		writeFileSync(file, '');
		for (const [name, value] of settings) test.git('config', '--file', file, name, value);
		const before = await readAll(await openRepository(test.root, { env }));
		const hostile: NodeJS.ProcessEnv = {
			PATH: env.PATH,
			HOME: home,
			XDG_CONFIG_HOME: home,
			GIT_CONFIG_GLOBAL: file,
			GIT_CONFIG_SYSTEM: file,
			GIT_CONFIG_COUNT: '1',
			GIT_CONFIG_KEY_0: 'diff.noprefix',
			GIT_CONFIG_VALUE_0: 'true',
			GIT_EXTERNAL_DIFF: script,
			GIT_PAGER: script,
			GIT_TRACE: path.join(home, 'trace'),
			GIT_DIFF_OPTS: '--unified=0',
			GIT_LITERAL_PATHSPECS: '1',
			GIT_DIR: '/nowhere',
			GIT_INDEX_FILE: '/nowhere',
			LC_ALL: 'de_DE.UTF-8',
			COLUMNS: '20',
		};
		expect(await readAll(await openRepository(test.root, { env: hostile }))).toEqual(before);
		expect(existsSync(mark)).toBe(false);
		expect(existsSync(path.join(home, 'trace'))).toBe(false);
	});

	it('does not fall for a replaced commit', async () => {
		const test = await makeRepository();
		test.write('f', 'good\n');
		const first = test.commit();
		test.write('f', 'evil\n');
		const second = test.commit();
		test.git('replace', first, second);
		const repository = await openRepository(test.root, { env });
		const patch = String(await readChanges(repository, { ref: first, kind: 'head' }, []));
		expect(patch).toContain('-good\n+evil\n');
	});
});

/** Name, kind, mode, time and content of everything below a folder. */
function imageOf(folder: string): Record<string, string> {
	const image: Record<string, string> = {};
	for (const name of ['.', ...(readdirSync(folder, { recursive: true }) as string[])]) {
		const file = path.join(folder, name);
		const stats = lstatSync(file, { bigint: true });
		const content = stats.isFile() ? readFileSync(file) : stats.isSymbolicLink() ? readlinkSync(file) : '';
		image[name] = `${stats.mode} ${stats.ino} ${stats.mtimeNs} ${createHash('sha1').update(content).digest('hex')}`;
	}
	return image;
}

describe('.git', () => {
	it('stays as it is, submodules included, though git would have to refresh it', async () => {
		const { test } = await busyRepository();
		const before = imageOf(path.join(test.root, '.git'));
		await readAll(await openRepository(test.root, { env }));
		expect(imageOf(path.join(test.root, '.git'))).toEqual(before);
	});

	it('stays as it is with a split index and without commits', async () => {
		const split = await makeRepository();
		split.write('f', 'f\n');
		split.git('update-index', '--split-index');
		split.git('add', '.');
		split.write('f', 'g\n');
		const before = imageOf(path.join(split.root, '.git'));
		const repository = await openRepository(split.root, { env });
		expect((await captureBaseline(repository, [])).status.toString()).toBe('AM f\n');
		await readAll(repository);
		expect(imageOf(path.join(split.root, '.git'))).toEqual(before);
	});

	it('leaves no temporary folder behind, also after a failure', async () => {
		const test = await makeRepository();
		test.write('f', 'f\n');
		test.git('add', '.');
		const temporary = await tempFolder();
		const repository = await openRepository(test.root, { env: { ...env, TMPDIR: temporary } });
		await readAll(repository);
		writeFileSync(path.join(test.root, '.git/index'), 'broken '.repeat(20));
		await expect(readAll(repository)).rejects.toMatchObject({ code: 'corrupt-index' });
		expect(readdirSync(temporary)).toEqual([]);
	});
});
