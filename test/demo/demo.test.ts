import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { listTree } from '../../scripts/lib/kit/process-tree.ts';
import { tempFolder } from '../support/temp-folder.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const DEMO = path.join(ROOT, 'scripts/dev/demo.mjs');
const AGENTS = path.join(ROOT, 'scripts/demo/agents');
const SEQUENCE = [
	'plan_v0',
	'plan_v0_review',
	'plan_v1',
	'plan_v1_review',
	'code_v0',
	'review_v0',
	'code_v1',
	'review_v1',
];

interface Ended {
	readonly exitCode: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** Starts the demo with the bundle the test run has built; everything it leaves on disk is in `temp`. */
async function startDemo(env: Record<string, string>, temp?: string) {
	const TMPDIR = temp ?? (await tempFolder());
	const id = randomBytes(8).toString('hex');
	const child = spawn(process.execPath, [DEMO, '--built'], {
		env: { PATH: process.env.PATH, TMPDIR, DEMO_TEST: id, ...env },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const said = { stdout: '', stderr: '' };
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		said.stdout += text;
	});
	child.stderr.setEncoding('utf8').on('data', (text: string) => {
		said.stderr += text;
	});
	const ended = new Promise<Ended>((resolve) => {
		child.on('close', (exitCode) => resolve({ exitCode, ...said }));
	});
	return {
		ended,
		said,
		stop: () => child.kill('SIGTERM'),
		running: async () => (await listTree({ pid: 0, marker: `DEMO_TEST=${id}` })).length,
	};
}

const runFolderOf = ({ stdout }: Ended): string => /^Run folder: (.+)$/m.exec(stdout)?.[1] ?? '(no run folder)';

describe('the demo', () => {
	it('sends the plan back once and the code once, approves both, and leaves the tests green and no process', async () => {
		// A caller's session, key and git settings, none of which may matter.
		const demo = await startDemo({
			CCC_DEMO_PACE_MS: '0',
			CLAUDECODE: '1',
			CODEX_SANDBOX_NETWORK_DISABLED: '1',
			CCC_PLAN_CODE: 'codex-codex',
			GIT_DIR: '/nowhere',
		});
		const ended = await demo.ended;
		expect(ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('valid (8 stages)') });
		expect(await demo.running()).toBe(0);

		const run = runFolderOf(ended);
		const read = (name: string): string => readFileSync(path.join(run, name), 'utf8');
		const ledger = read('state/ledger.jsonl')
			.trimEnd()
			.split('\n')
			.map((line): { event: string; stage?: string } => JSON.parse(line));
		expect(ledger.filter(({ event }) => event === 'commit').map(({ stage }) => stage)).toEqual(SEQUENCE);
		const verdicts = SEQUENCE.map((stage) => /^VERDICT: .*$/m.exec(read(`artifacts/${stage}.md`))?.[0]);
		expect(verdicts.filter((verdict) => verdict !== undefined)).toEqual([
			'VERDICT: NEEDS_CHANGES',
			'VERDICT: APPROVE',
			'VERDICT: NEEDS_CHANGES',
			'VERDICT: APPROVE',
		]);
		expect(read('artifacts/plan_v0_review.md')).toMatch(/^- P1 \[major\] .*\n- P2 \[minor\] /m);
		expect(read('artifacts/plan_v1.md')).toMatch(/^- P1: fixed.*\n- P2: fixed/m);
		// The review is about what the verify command really said.
		expect(read('artifacts/review_v0.md')).toMatch(/^- C1 \[major\] .*"a refund loses no cent either" still fails/m);
		expect(read('artifacts/code_v1.md')).toMatch(/^- C1: fixed/m);
		expect(read('run.md')).toMatch(/^complete$/m);

		const shop = path.resolve(run, '../../..');
		const git = (...words: string[]): string => execFileSync('git', words, { cwd: shop, encoding: 'utf8' });
		expect(git('status', '--porcelain')).toBe(' M src/split.mjs\n');
		expect(git('rev-list', '--count', '--all')).toBe('1\n');
		execFileSync(process.execPath, ['--test'], { cwd: shop });
	}, 120_000);

	it('ends with everything it started when it is told to end', async () => {
		const demo = await startDemo({ CCC_DEMO_PACE_MS: '60000' });
		await expect.poll(() => demo.said.stderr, { timeout: 25_000 }).toMatch(/^plan_v0 +claude/m);
		demo.stop();
		const { exitCode, stdout } = await demo.ended;
		expect(exitCode).toBe(1);
		expect(stdout).toContain('interrupted by SIGTERM');
		// A supervisor that was just starting finds its call stopped and exits by itself a moment later.
		await expect.poll(demo.running, { timeout: 5000 }).toBe(0);
	}, 60_000);

	it('says in one line why it cannot begin', async () => {
		const demo = await startDemo({}, path.join(await tempFolder(), 'missing'));
		const { exitCode, stdout, stderr } = await demo.ended;
		expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
		expect(stdout.trim()).toMatch(/^The demo could not go on: ENOENT.*$/);
	});
});

describe('the scripted agents', () => {
	const ask = (agent: string, words: string[], input: string) => {
		const options = { input, encoding: 'utf8', stdio: 'pipe', env: { PATH: process.env.PATH, CCC_DEMO_PACE_MS: '0' } };
		return () => execFileSync(path.join(AGENTS, agent), words, options as { encoding: 'utf8' });
	};

	it.each(['claude', 'codex'])('pass for %s in check-agent', (agent) => {
		const bin = `CCC_${agent.toUpperCase()}_BIN`;
		const env = { PATH: process.env.PATH, [bin]: path.join(AGENTS, agent) };
		const ccc = path.join(ROOT, 'scripts/ccc.mjs');
		const json = execFileSync(process.execPath, [ccc, 'check-agent', agent, '--json'], { env, encoding: 'utf8' });
		expect(JSON.parse(json)).toMatchObject({ ok: true, login: 'yes', missing_flags: [] });
	});

	it('refuse words their command line does not have', () => {
		expect(ask('claude', ['--print', '--bare'], 'CCC stage: plan_v0\n')).toThrow('unexpected argument "--bare"');
		expect(ask('codex', ['--print'], 'CCC stage: plan_v0\n')).toThrow('unexpected argument "--print"');
	});

	it('do not write where the command line does not let them', () => {
		const words = ['exec', '--sandbox', 'read-only', '-'];
		expect(ask('codex', words, 'CCC stage: code_v0\n')).toThrow('read-only');
		expect(ask('claude', ['--print'], 'CCC stage: code_v0\n')).toThrow('may not write');
	});
});
