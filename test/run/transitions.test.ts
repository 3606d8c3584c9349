import { describe, expect, it } from 'vitest';
import type { Decision } from '../../scripts/lib/run/decisions.ts';
import { MODES } from '../../scripts/lib/run/modes.ts';
import { parseStage, type Rounds, type Stage, stageName } from '../../scripts/lib/run/stages.ts';
import {
	decisionOn,
	effectiveRounds,
	lastDone,
	nextStep,
	type Step,
	type Truth,
	versionLeft,
} from '../../scripts/lib/run/transitions.ts';
import type { Verdict } from '../../scripts/lib/run/verdicts.ts';

const TIME = '2024-01-01T00:00:00.000Z';
const stage = (name: string): Stage => parseStage(name)!;
const decided = (decision: 'accept' | 'revise', name: string): Decision => ({
	decision,
	stage: stage(name),
	reason: 'so',
	time: TIME,
});

/** `plan_v0 plan_v0_review=APPROVE` */
function truthOf(done: string, options: { rounds?: Rounds; decisions?: Decision[] } = {}): Truth {
	const entries = done.split(' ').filter((word) => word !== '');
	const verdicts = new Map<string, Verdict>();
	for (const [name = '', verdict] of entries.map((entry) => entry.split('='))) {
		if (verdict) verdicts.set(name, verdict as Verdict);
	}
	return {
		rounds: options.rounds ?? { plan: 2, code: 2 },
		done: new Set(entries.map((entry) => entry.split('=')[0]!)),
		verdicts,
		decisions: options.decisions ?? [],
	};
}

function shown(step: Step): string {
	switch (step.kind) {
		case 'stage':
			return stageName(step.stage);
		case 'decide':
			return `decide ${stageName(step.review)} ${step.verdict}${step.versionLeft ? ' left' : ''}`;
		case 'override':
			return `override ${stageName(step.review)}`;
		case 'canceled':
			return `canceled ${step.reason}`;
		default:
			return step.kind;
	}
}

const inEachMode = (truth: Truth): string[] => MODES.map((mode) => shown(nextStep(truth, mode)));
const same = (step: string): string[] => [step, step, step];

const PLANNED = 'plan_v0 plan_v0_review=APPROVE';
const P0: Rounds = { plan: 0, code: 0 };

describe('nextStep: the mode table in each situation (manual, normal, auto)', () => {
	it.each<[string, string, Rounds, string[]]>([
		['a run begins', '', P0, same('plan_v0')],
		['a plan is done', 'plan_v0', P0, same('plan_v0_review')],
		['the plan is approved', PLANNED, P0, same('code_v0')],
		['... with comments', 'plan_v0 plan_v0_review=APPROVE_WITH_MINOR_COMMENTS', P0, same('code_v0')],
		['... by override', 'plan_v0 plan_v0_review=APPROVE_AUTO_OVERRIDE', P0, same('code_v0')],
		['code is done', `${PLANNED} code_v0`, P0, same('review_v0')],
		['the code is approved', `${PLANNED} code_v0 review_v0=APPROVE`, P0, same('complete')],
		['... with comments', `${PLANNED} code_v0 review_v0=APPROVE_WITH_MINOR_COMMENTS`, P0, same('complete')],
		['... by override', `${PLANNED} code_v0 review_v0=APPROVE_AUTO_OVERRIDE`, P0, same('complete')],
		['plan changes, a version left', 'plan_v0 plan_v0_review=NEEDS_CHANGES', { plan: 1, code: 0 }, same('plan_v1')],
		[
			'plan blocker, a version left',
			'plan_v0 plan_v0_review=BLOCKER',
			{ plan: 1, code: 0 },
			['decide plan_v0_review BLOCKER left', 'decide plan_v0_review BLOCKER left', 'plan_v1'],
		],
		[
			'plan changes, none left',
			'plan_v0 plan_v0_review=NEEDS_CHANGES',
			P0,
			[...Array(2).fill('decide plan_v0_review NEEDS_CHANGES'), 'override plan_v0_review'],
		],
		[
			'plan blocker, none left',
			'plan_v0 plan_v0_review=BLOCKER',
			P0,
			[...Array(2).fill('decide plan_v0_review BLOCKER'), 'override plan_v0_review'],
		],
		[
			'code changes, a version left',
			`${PLANNED} code_v0 review_v0=NEEDS_CHANGES`,
			{ plan: 0, code: 1 },
			same('code_v1'),
		],
		[
			'code blocker, a version left',
			`${PLANNED} code_v0 review_v0=BLOCKER`,
			{ plan: 0, code: 1 },
			['decide review_v0 BLOCKER left', 'decide review_v0 BLOCKER left', 'code_v1'],
		],
		[
			'code changes, none left',
			`${PLANNED} code_v0 review_v0=NEEDS_CHANGES`,
			P0,
			[...Array(2).fill('decide review_v0 NEEDS_CHANGES'), 'override review_v0'],
		],
		[
			'code blocker, none left',
			`${PLANNED} code_v0 review_v0=BLOCKER`,
			P0,
			[...Array(2).fill('decide review_v0 BLOCKER'), 'override review_v0'],
		],
	])('%s: %s', (_, done, rounds, steps) => {
		expect(inEachMode(truthOf(done, { rounds }))).toEqual(steps);
	});
});

