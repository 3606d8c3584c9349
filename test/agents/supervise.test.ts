import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCall } from '../../scripts/lib/agents/call.ts';
import { callFiles, readResult } from '../../scripts/lib/agents/call-folder.ts';
import { superviseCall } from '../../scripts/lib/agents/supervise.ts';
import { agentBench } from '../support/agent-bench.ts';

let bench: Awaited<ReturnType<typeof agentBench>>;
beforeEach(async () => {
	bench = await agentBench();
});
afterEach(() => bench.cleanup());

const IDLE = { supervisorArgv: [process.execPath, '-e', ''] as const };

describe('a call that is answered', () => {
	it('gives claude the prompt on stdin, a clean environment and the repository root', async () => {
		await bench.fake(
			'claude',
			`log({ argv, env: process.env, cwd: process.cwd(), prompt: prompt() }); console.log('# Plan v0');`,
		);
		const prompt = `CCC stage: plan_v0\n${'я'.repeat(75_000)}`;
		const env = {
			...bench.env,
			CLAUDECODE: '1',
			CODEX_CI: '1',
			CODEX_SANDBOX: 'x',
			CCC_CALL_ID: 'outer',
			API_KEY: 's3cret',
		};
		const { folder, result } = await bench.call({ prompt, env });

		expect(result).toMatchObject({ outcome: { kind: 'answered', answer: '# Plan v0\n' }, exitCode: 0, leftovers: 0 });
		const [seen] = (await bench.logged('claude')) as [
			{ argv: string[]; env: Record<string, string>; cwd: string; prompt: string },
		];
		expect(seen.prompt).toBe(prompt);
		expect(seen.cwd).toBe(bench.repo);
		expect(seen.argv.join(' ')).not.toContain('CCC stage');
		expect(seen.env).toMatchObject({ API_KEY: 's3cret', CLAUDE_CODE_MAX_RETRIES: '3', CCC_CALL_ID: result.id });
		expect(Object.keys(seen.env)).not.toEqual(expect.arrayContaining(['CLAUDECODE']));
		expect(Object.keys(seen.env).filter((name) => /^(CLAUDECODE|CODEX_)/.test(name))).toEqual([]);

		expect((await stat(folder)).mode & 0o777).toBe(0o700);
		for (const name of await readdir(folder)) {
			expect(name).not.toMatch(/\.tmp$/);
			expect((await stat(path.join(folder, name))).mode & 0o777, name).toBe(0o600);
			expect(await readFile(path.join(folder, name), 'utf8'), name).not.toContain('s3cret');
		}
		expect(await readFile(callFiles(folder).stdout, 'utf8')).toBe('# Plan v0\n');
		expect(await bench.running()).toEqual([]);
	});

	it("takes codex's answer from its own file of this call, and the tokens from stderr", async () => {
		await bench.fake(
			'codex',
			`log({ outFile }); fs.writeFileSync(outFile, 'READY: yes'); prompt(); console.log('other'); console.error('tokens used\\n1,234');`,
		);
		const first = await bench.call({ agent: 'codex', access: 'review' });
		const second = await bench.call({ agent: 'codex', access: 'review' });
		expect(first.result.outcome).toMatchObject({ kind: 'answered', answer: 'READY: yes', tokens: 1234 });
		expect(second.result.outcome.answer).toBe('READY: yes');
		const files = ((await bench.logged('codex')) as { outFile: string }[]).map(({ outFile }) => outFile);
		expect(new Set(files).size).toBe(2);
	});

	it('records what onEnd returned, or why it could not', async () => {
		await bench.fake('claude', `prompt(); console.log('x');`);
		expect((await bench.call({}, async () => ({ head: 'abc' }))).result.after).toEqual({ head: 'abc' });
		const failing = await bench.call({}, () => Promise.reject(new Error('no picture')));
		expect(failing.result).toMatchObject({ outcome: { kind: 'answered' }, afterError: 'no picture' });
	});

	it('kills what the agent left behind in a session of its own', async () => {
		await bench.fake('claude', `prompt(); daemon(); setTimeout(() => console.log('done'), 300);`);
		const { result } = await bench.call();
		expect(result.outcome.kind).toBe('answered');
		expect(result.leftovers).toBeGreaterThan(0);
		expect(await bench.running()).toEqual([]);
	});
});

