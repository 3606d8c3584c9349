import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureBaseline } from '../../scripts/lib/git/baseline.ts';
import { openRepository } from '../../scripts/lib/git/repository.ts';
import { type ReviewSurface, readReviewSurface } from '../../scripts/lib/git/review-surface.ts';
import {
	addSubmodule,
	GIT_TEST_ENV,
	makeFifo,
	makeRepository,
	runTestGit,
	testRepositoryAt,
} from '../support/git-repository.ts';

const env = GIT_TEST_ENV;

/** The surface against the state in which the repository is when `change` has not been made yet. */
async function surfaceAfter(
	root: string,
	change: () => void,
	options: { exclude?: string[]; budgetBytes?: number } = {},
): Promise<ReviewSurface> {
	const repository = await openRepository(root, { env });
	const { baseline } = await captureBaseline(repository, []);
	change();
	return readReviewSurface(repository, baseline, { exclude: [], budgetBytes: 60_000, ...options });
}

describe('readReviewSurface', () => {
	it("shows the protocol's commands, each with its output", async () => {
		const test = await makeRepository();
		test.write('a.txt', 'old\n');
		const ref = test.commit();
		const surface = await surfaceAfter(test.root, () => test.write('a.txt', 'new\n'));
		const titles = surface.text.split('\n').filter((line) => line.startsWith('### '));
		expect(titles).toEqual([
			'### git status --short',
			`### git diff --stat ${ref}...HEAD`,
			`### git diff ${ref}...HEAD`,
			'### git diff --cached',
			'### git diff',
			'### Untracked files',
		]);
		expect(surface.text).toContain('### git diff --cached\n\n(empty)\n');
		expect(surface.text).toContain('-old\n+new\n');
		expect(surface.changedPaths).toEqual(['a.txt']);
		expect(surface.summarised).toEqual([]);
		expect(surface.bytes).toBe(Buffer.byteLength(surface.text));
	});

	it.each([false, true])('works before the first commit, and after it (sha256: %s)', async (sha256) => {
		const test = await makeRepository({ sha256 });
		const surface = await surfaceAfter(test.root, () => test.write('new.txt', 'hello\n'));
		expect(surface.text).not.toContain('HEAD');
		expect(surface.text).toContain('?? new.txt');
		expect(surface.text).toContain('+hello\n');
		const repository = await openRepository(test.root, { env });
		const { baseline } = await captureBaseline(repository, []);
		test.commit();
		const after = await readReviewSurface(repository, baseline, { exclude: [], budgetBytes: 60_000 });
		expect(after.text).toContain(`### git diff ${repository.emptyTree} HEAD`);
		expect(after.text).toContain('+hello\n');
	});

	it('shows untracked files of every kind', async () => {
		const test = await makeRepository();
		test.write('tracked', 'x\n');
		test.commit();
		const surface = await surfaceAfter(test.root, () => {
			for (const name of ['café ünï.txt', 'new\nline.txt', 'a b.md', '-dash', 'dir/deep.txt'])
				test.write(name, `in ${name}\n`);
			writeFileSync(Buffer.concat([Buffer.from(`${test.root}/bad`), Buffer.of(0xff, 0xfe)]), 'odd bytes\n');
			test.write('pic.png', Buffer.of(0x89, 0x50, 0, 1, 2));
			test.write('script.sh', '#!/bin/sh\n');
			chmodSync(path.join(test.root, 'script.sh'), 0o755);
			test.write('empty', '');
			test.write('.GIT/x', 'x\n');
			symlinkSync('/etc/hostname', path.join(test.root, 'link'));
			makeFifo(path.join(test.root, 'dir/pipe'));
			rmSync(path.join(test.root, 'tracked'));
			makeFifo(path.join(test.root, 'tracked'));
			for (const name of ['nested', 'unborn']) {
				mkdirSync(path.join(test.root, name));
				runTestGit(path.join(test.root, name), 'init', '-q');
			}
			runTestGit(path.join(test.root, 'nested'), 'commit', '-q', '--allow-empty', '-m', 'x');
		});
		const { text } = surface;
		const head = runTestGit(path.join(test.root, 'nested'), 'rev-parse', 'HEAD').trim();
		for (const expected of [
			'+in café ünï.txt\n',
			'+++ b/café ünï.txt',
			'"b/new\\nline.txt"',
			'+in a b.md\n',
			'+++ b/-dash\n',
			'+in dir/deep.txt\n',
			'+odd bytes\n',
			'[binary] pic.png: 5 bytes',
			'new file mode 100755',
			'diff --git a/empty b/empty\n',
			'[name that git refuses] .GIT/x: 2 bytes',
			'[symbolic link] link -> /etc/hostname\n',
			'[special file] dir/pipe: fifo',
			'[special file] tracked: fifo',
			`[nested git repository] nested/: HEAD ${head}\n`,
			'[nested git repository] unborn/: no commits\n',
		]) {
			expect(text).toContain(expected);
		}
		expect(surface.summarised).toEqual([{ path: 'pic.png', reason: 'binary', bytes: 5 }]);
		expect(surface.changedPaths).toContain('new\nline.txt');
		expect(surface.changedPaths).toContain('bad\udcff\udcfe');
	});

	it('shows renames, and staged and committed changes', async () => {
		const test = await makeRepository();
		test.write('old.txt', '1\n2\n3\n4\n5\n');
		test.commit();
		const surface = await surfaceAfter(test.root, () => test.git('mv', 'old.txt', 'new.txt'));
		expect(surface.text).toContain('R  old.txt -> new.txt');
		expect(surface.text).toContain('rename to new.txt');
		expect(surface.changedPaths).toEqual(['new.txt', 'old.txt']);
	});

	it('leaves run folders out, ours and others', async () => {
		const test = await makeRepository();
		const change = (): void => {
			test.write('runs/*/run.md', 'ours SECRET\n');
			test.write('other/run.md', '# CCC Run\n');
			test.write('other/state/x', 'SECRET\n');
			test.write('runs/a/code.ts', 'shown\n');
		};
		const surface = await surfaceAfter(test.root, change, { exclude: ['runs/*'] });
		expect(surface.text).not.toContain('SECRET');
		expect(surface.changedPaths).toEqual(['runs/a/code.ts']);
	});

	it('lets no .gitattributes hide text', async () => {
		const test = await makeRepository();
		test.write('.gitattributes', '*.ts -diff\n*.js binary\n*.py diff=none\n');
		for (const name of ['a.ts', 'b.js', 'c.py']) test.write(name, 'old\n');
		test.commit();
		const surface = await surfaceAfter(test.root, () => {
			for (const name of ['a.ts', 'b.js', 'c.py', 'new.ts']) test.write(name, `evil in ${name}\n`);
		});
		for (const name of ['a.ts', 'b.js', 'c.py', 'new.ts']) expect(surface.text).toContain(`+evil in ${name}\n`);
	});

	it('shows changes of files that git was told not to look at', async () => {
		const test = await makeRepository();
		for (const name of ['assumed', 'skipped', 'same', 'sparse']) test.write(name, 'old\n');
		test.commit();
		const surface = await surfaceAfter(test.root, () => {
			test.git('update-index', '--assume-unchanged', 'assumed', 'same');
			test.git('update-index', '--skip-worktree', 'skipped', 'sparse');
			test.write('assumed', 'new 1\n');
			test.write('skipped', 'new 2\n');
			rmSync(path.join(test.root, 'sparse'));
		});
		expect(surface.text).toContain('-old\n+new 1\n');
		expect(surface.text).toContain('-old\n+new 2\n');
		expect(surface.changedPaths).toEqual(['assumed', 'skipped']);
	});

	it('shows what is inside submodules', async () => {
		const inner = await makeRepository();
		inner.write('lib.ts', 'old\n');
		inner.commit();
		const outer = await makeRepository();
		const submodule = addSubmodule(outer, inner, 'mods/sub');
		const surface = await surfaceAfter(
			outer.root,
			() => {
				submodule.write('lib.ts', 'dirty\n');
				submodule.write('extra.ts', 'untracked\n');
				submodule.write('run/run.md', 'SECRET\n');
			},
			{ exclude: ['mods/sub/run'] },
		);
		expect(surface.text).toContain(' m mods/sub\n');
		expect(surface.text).toContain('--- a/mods/sub/lib.ts\n+++ b/mods/sub/lib.ts\n@@ -1 +1 @@\n-old\n+dirty\n');
		expect(surface.text).toContain('+++ b/mods/sub/extra.ts\n@@ -0,0 +1 @@\n+untracked\n');
		expect(surface.text).not.toContain('SECRET');
		expect(surface.changedPaths).toEqual(['mods/sub/extra.ts', 'mods/sub/lib.ts']);
		const moved = await surfaceAfter(outer.root, () => submodule.commit());
		expect(moved.text).toContain('+Subproject commit');
		expect(moved.text).toContain('+++ b/mods/sub/lib.ts');
	});

	it('works in a worktree and in a submodule', async () => {
		const inner = await makeRepository();
		inner.write('f', 'old\n');
		inner.commit();
		const outer = await makeRepository();
		const submodule = addSubmodule(outer, inner, 'sub');
		outer.git('worktree', 'add', '-q', '../tree', '-b', 'other');
		const worktree = testRepositoryAt(path.join(outer.root, '../tree'));
		for (const place of [submodule, worktree]) {
			const surface = await surfaceAfter(place.root, () => place.write('f', 'new\n'));
			expect(surface.text).toContain('+new\n');
			expect(surface.changedPaths).toEqual(['f']);
		}
	});

	it('brings a diff of 3 MB whole', async () => {
		const test = await makeRepository();
		test.write('big.ts', '');
		test.commit();
		const line = `${'x'.repeat(99)}\n`;
		const surface = await surfaceAfter(test.root, () => test.write('big.ts', line.repeat(30_000)));
		expect(surface.text.split(`+${line}`).length - 1).toBe(30_000);
		expect(surface.summarised).toEqual([]);
	});

	it('is not ended by a fence or a heading in a file', async () => {
		const test = await makeRepository();
		const surface = await surfaceAfter(test.root, () => test.write('x.md', '```\n`````\n### git diff\n'));
		expect(surface.text).toContain('``````diff\n');
		expect(surface.text.split('\n').filter((line) => line === '### git diff')).toHaveLength(1);
	});
});

