import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../scripts/lib/run/decisions.ts';
import { MODES, type Mode } from '../../scripts/lib/run/modes.ts';
import { checkSequence, followChain } from '../../scripts/lib/run/sequence.ts';
import { chainOf, isReview, parseStage, type Rounds, type Stage, stageName } from '../../scripts/lib/run/stages.ts';
import { effectiveRounds, nextStep, type Step, type Truth, versionLeft } from '../../scripts/lib/run/transitions.ts';
import type { Verdict } from '../../scripts/lib/run/verdicts.ts';

const TIME = '2024-01-01T00:00:00.000Z';
const stage = (name: string): Stage => parseStage(name)!;
const decided = (decision: 'accept' | 'revise', name: string): Decision => ({
	decision,
	stage: stage(name),
	reason: 'so',
	time: TIME,
});

/** Every verdict a coordinator may attest at this point; approvals by override are made by the override step alone. */
const verdictsAt = (left: boolean, mode: Mode): Verdict[] =>
	!left && mode === 'auto'
		? ['APPROVE', 'APPROVE_WITH_MINOR_COMMENTS', 'APPROVE_AUTO_OVERRIDE']
		: ['APPROVE', 'APPROVE_WITH_MINOR_COMMENTS', 'NEEDS_CHANGES', 'BLOCKER'];

interface Played {
	/** The truth before each step, with the step taken from it. */
	readonly states: { truth: Truth; mode: Mode; step: Step }[];
	readonly committed: string[];
	readonly last: Step;
}

/** Drives a run by `nextStep`; `choose(n)` picks below n. At most `revisions` times a human asks for more. */
function play(rounds: Rounds, choose: (below: number) => number, revisions: number): Played {
	let truth: Truth = { rounds, done: new Set(), verdicts: new Map(), decisions: [] };
	const states: Played['states'] = [];
	const committed: string[] = [];
	let left = revisions;
	for (let count = 0; count < 1000; count++) {
		// Each command may come in another mode: it is not part of the truth.
		const mode = MODES[choose(MODES.length)]!;
		const step = nextStep(truth, mode);
		states.push({ truth, mode, step });
		if (step.kind === 'complete' || step.kind === 'canceled') return { states, committed, last: step };
		if (step.kind === 'stage') {
			const name = stageName(step.stage);
			committed.push(name);
			const verdicts = new Map(truth.verdicts);
			if (isReview(step.stage)) {
				const possible = verdictsAt(versionLeft(step.stage, effectiveRounds(truth)), mode);
				verdicts.set(name, possible[choose(possible.length)]!);
			}
			truth = { ...truth, done: new Set([...truth.done, name]), verdicts };
			// A human may ask for more after any review, also after one that approves.
			if (isReview(step.stage) && left > 0 && choose(8) === 0) {
				left -= 1;
				truth = { ...truth, decisions: [...truth.decisions, decided('revise', name)] };
			}
		} else if (step.kind === 'override') {
			truth = { ...truth, verdicts: new Map([...truth.verdicts, [stageName(step.review), 'APPROVE_AUTO_OVERRIDE']]) };
		} else {
			const pick = choose(10);
			if (pick === 0)
				truth = { ...truth, decisions: [...truth.decisions, { decision: 'cancel', reason: 'x', time: TIME }] };
			else {
				const revise = pick < 5 && left > 0;
				if (revise) left -= 1;
				const decision = decided(revise ? 'revise' : 'accept', stageName(step.review));
				truth = { ...truth, decisions: [...truth.decisions, decision] };
			}
		}
	}
	throw new Error(`a run of p${rounds.plan}-c${rounds.code} does not end`);
}

const games = fc.record({
	rounds: fc.record({ plan: fc.nat(4), code: fc.nat(4) }),
	revisions: fc.nat(3),
	choices: fc.infiniteStream(fc.nat(839)),
});

function playGame({
	rounds,
	revisions,
	choices,
}: {
	rounds: Rounds;
	revisions: number;
	choices: Iterator<number>;
}): Played {
	return play(rounds, (below) => (choices.next().value as number) % below, revisions);
}

const namesOf = (truth: Truth): Stage[] => [...truth.done].map(stage);
const viewsOf = (truth: Truth) =>
	truth.decisions.flatMap((entry) =>
		entry.decision === 'cancel' ? [] : [{ decision: entry.decision, stage: stageName(entry.stage) }],
	);

describe('any run driven by nextStep', () => {
	it('ends within its effective rounds, each stage once, in the order of the chain', () => {
		fc.assert(
			fc.property(games, (game) => {
				const { states, committed, last } = playGame(game);
				const chain = chainOf(effectiveRounds(states.at(-1)!.truth)).map(stageName);
				expect(chain.filter((name) => committed.includes(name))).toEqual(committed);
				expect(new Set(committed).size).toBe(committed.length);
				if (last.kind === 'complete') expect(committed.at(-1)).toMatch(/^review_v\d+$/);
			}),
			{ numRuns: 500 },
		);
	});

	it('skips no stage: within a half, the versions up to the last one and each with its review', () => {
		fc.assert(
			fc.property(games, (game) => {
				const { committed } = playGame(game);
				for (const [work, review] of [
					['plan', (version: number) => `plan_v${version}_review`],
					['code', (version: number) => `review_v${version}`],
				] as const) {
					const versions = committed.filter((name) => new RegExp(`^${work}_v\\d+$`).test(name)).length;
					const expected = Array.from({ length: versions }, (_, version) => [
						`${work}_v${version}`,
						review(version),
					]).flat();
					const own = committed.filter((name) => expected.includes(name));
					// The very last review may be missing where the run was canceled before it.
					expect(own).toEqual(expected.slice(0, own.length));
					expect(expected.length - own.length).toBeLessThanOrEqual(1);
				}
			}),
			{ numRuns: 500 },
		);
	});

	it('is legal for the validator at every moment, and its next stage is one the validator allows', () => {
		fc.assert(
			fc.property(games, (game) => {
				for (const { truth, step } of playGame(game).states) {
					const input = {
						done: namesOf(truth),
						verdicts: truth.verdicts,
						rounds: truth.rounds,
						decisions: viewsOf(truth),
					};
					expect(checkSequence(input)).toEqual([]);
					const chain = followChain(input);
					if (step.kind === 'stage') expect(chain.next.map(stageName)).toContain(stageName(step.stage));
					if (step.kind === 'complete') expect(chain.complete).toBe(true);
				}
			}),
			{ numRuns: 300 },
		);
	});

	it('resumes from any moment with the same next step, whatever order its files are found in', () => {
		fc.assert(
			fc.property(games, (game) => {
				for (const { truth, mode, step } of playGame(game).states) {
					const read: Truth = {
						rounds: effectiveRounds(truth),
						done: new Set([...truth.done].reverse()),
						verdicts: new Map([...truth.verdicts].reverse()),
						decisions: structuredClone(truth.decisions),
					};
					expect(nextStep(read, mode)).toEqual(step);
				}
			}),
			{ numRuns: 300 },
		);
	});

	it('never needs a human in auto mode and always in the last version otherwise', () => {
		fc.assert(
			fc.property(games, (game) => {
				for (const { mode, step, truth } of playGame(game).states) {
					if (step.kind === 'decide') expect(mode).not.toBe('auto');
					if (step.kind !== 'override') continue;
					expect(mode).toBe('auto');
					expect(versionLeft(step.review, effectiveRounds(truth))).toBe(false);
				}
			}),
		);
	});
});
