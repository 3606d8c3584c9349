import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureBaseline } from '../../scripts/lib/git/baseline.ts';
import { openRepository, readHead } from '../../scripts/lib/git/repository.ts';
import { CccError, describeError } from '../../scripts/lib/kit/errors.ts';
import { addSubmodule, GIT_TEST_ENV, makeRepository, runTestGit } from '../support/git-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

const env = GIT_TEST_ENV;
const isRoot = process.getuid?.() === 0;

describe('openRepository', () => {
	it('finds the top from a subdirectory and through a link', async () => {
		const { root, write } = await makeRepository();
		write('deep/er/x', '');
		symlinkSync(path.join(root, 'deep'), path.join(root, '..', 'link'));
		expect((await openRepository(path.join(root, 'deep/er'), { env })).root).toBe(root);
		expect((await openRepository(path.join(root, '../link/er'), { env })).root).toBe(root);
	});

	it('knows the empty tree of both hashes', async () => {
		const sha1 = await makeRepository();
		const sha256 = await makeRepository({ sha256: true });
		expect((await openRepository(sha1.root, { env })).emptyTree).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904');
		expect((await openRepository(sha256.root, { env })).emptyTree).toBe(
			'6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
		);
		// Asking for the id must not have made the object.
		expect(readdirSync(path.join(sha1.root, '.git/objects')).sort()).toEqual(['info', 'pack']);
	});

	it('opens a worktree and a submodule as repositories of their own', async () => {
		const inner = await makeRepository();
		inner.write('i', 'i\n');
		inner.commit();
		const outer = await makeRepository();
		const submodule = addSubmodule(outer, inner, 'sub');
		outer.git('worktree', 'add', '-q', '../tree', '-b', 'other');
		const worktree = path.join(outer.root, '../tree');
		expect((await openRepository(worktree, { env })).root).toBe(worktree);
		const opened = await openRepository(submodule.root, { env });
		expect(opened.root).toBe(submodule.root);
		expect(await readHead(opened)).toBe(submodule.git('rev-parse', 'HEAD').trim());
	});

	it('is not led elsewhere by the environment', async () => {
		const right = await makeRepository();
		const wrong = await makeRepository();
		const led = {
			...env,
			GIT_DIR: path.join(wrong.root, '.git'),
			GIT_WORK_TREE: wrong.root,
			GIT_INDEX_FILE: '/nowhere',
			GIT_CEILING_DIRECTORIES: path.dirname(right.root),
		};
		expect((await openRepository(right.root, { env: led })).root).toBe(right.root);
	});

	it('refuses what is no repository, with a next step', async () => {
		const folder = await tempFolder();
		const error = await openRepository(folder, { env }).catch((thrown: unknown) => thrown);
		expect(error).toBeInstanceOf(CccError);
		expect(error).toMatchObject({ code: 'not-a-repository', exitCode: 1 });
		const text = describeError(error as CccError);
		expect(text).toContain(folder);
		expect(text).toMatch(/git init/);
		await expect(openRepository(path.join(folder, 'missing'), { env })).rejects.toMatchObject({
			code: 'not-a-repository',
		});
	});

	it('refuses a bare repository, and the inside of .git', async () => {
		const folder = await tempFolder();
		runTestGit(folder, 'init', '-q', '--bare', 'bare');
		await expect(openRepository(path.join(folder, 'bare'), { env })).rejects.toMatchObject({ code: 'bare-repository' });
		const { root } = await makeRepository();
		await expect(openRepository(path.join(root, '.git'), { env })).rejects.toMatchObject({ code: 'not-a-repository' });
	});

	it('says so when git is not installed', async () => {
		const { root } = await makeRepository();
		const error = await openRepository(root, { env: { PATH: '/nowhere' } }).catch((thrown: unknown) => thrown);
		expect(error).toMatchObject({ code: 'git-missing' });
	});

	it.runIf(isRoot)("follows the user's safe.directory, and nobody else's", async () => {
		const { root, write, git } = await makeRepository();
		write('x', 'x\n');
		git('add', '.');
		const home = await tempFolder();
		chownSync(root, 12345, 12345);
		chownSync(path.join(root, '.git'), 12345, 12345);
		const user = { PATH: env.PATH, HOME: home };
		await expect(openRepository(root, { env: user })).rejects.toMatchObject({ code: 'repository-not-trusted' });
		writeFileSync(path.join(home, '.gitconfig'), `[safe]\n\tdirectory = ${root}\n`);
		const repository = await openRepository(root, { env: user });
		expect((await captureBaseline(repository, [])).status.toString()).toBe('A  x\n');
	});

	it('works without a writable TMPDIR', async () => {
		const { root, write } = await makeRepository();
		write('x', 'x\n');
		const repository = await openRepository(root, { env: { ...env, TMPDIR: '/nowhere' } });
		expect((await captureBaseline(repository, [])).status.toString()).toBe('?? x\n');
	});
});

describe('readHead', () => {
	it('is undefined while unborn, and an error where it is broken', async () => {
		const { root } = await makeRepository();
		const repository = await openRepository(root, { env });
		expect(await readHead(repository)).toBeUndefined();
		mkdirSync(path.join(root, '.git/refs/heads'), { recursive: true });
		writeFileSync(path.join(root, '.git/refs/heads/main'), 'junk\n');
		await expect(readHead(repository)).rejects.toMatchObject({ code: 'git-failed', exitCode: 3 });
	});
});

describe('damage', () => {
	it('names a corrupt index', async () => {
		const { root, write, git } = await makeRepository();
		write('x', 'x\n');
		git('add', '.');
		writeFileSync(path.join(root, '.git/index'), 'not an index, but long enough to be looked at as one');
		const repository = await openRepository(root, { env });
		await expect(captureBaseline(repository, [])).rejects.toMatchObject({
			code: 'corrupt-index',
			facts: { at: path.join(root, '.git/index') },
		});
	});

	it('names a missing object', async () => {
		const { root, write, commit, git } = await makeRepository();
		write('x', 'x\n');
		commit();
		const id = git('rev-parse', 'HEAD:x').trim();
		write('x', 'y\n');
		git('add', '.');
		const file = path.join(root, '.git/objects', id.slice(0, 2), id.slice(2));
		chmodSync(file, 0o600);
		writeFileSync(file, '');
		const repository = await openRepository(root, { env });
		const error = await captureBaseline(repository, []).catch((thrown: unknown) => thrown);
		expect(error).toMatchObject({ code: 'missing-object', exitCode: 3 });
		expect(describeError(error as CccError)).toContain(id);
	});
});
