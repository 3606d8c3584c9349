import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSequence, type DecisionView, followChain } from '../../scripts/lib/run/sequence.ts';
import { chainOf, parseStage, type Rounds, type Stage, stageName } from '../../scripts/lib/run/stages.ts';
import { VERDICTS, type Verdict } from '../../scripts/lib/run/verdicts.ts';

const P2C2: Rounds = { plan: 2, code: 2 };

/** Stages by name; a review with its verdict: `plan_v0_review APPROVE`. */
function inputOf(names: readonly string[], rounds = P2C2, decisions: readonly DecisionView[] = []) {
	const done: Stage[] = [];
	const verdicts = new Map<string, Verdict>();
	for (const entry of names) {
		const [name, verdict] = entry.split(' ') as [string, Verdict?];
		done.push(parseStage(name)!);
		if (verdict) verdicts.set(name, verdict);
	}
	return { done, verdicts, rounds, decisions };
}

const check = (...input: Parameters<typeof inputOf>) =>
	checkSequence(inputOf(...input)).map(({ stage, code }) => `${stage} ${code}`);

function state(...input: Parameters<typeof inputOf>): string[] {
	const { next, complete } = followChain(inputOf(...input));
	return [...next.map(stageName), ...(complete ? ['complete'] : [])];
}

const PLANNED = ['plan_v0', 'plan_v0_review APPROVE'];
const LAST: Rounds = { plan: 0, code: 0 };

describe('a legal chain', () => {
	it.each([
		[[], ['plan_v0']],
		[['plan_v0'], ['plan_v0_review']],
		[PLANNED, ['code_v0']],
		[['plan_v0', 'plan_v0_review NEEDS_CHANGES'], ['plan_v1']],
		[['plan_v0', 'plan_v0_review BLOCKER'], ['plan_v1']],
		[['plan_v0', 'plan_v0_review NEEDS_CHANGES', 'plan_v1', 'plan_v1_review APPROVE_WITH_MINOR_COMMENTS'], ['code_v0']],
		[[...PLANNED, 'code_v0'], ['review_v0']],
		[[...PLANNED, 'code_v0', 'review_v0 NEEDS_CHANGES'], ['code_v1']],
		[[...PLANNED, 'code_v0', 'review_v0 APPROVE'], ['complete']],
		[[...PLANNED, 'code_v0', 'review_v0 APPROVE_AUTO_OVERRIDE'], ['complete']],
	])('%j may go on with %j', (names, expected) => {
		expect(check(names)).toEqual([]);
		expect(state(names)).toEqual(expected);
	});

	it('may end a half at the last version without a review', () => {
		expect(state(['plan_v0'], LAST)).toEqual(['plan_v0_review', 'code_v0']);
		expect(check(['plan_v0', 'code_v0'], LAST)).toEqual([]);
		expect(state(['plan_v0', 'code_v0'], LAST)).toEqual(['review_v0', 'complete']);
	});

	it('may have its last review attested again while nobody has decided', () => {
		expect(state(['plan_v0', 'plan_v0_review BLOCKER'], LAST)).toEqual(['plan_v0_review']);
	});

	it('may go on as a human decided', () => {
		const accept = [{ stage: 'plan_v0_review', decision: 'accept' }] as const;
		const revise = [{ stage: 'plan_v0_review', decision: 'revise' }] as const;
		const blocked = ['plan_v0', 'plan_v0_review BLOCKER'];
		expect(check([...blocked, 'code_v0'], LAST, accept)).toEqual([]);
		expect(check([...blocked, 'plan_v1'], LAST, revise)).toEqual([]);
		expect(check([...PLANNED, 'plan_v1'], P2C2, revise)).toEqual([]);
		expect(
			state([...PLANNED, 'code_v0', 'review_v0 BLOCKER'], LAST, [{ stage: 'review_v0', decision: 'accept' }]),
		).toEqual(['complete']);
	});
});

describe('an illegal chain', () => {
	it.each([
		['a review without its plan', ['plan_v0_review APPROVE'], ['plan_v0_review stage-gap']],
		['a version left out', ['plan_v0', 'plan_v0_review NEEDS_CHANGES', 'plan_v2'], ['plan_v2 stage-gap']],
		['a version without the review before it', ['plan_v0', 'plan_v1'], ['plan_v1 stage-gap']],
		['a version after an approval', [...PLANNED, 'plan_v1'], ['plan_v1 version-not-due']],
		['code without a plan', ['code_v0'], ['code_v0 not-approved']],
		['code before the review', ['plan_v0', 'code_v0'], ['code_v0 not-approved']],
		['code after a refusal', ['plan_v0', 'plan_v0_review NEEDS_CHANGES', 'code_v0'], ['code_v0 not-approved']],
		['code that starts at v1', [...PLANNED, 'code_v1'], ['code_v1 stage-gap']],
		[
			'a code version after an approval',
			[...PLANNED, 'code_v0', 'review_v0 APPROVE', 'code_v1'],
			['code_v1 version-not-due'],
		],
	])('%s', (_, names, expected) => {
		expect(check(names)).toEqual(expected);
	});

	it('has versions beyond the rounds', () => {
		const names = ['plan_v0', 'plan_v0_review NEEDS_CHANGES', 'plan_v1'];
		expect(check(names, LAST)).toEqual(['plan_v1 beyond-rounds']);
		expect(check(['plan_v0', 'plan_v0_review NEEDS_CHANGES', 'code_v0'], LAST)).toEqual(['code_v0 not-approved']);
	});
});

describe('any run', () => {
	const rounds = fc.record({ plan: fc.nat(3), code: fc.nat(3) });

	it('that is walked stage by stage is legal all the way', () => {
		fc.assert(
			fc.property(
				rounds,
				fc.infiniteStream(fc.constantFrom(...VERDICTS)),
				fc.infiniteStream(fc.nat()),
				(limits, words, choices) => {
					const done: Stage[] = [];
					const verdicts = new Map<string, Verdict>();
					for (;;) {
						const chain = followChain({ done, verdicts, rounds: limits, decisions: [] });
						expect(chain.problems).toEqual([]);
						const fresh = chain.next.filter((stage) => !done.some((other) => stageName(other) === stageName(stage)));
						if (fresh.length === 0) break;
						const stage = fresh[choices.next().value % fresh.length]!;
						done.push(stage);
						if (stageName(stage).includes('review')) verdicts.set(stageName(stage), words.next().value);
					}
					expect(done.length).toBeLessThanOrEqual(chainOf(limits).length);
				},
			),
		);
	});

	it('is answered, each fault with a done stage', () => {
		const all = chainOf({ plan: 3, code: 3 });
		fc.assert(
			fc.property(rounds, fc.subarray(all), fc.infiniteStream(fc.constantFrom(...VERDICTS)), (limits, done, words) => {
				const verdicts = new Map(done.map((stage) => [stageName(stage), words.next().value]));
				const chain = followChain({ done, verdicts, rounds: limits, decisions: [] });
				const names = done.map(stageName);
				for (const { stage } of chain.problems) expect(names).toContain(stage);
				for (const stage of done.filter(
					(entry) =>
						!chain.followed.includes(entry) && !chain.followed.some((other) => stageName(other) === stageName(entry)),
				)) {
					expect(chain.problems.map((problem) => problem.stage)).toContain(stageName(stage));
				}
			}),
		);
	});
});
