import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { addSubmodule, makeRepository, testRepositoryAt } from '../support/git-repository.ts';
import { makeSandbox, type Sandbox } from '../support/sandbox.ts';
import { seedRun } from '../support/seeded-run.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the files of a new run', () => {
	it('are the task, run.md, the baseline and nothing in git', async () => {
		const box = await makeSandbox();
		box.repository.write('a.txt', 'one\nmine\n');
		box.repository.write('staged.txt', 'staged\n');
		box.repository.git('add', 'staged.txt');
		const before = box.repository.git('status', '--short');
		const { stderr } = await box.ccc(['run', box.run, '# Task\n\n## Status\n\ncomplete', 'p0-c0', 'manual']);
		expect(stderr).toContain('warning: 2 files had changes before this run');
		expect(box.read('task.md')).toBe('# Task\n\n## Status\n\ncomplete\n');
		expect(box.read('state/run_start.status')).toBe(before);
		expect(box.read('state/run_start.diff')).toBe(box.repository.git('diff', '--full-index'));
		expect(box.read('state/run_start_cached.diff')).toBe(box.repository.git('diff', '--full-index', '--cached'));
		expect(box.read('.gitignore')).toBe('*\n');
		expect(box.repository.git('status', '--short')).toBe(before);
		expect(box.status()).toBe('active');
		expect(readdirSync(path.dirname(box.run))).toEqual(['x']);
	});

	it.each([
		['explicit', ['plan-code=codex-claude'], 'claude-claude', 'codex-claude'],
		['env', [], 'claude-claude', 'claude-claude'],
		['default', [], 'Claude-Codex', 'claude-codex'],
	])('plan-code from %s', async (source, words, fromEnvironment, planCode) => {
		const box = await makeSandbox({ plan_v0: { exit: 1 } });
		const env = { CCC_PLAN_CODE: fromEnvironment, CLAUDECODE: '1' };
		expect((await box.ccc(['run', box.run, 'Task', ...words], { env })).code).toBe(5);
		expect(box.read('run.md')).toContain(
			`plan_code: ${planCode}\nsession_detected: claude\nplan_code_source: ${source}`,
		);
		expect(box.calls()[0]?.who).toBe(planCode.split('-')[0]);
	});
});

describe('repositories of every kind', () => {
	/** The run has its plan; coder and reviewer are called. */
	async function finish(box: Sandbox, cwd = box.repository.root): Promise<void> {
		box.play({ code_v0: { shell: 'printf "b\\n" > "new é.txt"' } });
		await seedRun(box, ['plan_v0', 'plan_v0_review']);
		const { code, stderr } = await box.ccc(['run', 'resume', path.relative(cwd, box.run)], { cwd });
		expect(code, stderr).toBe(0);
		const review = box.calls().at(-1)?.prompt ?? '';
		expect(review).toContain('new é.txt');
		expect(review).not.toContain('run_start.status');
		const { code: valid, stdout } = await box.ccc(['validate', box.run], { cwd: '/' });
		expect(valid, stdout).toBe(0);
	}

	it('without commits', async () => {
		const repository = await makeRepository();
		repository.write('a.txt', 'one\n');
		const box = await makeSandbox({}, { repository });
		await finish(box);
		expect(box.read('run.md')).toMatch(/^run_start_ref_kind: empty_tree$/m);
		expect(box.read('run.md')).toContain('run_start_ref: 4b825dc642cb6eb9a060e54bf8d69288fbee4904');
	});

	it('with SHA-256 names, from a subdirectory', async () => {
		const repository = await makeRepository({ sha256: true });
		repository.write('sub dir é/a.txt', 'one\n');
		repository.commit();
		const box = await makeSandbox({}, { repository });
		await finish(box, path.join(repository.root, 'sub dir é'));
		expect(box.read('run.md')).toMatch(/^run_start_ref: [0-9a-f]{64}$/m);
	});

	it('a worktree', async () => {
		const main = await makeRepository();
		main.write('a.txt', 'one\n');
		main.commit();
		const tree = path.join(await tempFolder(), 'tree');
		main.git('worktree', 'add', '-q', tree);
		await finish(await makeSandbox({}, { repository: testRepositoryAt(tree) }));
		expect(main.git('status', '--short')).toBe('');
	});

	it('a submodule', async () => {
		const inner = await makeRepository();
		inner.write('a.txt', 'one\n');
		inner.commit();
		const outer = await makeRepository();
		const submodule = addSubmodule(outer, inner, 'sub');
		await finish(await makeSandbox({}, { repository: submodule }));
		expect(existsSync(path.join(outer.root, '.ccc'))).toBe(false);
	});
});

