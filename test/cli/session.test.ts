import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { makeRepository } from '../support/git-repository.ts';
import { makeSandbox, type Scenario } from '../support/sandbox.ts';
import { MAJOR, MINOR } from '../support/seeded-run.ts';
import { followRun, type ReadPacket, readPacket, SESSION_ENV, type SessionKind } from '../support/session.ts';

// Whole runs take thirty commands, and more where the machine is busy.
vi.setConfig({ testTimeout: 120_000 });

const PACK = path.resolve(import.meta.dirname, '../..');
const RUN = '.ccc/runs/x';
const ownerIn = (planCode: string, stage: string): string => {
	const [planner, coder] = planCode.split('-') as [string, string];
	return /^plan_v\d+$|^review/.test(stage) ? planner : coder;
};
const stagesOf = (packets: readonly ReadPacket[]): string[] => [
	...new Set(packets.map(({ stage }) => stage).filter((stage) => stage !== 'none')),
];

/** All reviews of a run, whoever gives them. */
async function play(
	session: SessionKind,
	planCode: string,
	options: string,
	reviews: Readonly<Record<string, string>>,
	decision?: string,
) {
	const scenario: Scenario = Object.fromEntries(Object.entries(reviews).map(([stage, answer]) => [stage, { answer }]));
	const box = await makeSandbox(scenario);
	const words = `${RUN} "Append a line to a.txt" ${options} plan-code=${planCode}`;
	const run = await followRun(box, session, words, { reviews, ...(decision === undefined ? {} : { decision }) });
	return { box, run, names: stagesOf(run.packets) };
}

/** Which stages were done by a companion, and by which. */
const called = (box: Awaited<ReturnType<typeof makeSandbox>>): string[] =>
	box.calls().map(({ who, stage }) => `${stage} ${who}`);

