/** `ccc run` with the real Claude Code and the real Codex, their models played: what goes well, and what goes wrong. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Agent } from '../../scripts/lib/agents/agent.ts';
import { say, type ToolCall, use } from './models/script.ts';
import { playedAtOnce, TASK } from './played-change.ts';
import { FAILURES } from './played-failures.ts';
import { type Ended, type Instead, type PlayedRun, playedRun } from './played-run.ts';

const AGENTS: readonly Agent[] = ['claude', 'codex'];
const OTHER: Readonly<Record<Agent, Agent>> = { claude: 'codex', codex: 'claude' };
const PLAN_CODES = ['claude-codex', 'codex-claude', 'claude-claude', 'codex-codex'];
const STAGES = ['plan_v0', 'plan_v0_review', 'code_v0', 'review_v0'];
const CHANGED = ' M src/median.mjs\n?? test/single.test.mjs\n';
const CORRECTION = '\n# Correction\n';

async function begin(instead?: Instead, env?: Record<string, string>): Promise<PlayedRun> {
	const run = await playedRun(playedAtOnce, env);
	run.play(instead);
	return run;
}

const wordsFor = (run: PlayedRun, planCode: string): string[] => [
	'run',
	run.folder,
	TASK,
	'p0-c0',
	`plan-code=${planCode}`,
];

/** A plan-code in which this agent owns the stage, and the other one has the other role. */
const planCodeWith = (agent: Agent, stage: string): string =>
	stage === 'plan_v0' || stage === 'review_v0' ? `${agent}-${OTHER[agent]}` : `${OTHER[agent]}-${agent}`;

/** The end every run must come to: all four stages, a valid record, the change in the working tree and no other. */
async function expectComplete(run: PlayedRun, result: Ended): Promise<void> {
	expect(result.code, result.all).toBe(0);
	expect(result.stdout).toMatch(/\nStage completed: review_v0\nNext action: complete\n$/);
	expect(await run.status()).toBe('complete');
	expect(await run.done()).toEqual([...STAGES].sort());
	const [tests, status] = await Promise.all([run.nodeTest(), run.sandbox.git('status', '--short'), expectValid(run)]);
	expect(tests).toBe(0);
	expect(status).toBe(CHANGED);
}

async function expectValid(run: PlayedRun): Promise<void> {
	const validation = await run.ccc('validate', run.folder);
	expect(validation.code, validation.all).toBe(0);
}

it.each(PLAN_CODES)('plan-code=%s takes a task to an approved change', async (planCode) => {
	const run = await begin();
	const before = await run.gitFiles();
	expect(await run.nodeTest()).toBe(1);

	const result = await run.ccc(...wordsFor(run, planCode), 'verify=node --test');
	expect(await run.sandbox.processes()).toEqual([]);
	await expectComplete(run, result);
	expect(result.stderr).toContain('verify: node --test: passed');
	expect(run.turns.at(-1)?.turn.prompt).toMatch(/^command: node --test\nresult: exit code 0$/m);
	const [planner, coder] = planCode.split('-');
	const asked = run.turns.filter(({ turn }) => turn.step === 0).map(({ agent, turn }) => [agent, turn.stage]);
	expect(asked).toEqual([planner, coder, coder, planner].map((owner, index) => [owner, STAGES[index]]));
	expect(await run.read('artifacts/code_v0.md')).toContain('Ran `node --test`: tests ended with 0');
	expect(await Promise.all(['plan_v0_review', 'review_v0'].map(run.verdict))).toEqual(['APPROVE', 'APPROVE']);
	expect(await run.gitFiles()).toEqual(before);
});

it.each(AGENTS)('%s as a reviewer that tries to write changes nothing, and the run goes on', async (agent) => {
	const run = await begin();
	const outside = join(run.sandbox.root, 'outside.txt');
	const attempts: ToolCall[] = [
		agent === 'codex'
			? { patch: '*** Begin Patch\n*** Add File: written.txt\n+x\n*** End Patch\n' }
			: { name: 'Write', input: { file_path: join(run.sandbox.repo, 'written.txt'), content: 'x' } },
		{ shell: `echo x > touched.txt; echo x >> src/median.mjs; echo x > ${outside}; rm ${run.folder}/task.md` },
		{ shell: 'git commit --allow-empty --message x; git add --all' },
	];
	const refusals: string[] = [];
	run.play((turn, usual) => {
		if (turn.stage !== 'plan_v0_review' && turn.stage !== 'review_v0') return usual();
		const attempt = attempts[turn.step];
		if (attempt) return use(attempt);
		refusals.push(...turn.toolResults);
		return usual();
	});
	const before = await run.gitFiles();

	await expectComplete(run, await run.ccc(...wordsFor(run, `${agent}-${agent}`)));
	expect(refusals).toHaveLength(2 * attempts.length);
	const refused = agent === 'codex' ? /read-only/i : /No such tool available/;
	for (const refusal of refusals) expect(refusal).toMatch(refused);
	expect(existsSync(outside)).toBe(false);
	expect(await run.read('task.md')).toContain(TASK);
	expect(await run.gitFiles()).toEqual(before);
});

