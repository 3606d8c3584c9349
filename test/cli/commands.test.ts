import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { outputs } from '../../scripts/ccc/outputs.ts';
import { makeSandbox, type Sandbox } from '../support/sandbox.ts';
import { MAJOR, seedRun } from '../support/seeded-run.ts';

const SCHEMAS = path.resolve(import.meta.dirname, '../../schemas');
type Command = keyof typeof outputs;
const COMMANDS = Object.keys(outputs) as Command[];

/** The one JSON value on stdout, valid against the schema of the command. */
function parse(command: Command, stdout: string): Record<string, unknown> {
	const value = JSON.parse(stdout);
	const schema = z.fromJSONSchema(JSON.parse(readFileSync(path.join(SCHEMAS, `ccc-${command}.schema.json`), 'utf8')));
	expect(schema.safeParse(value).error?.issues ?? []).toEqual([]);
	return value;
}

async function json(box: Sandbox, command: Command, ...words: string[]) {
	const { code, stdout } = await box.ccc([command, ...words, '--json']);
	const value = parse(command, stdout);
	expect(value.exit_code).toBe(code);
	return value;
}

describe('--help', () => {
	it('of ccc names every command', async () => {
		const { code, stdout, stderr } = await (await makeSandbox()).ccc(['--help']);
		expect(code).toBe(0);
		expect(stderr).toBe('');
		for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
	});

	it('of each command shows its words, and starts nothing', async () => {
		const box = await makeSandbox();
		for (const command of COMMANDS) {
			const { code, stdout, stderr } = await box.ccc([command, '--help']);
			expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
			expect(stdout).toMatch(new RegExp(`^Usage: ccc ${command}\\b.*--json`));
			expect(stdout).toContain('Exit codes');
		}
	});
});

describe('--json', () => {
	it('of a run in the making: run, status, list, validate, diff, decide, repair, cancel', async () => {
		const box = await makeSandbox({ plan_v0: { answer: 'x' } });
		await seedRun(box, ['plan_v0', 'plan_v0_review', 'code_v0', ['review_v0', MAJOR]]);
		expect(await json(box, 'run', 'resume', box.run)).toMatchObject({
			ccc_run: box.run,
			stage_completed: 'review_v0',
			next_action: 'blocked',
			exit_code: 3,
			waiting_for: 'decision',
		});
		expect(await json(box, 'status', box.run)).toMatchObject({
			status: 'blocked',
			plan_code: 'claude-codex',
			stages: [
				{ stage: 'plan_v0', owner: 'claude', state: 'done' },
				{ stage: 'plan_v0_review', owner: 'codex', verdict: 'APPROVE' },
				{ stage: 'code_v0', owner: 'codex' },
				{ stage: 'review_v0', owner: 'claude', verdict: 'NEEDS_CHANGES' },
			],
		});
		expect(await json(box, 'list')).toMatchObject({ runs: [{ folder: '.ccc/runs/x', status: 'blocked' }] });
		expect(await json(box, 'validate', box.run)).toMatchObject({ runs: [{ valid: true, status: 'blocked' }] });
		expect(String((await json(box, 'diff', box.run)).diff)).toContain('+v0\n');
		expect(await json(box, 'decide', box.run, 'accept', 'fine')).toMatchObject({ status: 'complete' });
		expect(await json(box, 'repair', box.run, 'rerun', 'review_v0')).toMatchObject({ next_action: 'review_v0' });
		expect(await json(box, 'cancel', box.run, 'enough')).toMatchObject({ status: 'canceled', exit_code: 0 });
		rmSync(path.join(box.run, 'run.md'));
		expect(await json(box, 'validate', box.run)).toMatchObject({ exit_code: 1, runs: [{ valid: false }] });
	});

	it('of check-agent and detect-session', async () => {
		const box = await makeSandbox();
		expect(await json(box, 'check-agent', 'claude')).toMatchObject({ agent: 'claude', ok: true, missing_flags: [] });
		expect(await json(box, 'check-agent', 'codex')).toMatchObject({ agent: 'codex', ok: true });
		expect(await json(box, 'detect-session')).toEqual({ session: 'unknown', exit_code: 0 });
		for (const [env, session] of [
			[{ CLAUDECODE: '1' }, 'claude'],
			[{ CODEX_CI: '1' }, 'codex'],
			[{ CODEX_CI: '1', CLAUDE_CODE_SESSION_ID: 'x' }, 'unknown'],
		] as const) {
			expect((await box.ccc(['detect-session'], { env })).stdout).toBe(`${session}\n`);
		}
		const missing = await box.ccc(['check-agent', 'codex', '--json'], { env: { CCC_CODEX_BIN: '/nonexistent' } });
		expect(parse('check-agent', missing.stdout)).toMatchObject({ ok: false, exit_code: 5 });
		expect(missing.code).toBe(5);
	});
});

