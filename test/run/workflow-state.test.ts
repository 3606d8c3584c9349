import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStage, type Stage } from '../../scripts/lib/run/stages.ts';
import { nextStep, type Step, type Truth } from '../../scripts/lib/run/transitions.ts';
import type { Verdict } from '../../scripts/lib/run/verdicts.ts';
import { deriveWorkflow, oneLine, waitingFor } from '../../scripts/lib/run/workflow-state.ts';

const stage = (name: string): Stage => parseStage(name)!;
const truth = (done: string[], verdicts: [string, Verdict][] = []): Truth => ({
	rounds: { plan: 1, code: 1 },
	done: new Set(done),
	verdicts: new Map(verdicts),
	decisions: [],
});
const derive = (of: Truth, blocked?: string) => deriveWorkflow(of, nextStep(of, 'normal'), blocked);

describe('deriveWorkflow', () => {
	it('of a run that begins', () => {
		expect(derive(truth([]))).toEqual({
			workflow: { currentStage: 'plan_v0', latestArtifact: 'none', latestVerdict: 'none', nextAction: 'plan_v0' },
			status: 'active',
		});
	});

	it('names the latest verdict of the half that is worked on, or else the one before', () => {
		const planned = truth(['plan_v0', 'plan_v0_review', 'code_v0'], [['plan_v0_review', 'APPROVE']]);
		expect(derive(planned).workflow).toEqual({
			currentStage: 'review_v0',
			latestArtifact: 'artifacts/code_v0.md',
			latestVerdict: 'APPROVE',
			nextAction: 'review_v0',
		});
		const revised = truth(
			['plan_v0', 'plan_v0_review', 'code_v0', 'review_v0', 'code_v1'],
			[
				['plan_v0_review', 'APPROVE'],
				['review_v0', 'NEEDS_CHANGES'],
			],
		);
		expect(derive(revised).workflow).toMatchObject({ latestVerdict: 'NEEDS_CHANGES', nextAction: 'review_v1' });
	});

	it('of a complete run', () => {
		const done = truth(
			['plan_v0', 'plan_v0_review', 'code_v0', 'review_v0'],
			[
				['plan_v0_review', 'APPROVE'],
				['review_v0', 'APPROVE_WITH_MINOR_COMMENTS'],
			],
		);
		expect(derive(done)).toEqual({
			workflow: {
				currentStage: 'review_v0',
				latestArtifact: 'artifacts/review_v0.md',
				latestVerdict: 'APPROVE_WITH_MINOR_COMMENTS',
				nextAction: 'complete',
			},
			status: 'complete',
		});
	});

	it('blocks where a human must decide, with the reason', () => {
		const waiting = truth(['plan_v0', 'plan_v0_review'], [['plan_v0_review', 'BLOCKER']]);
		const { workflow, status } = derive(waiting);
		expect(status).toBe('blocked');
		expect(workflow).toMatchObject({ currentStage: 'plan_v0_review', nextAction: 'blocked' });
		expect(workflow.reason).toContain('plan_v0_review reports a blocker');
	});

	it('blocks for a hard failure and keeps its words on one line; a cancellation is stronger', () => {
		expect(derive(truth([]), 'HEAD moved\n## Status\ncomplete')).toMatchObject({
			workflow: { nextAction: 'blocked', reason: 'HEAD moved ## Status complete' },
			status: 'blocked',
		});
		const canceled: Step = { kind: 'canceled', reason: 'no\u2028more' };
		expect(deriveWorkflow(truth([]), canceled, 'HEAD moved')).toMatchObject({
			workflow: { nextAction: 'canceled', reason: 'no more' },
			status: 'canceled',
		});
	});

	it('stays active while an override is due', () => {
		const review = stage('plan_v1_review');
		const state = deriveWorkflow(truth([]), { kind: 'override', review });
		expect(state).toMatchObject({ workflow: { nextAction: 'plan_v1_review' }, status: 'active' });
	});
});

describe('waitingFor', () => {
	it('says what can be decided', () => {
		const review = stage('review_v2');
		expect(waitingFor({ kind: 'decide', review, verdict: 'BLOCKER', versionLeft: true })).toContain('blocker');
		expect(waitingFor({ kind: 'decide', review, verdict: 'NEEDS_CHANGES', versionLeft: false })).toContain(
			'NEEDS_CHANGES and no version is left',
		);
	});
});

describe('oneLine', () => {
	it('is one line of at most 300 units without control characters or half a character, whatever comes', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme', maxLength: 700 }), (text) => {
				const line = oneLine(`${text}\u0000\u0085\u2029\r\nx${text}`);
				expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
				expect(line.length).toBeLessThanOrEqual(300);
				expect(Buffer.from(line).toString()).toBe(line);
			}),
		);
		expect(oneLine(`${'x'.repeat(299)}😀`)).toBe('x'.repeat(299));
	});
});
