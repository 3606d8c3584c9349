/** What a run does next, from its truth alone (protocol: Transitions, Rounds, Resume). Pure. */
import type { Decision } from './decisions.ts';
import { type Mode, onDisagreement } from './modes.ts';
import { halfOf, type Rounds, reviewOf, type Stage, type StageKind, stageName } from './stages.ts';
import { approves, type Verdict } from './verdicts.ts';

/** The truth of a run: `.done` files, the verdicts of their artifacts, what a human decided, and the rounds. */
export interface Truth {
	readonly rounds: Rounds;
	/** Names of the stages that have a `.done` file. */
	readonly done: ReadonlySet<string>;
	/** Verdict by review stage name, for each done review. */
	readonly verdicts: ReadonlyMap<string, Verdict>;
	/** In the order they were taken. */
	readonly decisions: readonly Decision[];
}

export type Step =
	| { readonly kind: 'stage'; readonly stage: Stage }
	| { readonly kind: 'complete' }
	| { readonly kind: 'canceled'; readonly reason: string }
	/** A human must accept the work or ask for another version. */
	| { readonly kind: 'decide'; readonly review: Stage; readonly verdict: Verdict; readonly versionLeft: boolean }
	/** auto mode goes on: the review has to be attested again, as APPROVE_AUTO_OVERRIDE. */
	| { readonly kind: 'override'; readonly review: Stage };

/** The rounds in force: a `revise` decision on the last version allows one more (run.md is raised to match). */
export function effectiveRounds(truth: Pick<Truth, 'rounds' | 'decisions'>): Rounds {
	const rounds = { ...truth.rounds };
	for (const decision of truth.decisions) {
		if (decision.decision !== 'revise') continue;
		const half = halfOf(decision.stage);
		rounds[half] = Math.max(rounds[half], decision.stage.version + 1);
	}
	return rounds;
}

/** Whether the half of this stage may have another version after it. */
export function versionLeft(stage: Stage, rounds: Rounds): boolean {
	return stage.version < rounds[halfOf(stage)];
}

/** The last decision about a review, if any. */
export function decisionOn(review: Stage, decisions: readonly Decision[]): 'accept' | 'revise' | undefined {
	const name = stageName(review);
	const taken = decisions.findLast((entry) => entry.decision !== 'cancel' && stageName(entry.stage) === name);
	return taken?.decision === 'cancel' ? undefined : taken?.decision;
}

/** The one next step. A cancellation ends the run for good. */
export function nextStep(truth: Truth, mode: Mode): Step {
	const canceled = truth.decisions.find((decision) => decision.decision === 'cancel');
	if (canceled) return { kind: 'canceled', reason: canceled.reason };
	const rounds = effectiveRounds(truth);
	// Once code exists planning is over, also in runs whose last plan version was never reviewed.
	const coding = [...truth.done].some((name) => name.startsWith('code_') || name.startsWith('review_'));
	if (!coding) {
		const planning = nextInHalf('plan', { ...truth, rounds }, mode);
		if (planning) return planning;
	}
	return nextInHalf('code', { ...truth, rounds }, mode) ?? { kind: 'complete' };
}

/** The next step of one half, or undefined when its last review lets the run advance. */
function nextInHalf(half: StageKind & ('plan' | 'code'), truth: Truth, mode: Mode): Step | undefined {
	for (let version = 0; ; version++) {
		const work: Stage = { kind: half, version };
		if (!truth.done.has(stageName(work))) return { kind: 'stage', stage: work };
		const review = reviewOf(work);
		if (!truth.done.has(stageName(review))) return { kind: 'stage', stage: review };
		const outcome = afterReview(review, truth, mode);
		if (outcome === 'advance') return undefined;
		if (outcome !== 'next-version') return outcome;
	}
}

/** What a done review leads to: a decision of a human beats its verdict, and the verdict beats everything else. */
function afterReview(review: Stage, truth: Truth, mode: Mode): Step | 'advance' | 'next-version' {
	const decision = decisionOn(review, truth.decisions);
	if (decision === 'revise') return 'next-version';
	if (decision === 'accept') return 'advance';
	const verdict = truth.verdicts.get(stageName(review));
	if (verdict === undefined) return { kind: 'stage', stage: review };
	if (verdict !== 'NEEDS_CHANGES' && verdict !== 'BLOCKER') return approves(verdict) ? 'advance' : 'next-version';
	const left = versionLeft(review, truth.rounds);
	// A next version that exists was already directed or allowed, whatever the mode says now.
	if (left && truth.done.has(stageName({ kind: halfOf(review), version: review.version + 1 }))) return 'next-version';
	switch (onDisagreement(verdict, left, mode)) {
		case 'next-version':
			return 'next-version';
		case 'override':
			return { kind: 'override', review };
		case 'human-decision':
			return { kind: 'decide', review, verdict, versionLeft: left };
	}
}

/** The last done stage in the order of the protocol, or undefined at the very start. */
export function lastDone(done: ReadonlySet<string>): Stage | undefined {
	let last: Stage | undefined;
	for (const [work, review] of [
		['plan', 'plan_review'],
		['code', 'review'],
	] as const) {
		for (let version = 0; version <= 99; version++) {
			for (const kind of [work, review]) if (done.has(stageName({ kind, version }))) last = { kind, version };
		}
	}
	return last;
}