describe('a session that follows packets completes the run', () => {
	it.each<[SessionKind, string, string]>([
		['claude', 'claude-codex', 'p0-c0'],
		['codex', 'claude-codex', 'p0-c0 manual'],
		['claude', 'codex-claude', 'p0-c0 auto'],
		['codex', 'codex-codex', 'p0-c0 manual'],
		['unknown', 'claude-codex', 'p0-c0'],
	])('%s, %s, %s', async (session, planCode, options) => {
		const { box, run, names } = await play(session, planCode, options, {});
		const chain = ['plan_v0', 'plan_v0_review', 'code_v0', 'review_v0'];
		expect({ code: run.code, stderr: run.stderr, names }).toEqual({ code: 0, stderr: '', names: chain });
		expect(called(box)).toEqual(
			chain.map((stage) => `${stage} ${ownerIn(planCode, stage)}`).filter((entry) => !entry.endsWith(` ${session}`)),
		);
		expect(box.status()).toBe('complete');
		expect(run.packets.at(-1)).toMatchObject({ owner: 'user', next: [], write: undefined });
		expect(run.packets.at(-1)?.rest).toBe(`CCC run: ${RUN}\nStage completed: review_v0\nNext action: complete`);
		const approvals = run.packets.filter(({ owner, next }) => owner === 'user' && next.length > 0);
		expect(approvals).toHaveLength(options.includes('manual') ? 3 : 0);
		for (const { answer, next } of approvals) {
			expect(answer).toMatch(/^Ask the user: \w+ is done.*\?/);
			expect(next.slice(-3)).toEqual(['resume', box.run, 'manual']);
		}
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
		// What the agent reads of ours: the skill, and what the commands print.
		const skill = readFileSync(path.join(PACK, 'skills', 'ccc', 'SKILL.md')).length;
		expect(skill + run.bytes).toBeLessThan(9000);
	});

	it('with findings to answer, and ids that are counted on, in two rounds of each half', async () => {
		const two = '- [major] Wrong line.\n- [minor] A nit.\n\nREADY: no\n';
		const reviews = { plan_v0_review: two, plan_v1_review: MAJOR, review_v0: MAJOR, review_v1: two };
		const { box, run, names } = await play('claude', 'claude-codex', 'p2-c2', reviews);
		const half = (work: string, review: (version: number) => string): string[] =>
			[0, 1, 2].flatMap((version) => [`${work}_v${version}`, review(version)]);
		expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: '' });
		expect(names).toEqual([...half('plan', (v) => `plan_v${v}_review`), ...half('code', (v) => `review_v${v}`)]);
		const answers = Object.fromEntries(run.packets.map(({ stage, answer }) => [stage, answer]));
		expect(answers.plan_v1).toBe('P1 [major] Wrong line.; P2 [minor] A nit.');
		expect(answers.plan_v2).toBe('P3 [major] Wrong line.');
		expect(answers.review_v1).toBe('C1 [major] Wrong line.');
		expect(answers.review_v2).toBe('C2 [major] Wrong line.; C3 [minor] A nit.');
		expect(box.read('artifacts/plan_v2.md')).toContain('- P3: fixed');
		expect(box.read('artifacts/code_v2.md')).toContain('- C2: fixed');
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
		for (const { bytes } of run.packets) expect(bytes).toBeLessThanOrEqual(2000);
		const skill = readFileSync(path.join(PACK, 'skills', 'ccc', 'SKILL.md')).length;
		expect(skill + run.bytes).toBeLessThan(20_000);
	});

	it('where no version remains: the user decides in normal mode', async () => {
		const reviews = { plan_v0_review: MAJOR, review_v0: MINOR };
		const { run, box } = await play('codex', 'codex-claude', 'p0-c0', reviews, 'Accept, it is "good" enough\n');
		expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: '' });
		const asked = run.packets.filter(({ next }) => next.at(-1) === '-');
		expect(asked.map(({ stage, owner }) => `${stage} ${owner}`)).toEqual(['plan_v0_review user']);
		expect(asked[0]?.answer).toMatch(/^Ask the user: .*accept.*revise.*; P1 \[major\] Wrong line\.$/);
		expect(asked[0]?.rest).toBe(`CCC run: ${RUN}\nStage completed: plan_v0_review\nNext action: blocked`);
		expect(box.read('state/decisions.jsonl')).toContain('it is \\"good\\" enough');
		expect(box.status()).toBe('complete');
	});

	it('where no version remains: auto mode goes on, with an override in the artifact', async () => {
		const reviews = { plan_v0_review: MAJOR, plan_v1_review: MAJOR, review_v0: MAJOR, review_v1: MAJOR };
		const { run, box, names } = await play('claude', 'codex-claude', 'p1-c1 auto', reviews);
		expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: '' });
		expect(names).toHaveLength(8);
		for (const review of ['plan_v1_review', 'review_v1']) {
			expect(box.read(`artifacts/${review}.md`)).toContain('VERDICT: APPROVE_AUTO_OVERRIDE');
		}
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
	});

	it('in a repository without commits', async () => {
		const repository = await makeRepository({ sha256: true });
		repository.write('a.txt', 'one\n');
		const box = await makeSandbox({}, { repository });
		const run = await followRun(box, 'codex', `${RUN} "Append a line" p0-c0 plan-code=codex-codex`);
		expect({ code: run.code, stderr: run.stderr, status: box.status() }).toEqual({
			code: 0,
			stderr: '',
			status: 'complete',
		});
		expect(box.calls()).toEqual([]);
	});
});

describe('the JSON of a packet', () => {
	it('has the same fields in lower case', async () => {
		const box = await makeSandbox();
		const env = SESSION_ENV.claude;
		await box.ccc(['begin'], { env, input: `${RUN} "Task"` });
		const text = readPacket((await box.ccc(['next', box.run], { env })).stdout);
		const json = JSON.parse((await box.ccc(['next', box.run, '--json'], { env })).stdout);
		expect(Object.keys(json)).toEqual(
			expect.arrayContaining(['stage', 'owner', 'read', 'write', 'headings', 'answer', 'next']),
		);
		expect(json).toMatchObject({ stage: text.stage, owner: text.owner, read: text.read, write: text.write });
		expect(json.headings.join('; ')).toBe(text.headings);
		expect(json).toMatchObject({ ccc_run: RUN, next_action: 'plan_v0', status: 'active', exit_code: 0 });
	});
});
