import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { existingRunFolder, openRun, placeNewRun } from '../../scripts/lib/run/run-folder.ts';
import { rejectionOf } from '../support/ccc-error.ts';
import { makeRepository } from '../support/git-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

const env = { PATH: process.env.PATH };
const newRun = (shown: string, cwd: string) => placeNewRun(shown, cwd, env);

describe('placeNewRun', () => {
	it('resolves the folder and creates nothing', async () => {
		const { root } = await makeRepository();
		await mkdir(path.join(root, 'sub é'));
		const before = await readdir(root);
		for (const [shown, cwd, relative] of [
			['.ccc/runs/one', root, '.ccc/runs/one'],
			['./a//b/../c/', root, 'a/c'],
			['run 1', path.join(root, 'sub é'), 'sub é/run 1'],
			['../x', path.join(root, 'sub é'), 'x'],
			[path.join(root, 'abs'), root, 'abs'],
			['..x', root, '..x'],
			['.gitx', root, '.gitx'],
		] as const) {
			const place = await newRun(shown, cwd);
			expect(place).toMatchObject({ folder: path.join(root, relative), shown, relative });
			expect(place.repository.root).toBe(root);
		}
		expect(await readdir(root)).toEqual(before);
	});

	it('follows links in what exists', async () => {
		const { root } = await makeRepository();
		await mkdir(path.join(root, 'real'));
		await symlink('real', path.join(root, 'link'));
		expect((await newRun('link/run', root)).relative).toBe('real/run');
		const outside = await tempFolder();
		await symlink(root, path.join(outside, 'repo'));
		expect((await newRun('run', path.join(outside, 'repo'))).folder).toBe(path.join(root, 'run'));
	});

	it('refuses a folder that is not a part of the work tree', async () => {
		const { root } = await makeRepository();
		const outside = await tempFolder();
		await symlink(outside, path.join(root, 'out'));
		await symlink('.git', path.join(root, 'into-git'));
		await symlink('nowhere', path.join(root, 'dangling'));
		await symlink('loop', path.join(root, 'loop'));
		await mkdir(path.join(root, 'nested', 'deep'), { recursive: true });
		await makeRepository({ folder: path.join(root, 'nested') });
		for (const [shown, code] of [
			['.', 'folder-is-repository'],
			['a/..', 'folder-is-repository'],
			['..', 'folder-outside-repository'],
			['../x', 'folder-outside-repository'],
			[outside, 'folder-outside-repository'],
			['out/run', 'folder-outside-repository'],
			['nested', 'folder-outside-repository'],
			['nested/deep/run', 'folder-outside-repository'],
			['.git/run', 'reserved-folder'],
			['.GIT/run', 'reserved-folder'],
			['into-git/run', 'reserved-folder'],
			['a/.git/run', 'reserved-folder'],
			['.codex', 'reserved-folder'],
			['.agents/x', 'reserved-folder'],
			['dangling', 'bad-folder'],
			['dangling/run', 'bad-folder'],
			['loop/run', 'bad-folder'],
			['x'.repeat(300), 'bad-folder'],
		] as const) {
			const error = await rejectionOf(newRun(shown, root));
			expect([shown, error.code, error.exitCode]).toEqual([shown, code, 2]);
			expect(error.facts.at).toBeTruthy();
		}
	});

	it('needs a repository', async () => {
		expect((await rejectionOf(newRun('run', await tempFolder()))).code).toBe('not-a-repository');
	});
});

describe('openRun', () => {
	it('finds the run from anywhere, by the repository it is in', async () => {
		const { root } = await makeRepository();
		const run = path.join(root, 'sub', 'run');
		await mkdir(run, { recursive: true });
		await writeFile(path.join(run, 'run.md'), '# CCC Run\n');
		const elsewhere = await tempFolder();
		expect(await openRun(run, elsewhere, env)).toMatchObject({ folder: run, relative: 'sub/run', shown: run });
		expect(await openRun('run', path.join(root, 'sub'), env)).toMatchObject({ folder: run, shown: 'run' });
		expect(await existingRunFolder('sub/../sub/run', root)).toBe(run);
	});

	it('refuses what is no run', async () => {
		const { root } = await makeRepository();
		for (const shown of ['nowhere', '.']) {
			const error = await rejectionOf(openRun(shown, root, env));
			expect(error).toMatchObject({ code: 'not-a-run', exitCode: 2, facts: { at: shown } });
		}
	});
});
