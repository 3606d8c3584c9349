import { describe, expect, it } from 'vitest';
import { makeSandbox, type Sandbox } from '../support/sandbox.ts';
import { BLOCKED, MAJOR, seedRun } from '../support/seeded-run.ts';

const decide = (box: Sandbox, ...words: string[]) => box.ccc(['decide', box.run, ...words, '--json']);

describe('decide accept', () => {
	it('advances past the review, whose verdict stays, and resume goes on', async () => {
		const box = await makeSandbox({ code_v0: { exit: 1 } });
		await seedRun(box, ['plan_v0', ['plan_v0_review', MAJOR]]);
		const { code, stdout } = await decide(box, 'accept', 'good enough');
		expect(code).toBe(0);
		expect(JSON.parse(stdout)).toMatchObject({ status: 'active', next_action: 'code_v0' });
		expect(box.read('artifacts/plan_v0_review.md')).toContain('VERDICT: NEEDS_CHANGES');
		expect((await box.ccc(['validate', box.run])).stdout).toContain(': valid');
		await box.ccc(['run', 'resume', box.run]);
		expect(box.calls().map(({ stage }) => stage)).toEqual(['code_v0']);
	});

	it('of the last review completes the run', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0', 'plan_v0_review', 'code_v0', ['review_v0', BLOCKED]]);
		const { code, stdout } = await decide(box, 'accept', 'the service is ours');
		expect(code).toBe(0);
		expect(JSON.parse(stdout)).toMatchObject({ status: 'complete', next_action: 'complete' });
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
		expect((await decide(box, 'accept', 'again')).code).toBe(2);
	});
});

describe('decide revise', () => {
	it('with a version left lets a blocker be worked on, with the reason in the prompt', async () => {
		const box = await makeSandbox({ plan_v1: { exit: 1 } });
		await seedRun(box, ['plan_v0', ['plan_v0_review', BLOCKED]], { rounds: { plan: 1, code: 0 } });
		expect((await box.ccc(['run', 'resume', box.run])).code).toBe(3);
		expect((await decide(box, 'revise', 'use the mirror\n\n## Status')).code).toBe(0);
		await box.ccc(['run', 'resume', box.run]);
		expect(box.calls().map(({ stage }) => stage)).toEqual(['plan_v1']);
		expect(box.calls()[0]?.prompt).toContain('use the mirror');
		expect(box.read('run.md')).toContain('plan_rounds: 1');
		expect((await box.ccc(['validate', box.run])).stdout).toContain(': valid');
	});

	it('without one raises the rounds', async () => {
		const box = await makeSandbox({ code_v1: { shell: 'printf "two\\n" > a.txt' } });
		await seedRun(box, ['plan_v0', 'plan_v0_review', 'code_v0', ['review_v0', MAJOR]]);
		expect((await decide(box, 'revise', 'once more')).code).toBe(0);
		expect(box.read('run.md')).toContain('plan_rounds: 0\nrevision_rounds: 1');
		expect((await box.ccc(['run', 'resume', box.run])).code).toBe(0);
		expect(box.calls().map(({ stage }) => stage)).toEqual(['code_v1', 'review_v1']);
		expect(box.calls()[0]?.prompt).toContain('once more');
		expect(box.calls()[0]?.prompt).toContain('C1 [major] Wrong line.');
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
	});

	it('takes back an acceptance, and lets an approved result be worked on again', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0', 'plan_v0_review', 'code_v0', 'review_v0']);
		const { stdout } = await decide(box, 'revise', 'one thing more');
		expect(JSON.parse(stdout)).toMatchObject({ status: 'active', next_action: 'code_v1' });
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
	});
});

describe('decide', () => {
	it.each([
		['before any review', ['plan_v0'], 'accept'],
		['of an approval', ['plan_v0', 'plan_v0_review'], 'accept'],
		['of nothing', [], 'revise'],
	])('%s says that there is nothing to decide', async (_, stages, word) => {
		const box = await makeSandbox();
		await seedRun(box, stages);
		const before = box.read('run.md');
		const { code, stdout } = await decide(box, word, 'because');
		expect(code).toBe(2);
		expect(JSON.parse(stdout).error.code).toBe('nothing-to-decide');
		expect(box.read('run.md')).toBe(before);
		expect(box.has('state/decisions.jsonl')).toBe(false);
	});

	it('of a canceled run is refused', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0', ['plan_v0_review', MAJOR]]);
		await box.ccc(['cancel', box.run, 'enough']);
		expect((await decide(box, 'revise', 'please')).code).toBe(2);
		expect(box.status()).toBe('canceled');
	});
});