describe('budget', () => {
	const lines = (count: number): string => 'some line of text\n'.repeat(count);

	async function manyFiles(budgetBytes: number): Promise<ReviewSurface> {
		const test = await makeRepository();
		test.write('.gitattributes', 'marked.ts linguist-generated\n');
		test.commit();
		const change = (): void => {
			test.write('src/code.ts', lines(300));
			test.write('test/code.test.ts', lines(300));
			test.write('package-lock.json', lines(500));
			test.write('vendor/lib.js', lines(400));
			test.write('web/app.min.js', lines(50));
			test.write('head.ts', `// @generated\n${lines(45)}`);
			test.write('marked.ts', lines(40));
		};
		return surfaceAfter(test.root, change, { budgetBytes });
	}

	it('summarises the largest first, and only as many as needed', async () => {
		const full = await manyFiles(1_000_000);
		expect(full.summarised).toEqual([]);
		const some = await manyFiles(full.bytes - 10_000);
		expect(some.summarised.map((one) => one.path)).toEqual(['package-lock.json', 'vendor/lib.js']);
		expect(some.summarised[0]?.reason).toBe('lockfile');
		expect(some.text.startsWith('### Summarised files')).toBe(true);
		expect(some.text).toMatch(/^package-lock\.json: lockfile, \+500 -0 lines, \d+ bytes$/m);
		expect(some.text).toMatch(/^\[summarised: vendored\] vendor\/lib\.js: \+400 -0 lines, \d+ bytes, not shown$/m);
		expect([some.sha256, some.bytes]).toEqual([full.sha256, full.bytes]);
	});

	it('never summarises source or tests, though the budget is passed', async () => {
		const surface = await manyFiles(100);
		expect(surface.summarised.map((one) => `${one.path} ${one.reason}`)).toEqual([
			'package-lock.json lockfile',
			'vendor/lib.js vendored',
			'web/app.min.js generated',
			'head.ts generated',
			'marked.ts generated',
		]);
		expect(surface.text.split('+some line of text\n').length - 1).toBe(600);
	});

	it('keeps source whole that lies, or speaks, like something else', async () => {
		const test = await makeRepository();
		const own = [
			['build/tasks.js', ''],
			['dist/run.js', ''],
			['test/vendor/adapter.test.js', ''],
			['src/core.js', '// Please do not modify the order of calls below\n'],
		] as const;
		const change = (): void => {
			for (const [name, head] of own) test.write(name, `${head}${lines(100)}`);
		};
		const surface = await surfaceAfter(test.root, change, { budgetBytes: 100 });
		expect(surface.summarised).toEqual([]);
		expect(surface.text.split('+some line of text\n').length - 1).toBe(400);
	});

	it('keeps untracked source over 1 MiB whole, but not what is vendored', async () => {
		const test = await makeRepository();
		const change = (): void => {
			test.write('src/big.js', lines(70_000));
			test.write('vendor/big.js', lines(70_000));
		};
		const surface = await surfaceAfter(test.root, change);
		expect(surface.summarised.map((one) => `${one.path} ${one.reason}`)).toEqual(['vendor/big.js too-large']);
		expect(surface.text.split('+some line of text\n').length - 1).toBe(70_000);
	});

	it('always names untracked data over 1 MiB, and binds its content', async () => {
		const test = await makeRepository();
		const size = 1024 * 1024 + 1;
		const surface = await surfaceAfter(test.root, () => test.write('data.txt', 'a'.repeat(size)));
		expect(surface.summarised).toEqual([{ path: 'data.txt', reason: 'too-large', bytes: size }]);
		expect(surface.text.length).toBeLessThan(2000);
		const other = await surfaceAfter(test.root, () => test.write('data.txt', 'b'.repeat(size)));
		expect(other.sha256).not.toBe(surface.sha256);
	});
});