describe('nextStep: what a human decided', () => {
	const plan = (verdict: Verdict): string => `plan_v0 plan_v0_review=${verdict}`;
	const code = (verdict: Verdict): string => `${PLANNED} code_v0 review_v0=${verdict}`;
	it.each<[string, string, Rounds, Decision[], string]>([
		['accept lets a plan pass', plan('NEEDS_CHANGES'), P0, [decided('accept', 'plan_v0_review')], 'code_v0'],
		['accept lets a blocked plan pass', plan('BLOCKER'), P0, [decided('accept', 'plan_v0_review')], 'code_v0'],
		[
			'accept passes though a version is left',
			plan('NEEDS_CHANGES'),
			{ plan: 2, code: 0 },
			[decided('accept', 'plan_v0_review')],
			'code_v0',
		],
		['accept completes the run', code('BLOCKER'), P0, [decided('accept', 'review_v0')], 'complete'],
		[
			'revise with a version left',
			plan('BLOCKER'),
			{ plan: 1, code: 0 },
			[decided('revise', 'plan_v0_review')],
			'plan_v1',
		],
		[
			'revise without one raises the round',
			plan('NEEDS_CHANGES'),
			P0,
			[decided('revise', 'plan_v0_review')],
			'plan_v1',
		],
		['revise beats an approval', plan('APPROVE'), P0, [decided('revise', 'plan_v0_review')], 'plan_v1'],
		['revise of approved code', code('APPROVE'), P0, [decided('revise', 'review_v0')], 'code_v1'],
		[
			'the last word counts',
			plan('NEEDS_CHANGES'),
			P0,
			[decided('revise', 'plan_v0_review'), decided('accept', 'plan_v0_review')],
			'code_v0',
		],
		[
			'a raised round is the last again',
			`${plan('NEEDS_CHANGES')} plan_v1 plan_v1_review=NEEDS_CHANGES`,
			P0,
			[decided('revise', 'plan_v0_review')],
			'decide plan_v1_review NEEDS_CHANGES',
		],
		[
			'a decision on another review does not count',
			`${plan('NEEDS_CHANGES')} plan_v1 plan_v1_review=BLOCKER`,
			{ plan: 1, code: 0 },
			[decided('accept', 'plan_v0_review'), decided('revise', 'plan_v0_review')],
			'decide plan_v1_review BLOCKER',
		],
	])('%s', (_, done, rounds, decisions, step) => {
		expect(shown(nextStep(truthOf(done, { rounds, decisions }), 'normal'))).toBe(step);
	});

	it('a cancellation ends the run for good, wherever it stands', () => {
		const cancel: Decision = { decision: 'cancel', reason: 'enough', time: TIME };
		for (const done of ['', PLANNED, code('APPROVE'), code('BLOCKER')]) {
			const decisions = [cancel, decided('accept', 'plan_v0_review'), { ...cancel, reason: 'again' }];
			expect(inEachMode(truthOf(done, { decisions }))).toEqual(same('canceled enough'));
		}
	});
});

describe('nextStep: runs of other hands', () => {
	it.each<[string, string, string]>([
		['a last plan without a review, code begun', 'plan_v0 plan_v0_review=NEEDS_CHANGES plan_v1 code_v0', 'review_v0'],
		['a last plan without a review, no code', 'plan_v0 plan_v0_review=NEEDS_CHANGES plan_v1', 'plan_v1_review'],
		['last code without a review', `${PLANNED} code_v0 review_v0=NEEDS_CHANGES code_v1`, 'review_v1'],
		['a version that followed a blocker', 'plan_v0 plan_v0_review=BLOCKER plan_v1', 'plan_v1_review'],
		['a done review whose verdict is unknown', 'plan_v0 plan_v0_review', 'plan_v0_review'],
		['a gap is closed first', 'plan_v0_review=APPROVE', 'plan_v0'],
	])('%s', (_, done, step) => {
		expect(shown(nextStep(truthOf(done, { rounds: { plan: 1, code: 1 } }), 'normal'))).toBe(step);
	});

	it('a version beyond the rounds is not taken for one that was allowed', () => {
		const truth = truthOf('plan_v0 plan_v0_review=NEEDS_CHANGES plan_v1', { rounds: P0 });
		expect(shown(nextStep(truth, 'normal'))).toBe('decide plan_v0_review NEEDS_CHANGES');
		expect(shown(nextStep(truth, 'auto'))).toBe('override plan_v0_review');
	});
});

describe('parts', () => {
	it('effectiveRounds are raised by revise only, and never lowered', () => {
		const rounds = { plan: 1, code: 0 };
		const decisions = [
			decided('revise', 'plan_v0_review'),
			decided('accept', 'review_v5'),
			decided('revise', 'review_v0'),
			{ decision: 'cancel', reason: 'x', time: TIME } as const,
		];
		expect(effectiveRounds({ rounds, decisions })).toEqual({ plan: 1, code: 1 });
		expect(rounds).toEqual({ plan: 1, code: 0 });
	});

	it('versionLeft looks at the half of the stage', () => {
		expect(versionLeft(stage('plan_v1_review'), { plan: 2, code: 0 })).toBe(true);
		expect(versionLeft(stage('plan_v2'), { plan: 2, code: 9 })).toBe(false);
		expect(versionLeft(stage('review_v0'), { plan: 9, code: 0 })).toBe(false);
	});

	it('decisionOn takes the last on that review', () => {
		const decisions = [decided('accept', 'review_v0'), decided('revise', 'review_v0'), decided('accept', 'review_v1')];
		expect(decisionOn(stage('review_v0'), decisions)).toBe('revise');
		expect(decisionOn(stage('plan_v0_review'), decisions)).toBeUndefined();
	});

	it.each([
		['', undefined],
		['plan_v0', 'plan_v0'],
		['plan_v10 plan_v9_review plan_v9', 'plan_v10'],
		['plan_v2_review plan_v2', 'plan_v2_review'],
		['code_v0 plan_v5_review', 'code_v0'],
		['review_v99 code_v99', 'review_v99'],
	])('lastDone of %j is %s', (done, name) => {
		const last = lastDone(new Set(done.split(' ')));
		expect(last && stageName(last)).toBe(name);
	});
});