it.each(AGENTS)('%s, whose answers have the wrong form, is asked once more and then accepted', async (agent) => {
	const run = await begin(async (turn, usual) => {
		const reply = await usual();
		if (reply.kind !== 'text' || turn.prompt.includes(CORRECTION)) return reply;
		if (turn.stage === 'plan_v0_review') return say(reply.text.replace(/^READY: .*$/m, ''));
		if (turn.stage === 'code_v0') return say(reply.text.replace('## Risks and Unknowns\n\nNone.\n', ''));
		return reply;
	});
	const result = await run.ccc(...wordsFor(run, `${OTHER[agent]}-${agent}`));
	await expectComplete(run, result);
	expect(result.stderr.match(/the answer has the wrong form, asking once more/g)).toHaveLength(2);
	expect(STAGES.map(run.asked)).toEqual([1, 2, 2, 1]);
	const corrections = run.turns.filter(({ turn }) => turn.step === 0 && turn.prompt.includes(CORRECTION));
	expect(corrections.map((correction) => correction.agent)).toEqual([agent, agent]);
	expect(corrections[0]?.turn.prompt).toContain('no READY: line');
	expect(corrections[1]?.turn.prompt).toMatch(/## What is wrong.*Risks and Unknowns.*## Your previous answer/s);
});

/** A coder that commits after its edits and its tests, before it reports. */
function committing(said: string[]): Instead {
	let committed = false;
	return async (turn, usual) => {
		const reply = await usual();
		if (turn.stage !== 'code_v0' || reply.kind !== 'text') return reply;
		if (committed) {
			said.push(turn.toolResults.at(-1) ?? '');
			return reply;
		}
		committed = true;
		return use({ shell: 'git add --all && git commit --message done && echo it is committed' });
	};
}

it('Claude as a coder that commits blocks the run, which goes on once that is undone as advised', async () => {
	const said: string[] = [];
	const run = await begin(committing(said));
	const start = await run.sandbox.git('rev-parse', 'HEAD');

	const result = await run.ccc(...wordsFor(run, 'codex-claude'));
	expect(said).toEqual([expect.stringContaining('it is committed')]);
	expect(result.code, result.all).toBe(3);
	expect(result.stdout).toMatch(/^Blocked: .*\[head-moved\]$/m);
	const advised = /git (reset --soft [0-9a-f]+)/.exec(result.stdout)?.[1] ?? '';
	expect(advised).toBe(`reset --soft ${start.trim()}`);
	expect(await run.status()).toBe('blocked');
	expect(await run.done()).toEqual(['plan_v0', 'plan_v0_review']);

	const again = await run.ccc('run', 'resume', run.folder);
	expect(again.code, again.all).toBe(3);
	expect(again.stdout).toContain('[head-moved]');
	expect(run.asked('code_v0')).toBe(1);

	await run.sandbox.git(...advised.split(' '));
	const resumed = await run.ccc('run', 'resume', run.folder);
	expect(resumed.code, resumed.all).toBe(0);
	expect(await run.sandbox.git('status', '--short')).toBe('M  src/median.mjs\nA  test/single.test.mjs\n');
	expect(await run.sandbox.git('rev-parse', 'HEAD')).toBe(start);
	await expectValid(run);
});

it('Codex as a coder that commits is kept from it by its sandbox, and the run goes on', async () => {
	const said: string[] = [];
	const run = await begin(committing(said));
	const before = await run.gitFiles();
	await expectComplete(run, await run.ccc(...wordsFor(run, 'claude-codex')));
	expect(said).toEqual([expect.stringMatching(/index\.lock.*Read-only file system/s)]);
	expect(await run.gitFiles()).toEqual(before);
});

const FAILING = AGENTS.flatMap((agent) => FAILURES.map((failure) => [agent, failure.name, failure] as const));

it.each(FAILING)(
	'%s whose model %s blocks the run, which completes once it is well again',
	async (agent, _, failure) => {
		const { stage, code, reply, timeoutSeconds } = failure;
		const run = await begin(
			// An empty answer makes Claude ask once more, in words of its own that name no stage.
			(turn, usual) => (turn.stage === stage || turn.stage === undefined ? reply : usual()),
			timeoutSeconds === undefined ? {} : { CCC_AGENT_TIMEOUT_SECONDS: timeoutSeconds },
		);

		const result = await run.ccc(...wordsFor(run, planCodeWith(agent, stage)));
		expect(result.code, result.all).toBe(5);
		expect(await run.sandbox.processes()).toEqual([]);
		const [reason, next] = result.stdout.split('\n');
		expect(reason).toMatch(/^Blocked: /);
		expect(reason).toMatch(failure.why[agent]);
		expect(reason).toContain(` [${code}]`);
		expect(reason).not.toContain('Half of an ans');
		expect(next).toMatch(/^Next: .*; then: ccc run resume /);
		expect(next).toMatch(failure.next[agent]);
		expect(result.stdout).toMatch(/\nNext action: blocked\n$/);
		expect(run.asked(stage)).toBeGreaterThan(0);
		expect(await run.status()).toBe('blocked');
		expect(await run.read('run.md')).toContain(code);
		expect(await run.done()).toEqual(STAGES.slice(0, STAGES.indexOf(stage)).sort());
		await expectValid(run);

		run.play();
		delete run.sandbox.env.CCC_AGENT_TIMEOUT_SECONDS;
		await expectComplete(run, await run.ccc('run', 'resume', run.folder));
	},
);

/** A run whose coordinator was killed; the companion of `stage` waits for its model until `answer` is called. */
async function killed(agent: Agent, stage: string): Promise<{ run: PlayedRun; answer: () => void }> {
	let answer = (): void => {};
	const held = new Promise<void>((resolve) => {
		answer = resolve;
	});
	const run = await begin(async (turn, usual) => {
		if (turn.stage === stage && turn.step === 0) await held;
		return usual();
	});
	const coordinator = run.start(...wordsFor(run, planCodeWith(agent, stage)));
	await vi.waitFor(() => expect(run.asked(stage), coordinator.said.stderr).toBe(1), 20_000);
	expect(await coordinator.kill()).toBe('SIGKILL');
	return { run, answer };
}

/** One call for each stage, in the models' eyes and in the records. */
async function expectAskedOnce(run: PlayedRun): Promise<void> {
	expect(STAGES.map(run.asked)).toEqual([1, 1, 1, 1]);
	const attempts = (await readdir(join(run.folder, 'state', 'calls'))).filter((name) => name.endsWith('.json'));
	expect(attempts.sort()).toEqual(STAGES.map((name) => `${name}.1.json`).sort());
	const events = (await run.read('state/ledger.jsonl')).trimEnd().split('\n');
	const calls = events.map((line) => JSON.parse(line)).filter(({ event }) => event === 'call');
	expect(calls.map((call) => call.stage)).toEqual(STAGES);
}

it.each([
	['codex', 'code_v0'],
	['claude', 'review_v0'],
] as const)('resume attaches to the call of a killed coordinator while %s still works on %s', async (agent, stage) => {
	const { run, answer } = await killed(agent, stage);
	const next = run.start('run', 'resume', run.folder);
	await vi.waitFor(
		() => expect(next.said.stderr).toMatch(new RegExp(`^${stage} +${agent} +found at work$`, 'm')),
		10_000,
	);
	answer();
	await expectComplete(run, await next.ended);
	await expectAskedOnce(run);
});

it.each([
	['claude', 'code_v0'],
	['codex', 'review_v0'],
] as const)('resume takes what %s answered for %s after its coordinator was killed', async (agent, stage) => {
	const { run, answer } = await killed(agent, stage);
	answer();
	const result = join(run.folder, 'state', 'calls', `${stage}.1`, 'result.json');
	await vi.waitFor(() => expect(existsSync(result)).toBe(true), 30_000);
	await vi.waitFor(async () => expect(await run.sandbox.processes()).toEqual([]), 2000);
	expect(JSON.parse(await readFile(result, 'utf8')).outcome.kind).toBe('answered');
	expect(await run.done()).not.toContain(stage);
	await expectComplete(run, await run.ccc('run', 'resume', run.folder));
	await expectAskedOnce(run);
});
