import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureBaseline } from '../../scripts/lib/git/baseline.ts';
import { readChanges } from '../../scripts/lib/git/changes.ts';
import { openRepository } from '../../scripts/lib/git/repository.ts';
import { addSubmodule, GIT_TEST_ENV, makeRepository, runTestGit } from '../support/git-repository.ts';

const env = GIT_TEST_ENV;

describe('readChanges', () => {
	it('is one patch that git apply turns into the same tree', async () => {
		const test = await makeRepository();
		const keep = '1\n2\n3\n4\n5\n6\n';
		for (const name of ['edit', 'gone', 'old name', 'uncached', 'mode', 'becomes-dir'])
			test.write(name, `${name}\n${keep}`);
		test.commit();
		const copy = path.join(test.root, '../copy');
		cpSync(test.root, copy, { recursive: true });
		const repository = await openRepository(test.root, { env });
		const { baseline } = await captureBaseline(repository, []);

		test.write('edit', `staged\n${keep}`);
		test.git('add', 'edit');
		test.write('edit', `staged and unstaged\n${keep}`);
		rmSync(path.join(test.root, 'gone'));
		test.git('mv', 'old name', 'new name');
		test.git('rm', '-q', '--cached', 'uncached');
		chmodSync(path.join(test.root, 'mode'), 0o755);
		rmSync(path.join(test.root, 'becomes-dir'));
		test.write('becomes-dir/file', 'x\n');
		test.write('café/new\nline.txt', 'no end of line');
		test.write('empty', '');
		symlinkSync('edit', path.join(test.root, 'link'));
		test.write('run/run.md', 'left out\n');

		const patch = String(await readChanges(repository, baseline, ['run']));
		expect(patch).not.toContain('left out');
		execFileSync('git', ['apply', '-'], { cwd: copy, env, input: patch });
		rmSync(path.join(test.root, 'run'), { recursive: true });
		const tree = (folder: string): string => {
			runTestGit(folder, 'add', '-A');
			return runTestGit(folder, 'write-tree');
		};
		expect(tree(copy)).toBe(tree(test.root));
	});

	it('works before the first commit', async () => {
		const test = await makeRepository({ sha256: true });
		const repository = await openRepository(test.root, { env });
		const { baseline } = await captureBaseline(repository, []);
		test.write('staged', 's\n');
		test.git('add', '.');
		test.write('untracked', 'u\n');
		const patch = String(await readChanges(repository, baseline, []));
		expect(patch).toContain('+++ b/staged\n@@ -0,0 +1 @@\n+s\n');
		expect(patch).toContain('+++ b/untracked\n@@ -0,0 +1 @@\n+u\n');
	});

	it('shows commits made since, hidden files, submodules and nested repositories', async () => {
		const inner = await makeRepository();
		inner.write('f', 'old\n');
		inner.commit();
		const test = await makeRepository();
		test.write('assumed', 'old\n');
		test.write('committed', 'old\n');
		const submodule = addSubmodule(test, inner, 'sub');
		const repository = await openRepository(test.root, { env });
		const { baseline } = await captureBaseline(repository, []);
		test.write('committed', 'new 1\n');
		test.commit();
		test.git('update-index', '--assume-unchanged', 'assumed');
		test.write('assumed', 'new 2\n');
		submodule.write('f', 'new 3\n');
		submodule.write('g', 'new 4\n');
		runTestGit(test.root, 'init', '-q', 'nested');
		writeFileSync(path.join(test.root, 'nested/x'), 'x');
		const patch = String(await readChanges(repository, baseline, []));
		for (const number of [1, 2, 3, 4]) expect(patch).toContain(`+new ${number}\n`);
		expect(patch).toContain('+++ b/sub/g\n');
		expect(patch).toContain('# not in the diff: nested/, a git repository without commits\n');
	});

	it('is empty when nothing changed', async () => {
		const test = await makeRepository();
		test.write('f', 'f\n');
		test.commit();
		const repository = await openRepository(test.root, { env });
		expect(await readChanges(repository, (await captureBaseline(repository, [])).baseline, [])).toHaveLength(0);
	});
});