describe('bad input', () => {
	const RUN = 'the run';
	const CASES: readonly [Command | 'none', readonly string[], string, number?][] = [
		['run', [], 'missing-argument'],
		['run', ['x'], 'missing-argument'],
		['run', ['x', ' '], 'empty-argument'],
		['run', ['', 'task'], 'missing-argument'],
		['run', ['x', 'task', 'p0-c0', 'p1-c1'], 'duplicate-argument'],
		['run', ['x', 'task', 'auto', 'normal'], 'duplicate-argument'],
		['run', ['x', 'task', 'plan-code=claude-codex', 'plan-code=claude-codex'], 'duplicate-argument'],
		['run', ['x', 'task', 'plan-code=claude-gpt'], 'bad-plan-code'],
		['run', ['x', 'task', 'p01-c0'], 'bad-rounds'],
		['run', ['x', 'task', 'p-1-c0'], 'bad-rounds'],
		['run', ['x', 'task', 'p100-c0'], 'bad-rounds'],
		['run', ['x', 'task', 'fast'], 'unknown-word'],
		['run', ['x', 'task', '--fast'], 'unknown-word'],
		['run', ['auto', 'task'], 'missing-argument'],
		['run', ['two\nlines', 'task'], 'bad-folder'],
		['run', ['resume'], 'missing-argument'],
		['run', ['resume', RUN, 'p1-c1'], 'rounds-on-resume'],
		['run', ['resume', 'nowhere'], 'not-a-run'],
		['run', ['cancel', RUN], 'missing-argument'],
		['status', [], 'missing-argument'],
		['status', ['nowhere'], 'not-a-run'],
		['status', [RUN, 'more'], 'unknown-word'],
		['validate', [], 'missing-argument'],
		['list', ['nowhere'], 'not-a-folder'],
		['list', ['.', '.'], 'unknown-word'],
		['diff', ['nowhere'], 'not-a-run'],
		['diff', [], 'missing-argument'],
		['cancel', [RUN], 'missing-argument'],
		['cancel', [RUN, ' '], 'missing-argument'],
		['cancel', ['nowhere', 'why'], 'not-a-run'],
		['decide', [RUN, 'maybe', 'why'], 'unknown-word'],
		['decide', [RUN, 'accept'], 'missing-argument'],
		['repair', [RUN, 'undo', 'plan_v0'], 'unknown-word'],
		['repair', [RUN, 'rerun', 'plan_v00'], 'unknown-stage'],
		['repair', [RUN, 'rerun', '../plan_v0'], 'unknown-stage'],
		['check-agent', ['gemini'], 'unknown-word'],
		['check-agent', [], 'missing-argument'],
		['detect-session', ['now'], 'unknown-word'],
		['none', [], 'usage'],
		['none', ['frobnicate'], 'usage'],
	];

	it('gets one clear message, in text and in JSON, and creates and changes nothing', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		const before = box.read('run.md');
		const tree = readdirSync(box.repository.root, { recursive: true }).length;
		const faults: unknown[] = [];
		await inPairs(CASES, async ([command, given, code, exit = 2]) => {
			const words = [...(command === 'none' ? [] : [command]), ...given.map((word) => (word === RUN ? box.run : word))];
			const text = await box.ccc(words);
			const asJson = await box.ccc([...words, '--json']);
			const value = command === 'none' ? JSON.parse(asJson.stdout) : parse(command, asJson.stdout);
			const lines = text.stderr.trimEnd().split('\n');
			const said = { code: text.code, json: asJson.code, stdout: text.stdout, error: value.error?.code };
			const expected = { code: exit, json: exit, stdout: '', error: code };
			const clear = lines.length <= 4 && lines[0]?.endsWith(`[${code}]`) && asJson.stderr === '';
			if (!clear || JSON.stringify(said) !== JSON.stringify(expected)) faults.push({ words, said, expected, lines });
		});
		expect(faults).toEqual([]);
		expect(box.read('run.md')).toBe(before);
		expect(readdirSync(box.repository.root, { recursive: true })).toHaveLength(tree);
		expect(box.calls()).toEqual([]);
	}, 120_000);

	it.each([
		['CCC_AGENT_TIMEOUT_SECONDS', '0'],
		['CCC_REVIEW_PROMPT_MAX_BYTES', '1e6'],
		['CCC_REVIEW_DIFF_BUDGET', '-1'],
		['CCC_CODEX_BIN', './codex'],
		['CCC_CLAUDE_ARGS', 'word "open'],
		['CCC_VERIFY', 'make && true'],
	])('%s=%s is named', async (name, value) => {
		const box = await makeSandbox();
		const { code, stderr } = await box.ccc(['run', box.run, 'Task'], { env: { [name]: value } });
		expect(code).toBe(2);
		expect(stderr).not.toMatch(/^ {4}at /m);
		expect(stderr).toContain(name === 'CCC_VERIFY' ? '&&' : name);
		expect(box.has('run.md')).toBe(false);
	});
});

describe('words that look like something else', () => {
	it('stay what they are in a task, a reason and a folder', async () => {
		const box = await makeSandbox({ plan_v0: { exit: 1 } });
		const task = '-rf --help=me; $(touch x) `y`';
		await box.ccc(['run', './-odd folder é', task]);
		const { stdout } = await box.ccc(['status', './-odd folder é']);
		expect(stdout).toContain('-rf --help=me; $(touch x) `y`');
		expect(stdout).toContain('CCC run: ./-odd folder é\n');
		expect(box.calls()[0]?.prompt).toContain(task);
		const reason = '--no reason "at all"';
		expect((await box.ccc(['cancel', './-odd folder é', reason])).stdout).toContain(reason);
	});
});

/** Two at a time: there are two processors to use. */
async function inPairs<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
	const queue = [...items];
	const worker = async (): Promise<void> => {
		for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
	};
	await Promise.all([worker(), worker()]);
}