describe('a call without an answer', () => {
	it('ends at its deadline with the whole tree, though the codex launcher then exits with 0', async () => {
		await bench.fake(
			'codex',
			`process.on('SIGTERM', () => process.exit(0)); daemon(); console.error('thinking'); hang();`,
		);
		const { result } = await bench.call({ agent: 'codex', settings: { CCC_AGENT_TIMEOUT_SECONDS: '1' } });
		expect(result).toMatchObject({ timedOut: true, outcome: { kind: 'timed-out', lastWords: 'thinking' } });
		expect(result.outcome.nextStep).toContain('CCC_AGENT_TIMEOUT_SECONDS');
		expect(result.durationMs).toBeGreaterThanOrEqual(1000);
		expect(await bench.running()).toEqual([]);
	});

	it.each([
		['no file, exit 0', `prompt(); console.log('READY: yes');`],
		['empty file', `prompt(); fs.writeFileSync(outFile, ''); console.log('READY: yes');`],
		['a link instead of a file', `prompt(); fs.symlinkSync(__filename, outFile); console.log('READY: yes');`],
	])('codex: %s', async (_name, body) => {
		await bench.fake('codex', body);
		const { result } = await bench.call({ agent: 'codex' });
		expect(result.outcome).toMatchObject({ kind: 'empty', lastWords: 'READY: yes' });
		expect(result.outcome.answer).toBeUndefined();
	});

	it('claude: an API error with exit 0', async () => {
		await bench.fake('claude', `prompt(); console.log('API Error: 529 overloaded');`);
		expect((await bench.call()).result.outcome).toMatchObject({
			kind: 'failed',
			lastWords: 'API Error: 529 overloaded',
		});
	});

	it('claude: more output than is kept', async () => {
		await bench.fake(
			'claude',
			`prompt(); const b = Buffer.alloc(1 << 20, 97); for (let i = 0; i < 20; i += 1) fs.writeSync(1, b);`,
		);
		const { folder, result } = await bench.call();
		expect(result).toMatchObject({ stdoutBytes: 20 << 20, outcome: { kind: 'failed' } });
		expect(result.outcome.nextStep).toContain('too large');
		expect((await stat(callFiles(folder).stdout)).size).toBeLessThanOrEqual(16 << 20);
	});

	it('claude: ends without reading a prompt of 5 MB', async () => {
		await bench.fake('claude', `console.log('Not logged in · Please run /login'); process.exit(1);`);
		const { result } = await bench.call({ prompt: 'x'.repeat(5_000_000) });
		expect(result).toMatchObject({ exitCode: 1, outcome: { kind: 'not-logged-in' } });
	});

	it('a binary that is missing or not executable', async () => {
		expect((await bench.call()).result.outcome).toMatchObject({
			kind: 'unavailable',
			nextStep: expect.stringContaining('CCC_CLAUDE_BIN'),
		});
		await writeFile(path.join(bench.bin, 'codex'), 'x', { mode: 0o644 });
		expect((await bench.call({ agent: 'codex' })).result.outcome.kind).toBe('unavailable');
	});

	it('a repository root that is gone, or a prompt that was changed: the record says so', async () => {
		const gone = bench.options({ ...IDLE, cwd: path.join(bench.root, 'gone') });
		await startCall(gone);
		await expect(superviseCall(gone.folder, { env: bench.env })).rejects.toMatchObject({ code: 'no-folder' });
		expect((await readResult(gone.folder))?.outcome).toMatchObject({
			kind: 'failed',
			lastWords: expect.stringContaining('gone'),
		});

		const changed = bench.options(IDLE);
		await startCall(changed);
		await writeFile(callFiles(changed.folder).prompt, 'other');
		await expect(superviseCall(changed.folder, { env: bench.env })).rejects.toMatchObject({ code: 'prompt-changed' });
		expect((await readResult(changed.folder))?.outcome.kind).toBe('failed');
	});
});

describe('the supervisor', () => {
	it('is one per call, for ever', async () => {
		await bench.fake('claude', `prompt(); log('ran'); console.log('x');`);
		const options = bench.options(IDLE);
		await startCall(options);
		const tries = await Promise.allSettled(
			Array.from({ length: 5 }, () => superviseCall(options.folder, { env: bench.env })),
		);
		expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
		for (const attempt of tries) {
			if (attempt.status === 'rejected') expect(attempt.reason).toMatchObject({ code: 'call-supervised', exitCode: 4 });
		}
		expect(await bench.logged('claude')).toEqual(['ran']);
		await expect(superviseCall(options.folder, { env: bench.env })).rejects.toMatchObject({ code: 'call-supervised' });
	});

	it('refuses a folder without a call, and one that is not ours', async () => {
		await expect(superviseCall(bench.repo, { env: bench.env })).rejects.toMatchObject({ code: 'no-call' });
		await writeFile(callFiles(bench.repo).request, '{"version":2}');
		await expect(superviseCall(bench.repo, { env: bench.env })).rejects.toMatchObject({ code: 'bad-call-record' });
		await symlink('/dev/null', callFiles(bench.repo).result);
		await expect(readResult(bench.repo)).rejects.toMatchObject({ code: 'bad-call-record' });
	});
});
