/** Stage names, who owns them, and where their files are (protocol: Stage Ownership, Rounds, Artifact Contracts). */
import type { Agent } from '../agents/agent.ts';

export type { Agent };
export const AGENTS: readonly Agent[] = ['claude', 'codex'];

export const PLAN_CODES = ['claude-codex', 'codex-claude', 'claude-claude', 'codex-codex'] as const;
export type PlanCode = (typeof PLAN_CODES)[number];

export type StageKind = 'plan' | 'plan_review' | 'code' | 'review';

export interface Stage {
	readonly kind: StageKind;
	/** Zero-based version. */
	readonly version: number;
}

/** How many versions after v0 each half may have: p2-c2 is `{plan: 2, code: 2}`. */
export interface Rounds {
	readonly plan: number;
	readonly code: number;
}

const NAME = /^(?:(plan|code|review)_v(0|[1-9][0-9]?)|plan_v(0|[1-9][0-9]?)_review)$/;

/** The stage a name means (`plan_v0_review`), or undefined. Versions have no leading zeros and are at most 99. */
export function parseStage(name: string): Stage | undefined {
	const match = NAME.exec(name);
	if (!match) return undefined;
	if (match[3] !== undefined) return { kind: 'plan_review', version: Number(match[3]) };
	return { kind: match[1] as StageKind, version: Number(match[2]) };
}

export function stageName({ kind, version }: Stage): string {
	return kind === 'plan_review' ? `plan_v${version}_review` : `${kind}_v${version}`;
}

export function sameStage(a: Stage, b: Stage): boolean {
	return a.kind === b.kind && a.version === b.version;
}

export function isReview(stage: Stage): boolean {
	return stage.kind === 'plan_review' || stage.kind === 'review';
}

/** The half of the run a stage belongs to; it decides which rounds limit applies and which letter its findings get. */
export function halfOf(stage: Stage): keyof Rounds {
	return stage.kind === 'plan' || stage.kind === 'plan_review' ? 'plan' : 'code';
}

/** The review that judges a plan or code stage. */
export function reviewOf(stage: Stage): Stage {
	return { kind: halfOf(stage) === 'plan' ? 'plan_review' : 'review', version: stage.version };
}

/** The plan or code stage a review judges. */
export function reviewedBy(review: Stage): Stage {
	return { kind: halfOf(review), version: review.version };
}

export function plannerOf(planCode: PlanCode): Agent {
	return planCode.split('-')[0] as Agent;
}

export function coderOf(planCode: PlanCode): Agent {
	return planCode.split('-')[1] as Agent;
}

/** Protocol, Stage Ownership: the planner plans and reviews code, the coder reviews plans and codes. */
export function ownerOf(stage: Stage, planCode: PlanCode): Agent {
	return stage.kind === 'plan' || stage.kind === 'review' ? plannerOf(planCode) : coderOf(planCode);
}

/** All stages in the order of the protocol, up to the last version each half may have. */
export function chainOf(rounds: Rounds): Stage[] {
	const half = (work: StageKind, review: StageKind, last: number): Stage[] =>
		Array.from({ length: last + 1 }, (_, version) => [
			{ kind: work, version },
			{ kind: review, version },
		]).flat();
	return [...half('plan', 'plan_review', rounds.plan), ...half('code', 'review', rounds.code)];
}

/** Paths relative to the run folder, always with forward slashes. */
export const artifactPath = (stage: Stage): string => `artifacts/${stageName(stage)}.md`;
export const donePath = (stage: Stage): string => `state/${stageName(stage)}.done`;
export const rawReviewPath = (stage: Stage): string => `state/${stageName(stage)}.review.raw.md`;
/** What a session writes of its own stage, before it is committed (protocol: Write Ordering). */
export const draftPath = (stage: Stage): string =>
	`${isReview(stage) ? rawReviewPath(stage) : artifactPath(stage)}.tmp`;
