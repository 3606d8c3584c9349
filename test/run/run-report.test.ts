import { describe, expect, it } from 'vitest';
import { CccError } from '../../scripts/lib/kit/errors.ts';
import { blockedReport, reportOf } from '../../scripts/lib/run/run-report.ts';
import { parseStage, type Stage } from '../../scripts/lib/run/stages.ts';
import type { Step } from '../../scripts/lib/run/transitions.ts';
import type { RunState } from '../../scripts/lib/run/truth.ts';
import type { Verdict } from '../../scripts/lib/run/verdicts.ts';

const stage = (name: string): Stage => parseStage(name)!;
/** Reports look at the truth only; run.md may be behind. */
const state = (done: string[], verdicts: [string, Verdict][] = []): RunState => ({
	run: {} as RunState['run'],
	task: '',
	rounds: { plan: 1, code: 1 },
	done: new Set(done),
	verdicts: new Map(verdicts),
	decisions: [],
});

describe('reportOf', () => {
	const review = stage('plan_v1_review');
	it.each<[string, Step, object]>([
		['a stage', { kind: 'stage', stage: stage('plan_v0') }, { nextAction: 'plan_v0', status: 'active', exitCode: 0 }],
		['an override', { kind: 'override', review }, { nextAction: 'plan_v1_review', status: 'active', exitCode: 0 }],
		['the end', { kind: 'complete' }, { nextAction: 'complete', status: 'complete', exitCode: 0 }],
		[
			'a decision',
			{ kind: 'decide', review, verdict: 'BLOCKER', versionLeft: true },
			{
				nextAction: 'blocked',
				status: 'blocked',
				exitCode: 3,
				waitingFor: 'decision',
				code: 'decision-needed',
				reason: expect.stringContaining('plan_v1_review reports a blocker'),
				next: `read 'my run/artifacts/plan_v1_review.md', then: ccc decide 'my run' accept|revise "<reason>"`,
			},
		],
		[
			'a cancellation',
			{ kind: 'canceled', reason: 'enough' },
			{ nextAction: 'canceled', status: 'canceled', exitCode: 3, reason: 'enough' },
		],
	])('of %s', (_, step, report) => {
		expect(reportOf('my run', state([]), step)).toMatchObject({ folder: 'my run', stageCompleted: 'none', ...report });
	});

	it('names the last stage done', () => {
		const step: Step = { kind: 'stage', stage: stage('code_v0') };
		const done = state(['plan_v0', 'plan_v0_review'], [['plan_v0_review', 'APPROVE']]);
		expect(reportOf('r', done, step)).toMatchObject({ stageCompleted: 'plan_v0_review', nextAction: 'code_v0' });
	});
});

describe('blockedReport', () => {
	const step: Step = { kind: 'stage', stage: stage('plan_v0') };
	it('says why and what to do, with the exit code of the failure', () => {
		const error = new CccError('companion-timed-out', 'No answer.', { found: 'timeout', next: 'wait', exitCode: 5 });
		expect(blockedReport('r', state([]), step, error)).toMatchObject({
			stageCompleted: 'none',
			nextAction: 'blocked',
			status: 'blocked',
			exitCode: 5,
			code: 'companion-timed-out',
			reason: 'No answer. timeout',
			next: 'wait; then: ccc run resume r',
		});
	});

	it('offers to resume where the failure names no step', () => {
		const report = blockedReport('a b', state([]), step, new CccError('x', 'Broken.', { exitCode: 3 }));
		expect(report).toMatchObject({ reason: 'Broken.', next: `when it is mended: ccc run resume 'a b'` });
	});
});
