import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureBaseline } from '../../scripts/lib/git/baseline.ts';
import { openRepository } from '../../scripts/lib/git/repository.ts';
import { addClone, GIT_TEST_ENV, makeRepository, runTestGit, type TestRepository } from '../support/git-repository.ts';

async function expectGitsOwnStatus(repository: TestRepository): Promise<void> {
	const opened = await openRepository(repository.root, { env: GIT_TEST_ENV });
	const own = repository.git('-c', 'core.quotePath=false', 'status', '--short');
	expect((await captureBaseline(opened, [])).status.toString()).toBe(own);
}

describe('status', () => {
	it('is what git status --short prints', async () => {
		const repository = await makeRepository();
		const { write, git } = repository;
		await expectGitsOwnStatus(repository);
		for (const name of ['gone', 'new name', 'staged', 'both', 'mode']) write(`a/${name}`, `${name}\n1\n2\n3\n`);
		repository.commit();
		await expectGitsOwnStatus(repository);
		git('mv', 'a/new name', 'a/quo"ted');
		write('a/staged', 'x\n');
		git('add', 'a/staged');
		write('a/both', 'x\n');
		git('add', 'a/both');
		write('a/both', 'y\n');
		rmSync(path.join(repository.root, 'a/gone'));
		write('neu/é ü', 'x');
		write('new\nline', 'x');
		await expectGitsOwnStatus(repository);
	});

	it('marks dirty submodules as git does, in its order', async () => {
		const inner = await makeRepository();
		inner.write('f', 'f\n');
		inner.commit();
		const outer = await makeRepository();
		outer.write('b', 'b\n');
		outer.write('z', 'z\n');
		const names = ['c modified', 'd untracked', 'e moved', 'f "both', 'sub'];
		const submodules = new Map(names.map((name) => [name, addClone(outer, inner, name)]));
		outer.commit();
		submodules.get('c modified')?.write('f', 'changed\n');
		submodules.get('d untracked')?.write('new', '');
		submodules.get('e moved')?.write('f', 'changed\n');
		submodules.get('e moved')?.commit();
		submodules.get('f "both')?.write('f', 'changed\n');
		submodules.get('f "both')?.write('new', '');
		outer.write('b', 'bb\n');
		outer.write('z', 'zz\n');
		outer.write('untracked', '');
		await expectGitsOwnStatus(outer);
		outer.git('add', 'e moved');
		submodules.get('e moved')?.write('new', '');
		await expectGitsOwnStatus(outer);
		const sub = submodules.get('sub') as TestRepository;
		const deep = addClone(sub, inner, 'deep');
		sub.commit();
		outer.git('add', 'sub');
		deep.write('only new', '');
		await expectGitsOwnStatus(outer);
	});

	it('leaves run folders out, ours and others, whatever their names', async () => {
		const { root, write } = await makeRepository();
		write('.ccc/run */run.md', '# CCC Run\n');
		write('.ccc/run x/own.txt', 'x');
		write('other run/run.md', '# CCC Run\r\n\n## Description\n');
		write('other run/state/plan_v0.done', 'x');
		write('no run/run.md', '# CCC Run of something\n');
		write('no run/state/x', '');
		write('no state/run.md', '# CCC Run\n');
		const repository = await openRepository(root, { env: GIT_TEST_ENV });
		const { status } = await captureBaseline(repository, ['.ccc/run *']);
		expect(status.toString()).toBe('?? .ccc/\n?? "no run/"\n?? "no state/"\n');
		rmSync(path.join(root, '.ccc/run x'), { recursive: true });
		const again = await captureBaseline(repository, ['.ccc/run */']);
		expect(again.status.toString()).not.toContain('.ccc');
	});

	it('shows what lies beside the records of another run', async () => {
		const { root, write } = await makeRepository();
		for (const name of ['run.md', 'task.md', 'artifacts/plan_v0.md', 'state/x']) write(`h/${name}`, '# CCC Run\n');
		const repository = await openRepository(root, { env: GIT_TEST_ENV });
		expect((await captureBaseline(repository, [])).status.toString()).toBe('');
		write('h/evil.js', 'x');
		expect((await captureBaseline(repository, [])).status.toString()).toBe('?? h/\n');
	});

	it('takes a folder with tracked files for a part of the project, though it looks like a run', async () => {
		const { root, write, commit } = await makeRepository();
		write('docs/state/x', 'x');
		write('docs/index.md', 'x');
		commit();
		write('docs/run.md', '# CCC Run\n');
		const repository = await openRepository(root, { env: GIT_TEST_ENV });
		expect((await captureBaseline(repository, [])).status.toString()).toBe('?? docs/run.md\n');
	});

	it('does not take an empty or outside folder for a reason to hide everything', async () => {
		const { root, write } = await makeRepository();
		write('x', '');
		const repository = await openRepository(root, { env: GIT_TEST_ENV });
		expect((await captureBaseline(repository, ['', '.', '../elsewhere'])).status.toString()).toBe('?? x\n');
	});

	it('holds with nested repositories', async () => {
		const repository = await makeRepository();
		mkdirSync(path.join(repository.root, 'nested'));
		runTestGit(path.join(repository.root, 'nested'), 'init', '-q');
		writeFileSync(path.join(repository.root, 'nested/x'), 'x');
		await expectGitsOwnStatus(repository);
	});
});