describe('refusals create nothing', () => {
	async function refused(box: Sandbox, folder: string, code: string): Promise<void> {
		const before = box.repository.git('status', '--short', '--ignored');
		const { code: exit, stderr } = await box.ccc(['run', folder, 'Task']);
		expect(stderr).toContain(`[${code}]`);
		expect(stderr).not.toMatch(/^ {4}at /m);
		expect(stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(4);
		expect(exit).toBe(2);
		expect(box.calls()).toEqual([]);
		expect(box.repository.git('status', '--short', '--ignored')).toBe(before);
	}

	it.each([
		['.git/run', 'reserved-folder'],
		['.GIT/run', 'reserved-folder'],
		['sub/.Codex/run', 'reserved-folder'],
		['.agents/deep/run', 'reserved-folder'],
		['.', 'folder-is-repository'],
		['../elsewhere', 'folder-outside-repository'],
		['out/run', 'folder-outside-repository'],
		['sub', 'folder-not-empty'],
		['a.txt', 'folder-not-usable'],
		['a.txt/run', 'folder-not-usable'],
		[`${'x'.repeat(300)}/run`, 'bad-folder'],
		['loop/run', 'bad-folder'],
	])('%s', async (folder, code) => {
		const box = await makeSandbox();
		box.repository.write('sub/b.txt', 'b\n');
		symlinkSync(box.home, path.join(box.repository.root, 'out'));
		symlinkSync('loop', path.join(box.repository.root, 'loop'));
		await refused(box, folder, code);
		expect(readdirSync(box.home)).toEqual([]);
	});

	it('a folder with a run in it, which stays as it is', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		const before = box.read('run.md');
		await refused(box, box.run, 'run-exists');
		expect(box.read('run.md')).toBe(before);
	});

	it('not a repository', async () => {
		const box = await makeSandbox();
		const { code, stderr } = await box.ccc(['run', 'x', 'Task'], { cwd: box.home });
		expect(code).toBe(1);
		expect(stderr).toMatch(/^.*\[not-a-repository\]/m);
		expect(readdirSync(box.home)).toEqual([]);
	});

	it('a folder that may not be written to', async () => {
		const box = await makeSandbox();
		const parent = path.join(box.repository.root, 'closed');
		mkdirSync(parent);
		// The superuser may write anywhere: then the command runs as somebody else.
		const over = process.getuid?.() === 0 ? { uid: 65_534 } : {};
		if (over.uid !== undefined) {
			for (const folder of [box.root, box.repository.root, path.join(box.repository.root, '.git')]) {
				chownSync(folder, over.uid, over.uid);
			}
		}
		chmodSync(parent, 0o555);
		const { code, stderr } = await box.ccc(['run', 'closed/deep/run', 'Task'], over);
		expect(stderr).toMatch(/\[folder-not-usable\][\s\S]*found: EACCES/);
		expect(code).toBe(2);
		expect(readdirSync(parent)).toEqual([]);
		chmodSync(parent, 0o755);
	});

	it('inside a sandbox, before anything else', async () => {
		const box = await makeSandbox();
		const { code, stderr } = await box.ccc(['run', box.run, 'Task'], { env: { CODEX_SANDBOX: 'seatbelt' } });
		expect(code).toBe(5);
		expect(stderr).toContain('[companion-sandboxed]');
		expect(existsSync(box.run)).toBe(false);
	});

	it('an empty folder may be used', async () => {
		const box = await makeSandbox({ plan_v0: { exit: 1 } });
		mkdirSync(box.run, { recursive: true });
		await box.ccc(['run', box.run, 'Task']);
		expect(box.has('run.md')).toBe(true);
	});
});
