import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	artifactPath,
	chainOf,
	coderOf,
	donePath,
	halfOf,
	isReview,
	ownerOf,
	PLAN_CODES,
	parseStage,
	plannerOf,
	rawReviewPath,
	reviewedBy,
	reviewOf,
	type Stage,
	sameStage,
	stageName,
} from '../../scripts/lib/run/stages.ts';

const stages = fc.record({
	kind: fc.constantFrom<Stage['kind']>('plan', 'plan_review', 'code', 'review'),
	version: fc.nat(99),
});

describe('parseStage', () => {
	it.each([
		['plan_v0', { kind: 'plan', version: 0 }],
		['plan_v10_review', { kind: 'plan_review', version: 10 }],
		['code_v99', { kind: 'code', version: 99 }],
		['review_v7', { kind: 'review', version: 7 }],
	])('%s', (name, stage) => {
		expect(parseStage(name)).toEqual(stage);
	});

	it.each([
		...['', 'plan', 'plan_v', 'plan_v00', 'plan_v01', 'plan_v100', 'plan_v-1', 'plan_v1.0', 'Plan_v0', 'plan_v0 '],
		...['plan_v0_reviewx', 'code_v0_review', 'review_v0_review', 'plan_v0_review_review', 'plan_v0\n', '\nplan_v0'],
		...['plan_v٣', 'toString', '__proto__', 'plan_v0.md', '../plan_v0'],
	])('refuses %j', (name) => {
		expect(parseStage(name)).toBeUndefined();
	});

	it('gives back each stage that was named', () => {
		fc.assert(
			fc.property(stages, (stage) => {
				expect(parseStage(stageName(stage))).toEqual({ ...stage });
			}),
		);
	});
});

describe('ownerOf: the cells of Stage Ownership', () => {
	it.each([
		['claude-codex', 'claude', 'codex', 'codex', 'claude'],
		['codex-claude', 'codex', 'claude', 'claude', 'codex'],
		['claude-claude', 'claude', 'claude', 'claude', 'claude'],
		['codex-codex', 'codex', 'codex', 'codex', 'codex'],
	] as const)('%s: plan %s, plan_review %s, code %s, review %s', (planCode, plan, planReview, code, review) => {
		const owners = { plan, plan_review: planReview, code, review };
		for (const [kind, owner] of Object.entries(owners)) {
			expect(ownerOf({ kind: kind as Stage['kind'], version: 3 }, planCode)).toBe(owner);
		}
		expect([plannerOf(planCode), coderOf(planCode)]).toEqual([plan, code]);
	});

	it('covers every plan-code', () => {
		expect(PLAN_CODES).toHaveLength(4);
	});
});

describe('relations and paths', () => {
	it.each([
		[{ kind: 'plan', version: 1 }, 'plan', false, 'plan_v1_review', 'artifacts/plan_v1.md', 'state/plan_v1.done'],
		[
			{ kind: 'plan_review', version: 1 },
			'plan',
			true,
			'plan_v1_review',
			'artifacts/plan_v1_review.md',
			'state/plan_v1_review.done',
		],
		[{ kind: 'code', version: 0 }, 'code', false, 'review_v0', 'artifacts/code_v0.md', 'state/code_v0.done'],
		[{ kind: 'review', version: 0 }, 'code', true, 'review_v0', 'artifacts/review_v0.md', 'state/review_v0.done'],
	] as const)('of %j', (stage, half, review, reviewName, artifact, done) => {
		expect(halfOf(stage)).toBe(half);
		expect(isReview(stage)).toBe(review);
		expect(stageName(reviewOf(stage))).toBe(reviewName);
		expect(sameStage(reviewedBy(reviewOf(stage)), { kind: half, version: stage.version })).toBe(true);
		expect(artifactPath(stage)).toBe(artifact);
		expect(donePath(stage)).toBe(done);
		expect(rawReviewPath(reviewOf(stage))).toBe(`state/${reviewName}.review.raw.md`);
	});

	it('tells stages of different kind or version apart', () => {
		expect(sameStage({ kind: 'plan', version: 1 }, { kind: 'plan', version: 2 })).toBe(false);
		expect(sameStage({ kind: 'plan', version: 1 }, { kind: 'code', version: 1 })).toBe(false);
	});
});

describe('chainOf', () => {
	it.each([
		[{ plan: 0, code: 0 }, 'plan_v0 plan_v0_review code_v0 review_v0'],
		[
			{ plan: 2, code: 1 },
			'plan_v0 plan_v0_review plan_v1 plan_v1_review plan_v2 plan_v2_review code_v0 review_v0 code_v1 review_v1',
		],
	])('%j', (rounds, names) => {
		expect(chainOf(rounds).map(stageName).join(' ')).toBe(names);
	});
});
