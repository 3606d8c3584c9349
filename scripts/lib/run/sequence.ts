/** Whether the stages of a run follow each other as the protocol says (Transitions, Rounds). Pure, the same in every mode. */
import { halfOf, parseStage, type Rounds, reviewOf, type Stage, sameStage, stageName } from './stages.ts';
import { approves, type Verdict } from './verdicts.ts';

export interface DecisionView {
	/** Name of the review that was decided on. */
	readonly stage: string;
	readonly decision: 'accept' | 'revise';
}

export interface SequenceInput {
	readonly done: readonly Stage[];
	/** Verdict by review name, where it could be read. A review without one may lead anywhere. */
	readonly verdicts: ReadonlyMap<string, Verdict>;
	readonly rounds: Rounds;
	/** In the order they were taken; the last one on a review counts. */
	readonly decisions: readonly DecisionView[];
}

export interface SequenceProblem {
	/** Name of the done stage at fault. */
	readonly stage: string;
	readonly code: 'beyond-rounds' | 'stage-gap' | 'version-not-due' | 'not-approved';
	readonly found: string;
	readonly expected: string;
}

export interface ChainState {
	readonly problems: SequenceProblem[];
	/** The done stages that follow each other from plan_v0 on. */
	readonly followed: readonly Stage[];
	/** The stages that may come now, whatever the mode. */
	readonly next: readonly Stage[];
	/** Whether the run may be called complete. */
	readonly complete: boolean;
}

/** The faults of the chain, none when it is legal. */
export function checkSequence(input: SequenceInput): SequenceProblem[] {
	return followChain(input).problems;
}

/** Follows the chain as far as it is legal and says what stands out of it and what may come next. */
export function followChain(input: SequenceInput): ChainState {
	const rounds = roundsInForce(input);
	const has = (stage: Stage) => input.done.some((done) => sameStage(done, stage));
	const problems: SequenceProblem[] = [];
	const followed: Stage[] = [];
	const coding = input.done.some((stage) => halfOf(stage) === 'code');
	let next: Stage[] = [];
	let complete = false;
	for (const half of ['plan', 'code'] as const) {
		const first: Stage = { kind: half, version: 0 };
		if (half === 'code' && !has(first)) break;
		const end = followHalf(half, { ...input, rounds }, has, followed, problems);
		const advance = half === 'plan' && end.mayAdvance ? [{ kind: 'code', version: 0 } as const] : [];
		next = [...end.next, ...advance];
		if (half === 'plan' && coding && !end.mayAdvance) {
			const wanted = end.last ? `an approval of ${stageName(end.last)} or the decision to accept it` : 'a plan';
			problems.push({
				stage: firstOfCode(input.done),
				code: 'not-approved',
				found: `code after ${end.state}`,
				expected: `${wanted} before it`,
			});
		}
		complete = half === 'code' && end.mayAdvance;
	}
	for (const stage of input.done) {
		if (followed.some((other) => sameStage(other, stage))) continue;
		problems.push(outOfChain(stage, rounds, has));
	}
	return { problems, followed, next, complete: complete && problems.length === 0 };
}

function firstOfCode(done: readonly Stage[]): string {
	const stages = done.filter((stage) => halfOf(stage) === 'code').sort((a, b) => a.version - b.version);
	return stageName(stages.find(({ kind }) => kind === 'code') ?? stages[0]!);
}

/** A `revise` decision on the last version raises the rounds; run.md is updated right after it. */
function roundsInForce({ rounds, decisions }: SequenceInput): Rounds {
	const raised = { ...rounds };
	for (const { stage: name, decision } of decisions) {
		const stage = parseStage(name);
		if (stage && decision === 'revise') raised[halfOf(stage)] = Math.max(raised[halfOf(stage)], stage.version + 1);
	}
	return raised;
}

interface HalfEnd {
	/** The last plan or code version, if any. */
	last?: Stage;
	/** How that version stands, for messages. */
	state: string;
	mayAdvance: boolean;
	next: Stage[];
}

function followHalf(
	half: 'plan' | 'code',
	{ verdicts, rounds, decisions }: SequenceInput,
	has: (stage: Stage) => boolean,
	followed: Stage[],
	problems: SequenceProblem[],
): HalfEnd {
	for (let version = 0; ; version++) {
		const work: Stage = { kind: half, version };
		const review = reviewOf(work);
		const following: Stage = { kind: half, version: version + 1 };
		const isLast = version >= rounds[half];
		if (!has(work)) return { state: `no ${stageName(work)}`, mayAdvance: false, next: [work] };
		followed.push(work);
		if (!has(review)) {
			// Runs of older coordinators end each half at the last version, without a review of it.
			return { last: work, state: `${stageName(work)} without a review`, mayAdvance: isLast, next: [review] };
		}
		followed.push(review);
		const name = stageName(review);
		const verdict = verdicts.get(name);
		const decision = decisions.findLast(({ stage }) => stage === name)?.decision;
		const mayAdvance = verdict === undefined || approves(verdict) || decision === 'accept';
		const mayRevise = verdict === undefined || !approves(verdict) || decision === 'revise';
		const state = `${name} with VERDICT: ${verdict ?? 'unknown'}`;
		if (!has(following) || isLast) {
			// In auto mode a review that still disagrees is attested again at the last version.
			const again = isLast && !mayAdvance ? [review] : [];
			return { last: work, state, mayAdvance, next: mayRevise && !isLast ? [following] : again };
		}
		if (!mayRevise) {
			const expected = `no version after an approval, unless it was decided to revise ${stageName(work)}`;
			problems.push({
				stage: stageName(following),
				code: 'version-not-due',
				found: `a version after ${state}`,
				expected,
			});
		}
	}
}

function outOfChain(stage: Stage, rounds: Rounds, has: (stage: Stage) => boolean): SequenceProblem {
	const name = stageName(stage);
	const half = halfOf(stage);
	if (stage.version > rounds[half]) {
		const key = half === 'plan' ? 'plan_rounds' : 'revision_rounds';
		const expected = `versions up to v${rounds[half]} (${key}: ${rounds[half]})`;
		return { stage: name, code: 'beyond-rounds', found: name, expected };
	}
	const before: Stage[] = [];
	for (let version = 0; version <= stage.version; version++) {
		const work: Stage = { kind: half, version };
		before.push(work, reviewOf(work));
	}
	const missing = before.find((other) => !has(other)) ?? stage;
	return {
		stage: name,
		code: 'stage-gap',
		found: `${name} without ${stageName(missing)}`,
		expected: `${stageName(missing)} done before it`,
	};
}
