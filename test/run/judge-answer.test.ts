import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JudgeInput, judgeAnswer } from '../../scripts/lib/run/judge-answer.ts';
import { parseStage } from '../../scripts/lib/run/stages.ts';
import { validateArtifact } from '../../scripts/lib/run/validate-artifact.ts';
import { hostileText } from '../support/hostile-text.ts';

const REF = '0123456789abcdef0123456789abcdef01234567';
const PLAN = [
	'# Plan v0',
	...['Summary', 'Scope', 'Proposed Changes', 'Files and Areas', 'Verification Plan', 'Risks and Questions'].map(
		(name) => `\n## ${name}\n\nText.`,
	),
	'\n## Changes Since Previous Plan Version\n\nInitial plan.',
].join('\n');
const PLAN_V1 = PLAN.replace('Plan v0', 'Plan v1').replace('Initial plan.', '- P1: fixed, in the loop');

function judge(stage: string, answer: string, over: Partial<JudgeInput> = {}) {
	return judgeAnswer({
		stage: parseStage(stage)!,
		owner: 'codex',
		answer,
		rounds: { plan: 1, code: 1 },
		mode: 'normal',
		runStartRef: REF,
		idsToAnswer: [],
		firstFindingNumber: 1,
		...over,
	});
}

describe('plans and code', () => {
	it.each([
		['bare', PLAN],
		['wrapped in a fence', `\`\`\`markdown\n${PLAN}\n\`\`\``],
		['with a lead-in', `Here is the plan.\n\n${PLAN}\n`],
	])('a valid answer %s becomes the artifact', (_, answer) => {
		expect(judge('plan_v0', answer)).toEqual({ kind: 'artifact', artifact: `${PLAN}\n` });
	});

	it('what is wrong is said line by line', () => {
		const answer = PLAN.replace('## Scope', '## scope').replace('Initial plan.', 'Initial plan, mostly.');
		const judged = judge('plan_v0', answer);
		expect(judged.kind).toBe('unreadable');
		const problems = judged.kind === 'unreadable' ? judged.problems : [];
		expect(
			problems.map((problem) => /^artifacts\/plan_v0\.md:\d+:\d+: ([a-z-]+): found .*, expected /.exec(problem)?.[1]),
		).toEqual(['missing-section', 'initial-text']);
	});

	it('empty sections are no fault', () => {
		expect(judge('plan_v0', PLAN.replace('## Scope\n\nText.', '## Scope\n'))).toMatchObject({ kind: 'artifact' });
	});

	it('a later version answers the open findings', () => {
		expect(judge('plan_v1', PLAN_V1, { idsToAnswer: ['P1'] })).toMatchObject({ kind: 'artifact' });
		expect(judge('plan_v1', PLAN_V1, { idsToAnswer: ['P1', 'P2'] })).toMatchObject({
			kind: 'unreadable',
			problems: [expect.stringContaining('unanswered-finding')],
		});
	});

	it.each(['', 'I cannot do that.', 'a\0b'])('%j is none', (answer) => {
		expect(judge('plan_v0', answer).kind).toBe('unreadable');
	});
});

describe('reviews', () => {
	it('become an attested artifact beside the raw words', () => {
		const answer = '## Findings\n- [minor] a\n\nREADY: no';
		expect(judge('plan_v0_review', answer, { firstFindingNumber: 3 })).toMatchObject({
			kind: 'artifact',
			raw: `${answer}\n`,
			verdict: 'NEEDS_CHANGES',
			findings: [{ severity: 'minor', text: 'a' }],
			artifact: expect.stringMatching(/Codex said READY: no[\s\S]*- P3 \[minor\] a\n[\s\S]*VERDICT: NEEDS_CHANGES\n$/),
		});
	});

	it.each([
		['plan_v0_review', 'normal', 'NEEDS_CHANGES'],
		['plan_v1_review', 'normal', 'APPROVE_WITH_MINOR_COMMENTS'],
		['plan_v1_review', 'auto', 'APPROVE_AUTO_OVERRIDE'],
		['review_v0', 'auto', 'NEEDS_CHANGES'],
		['review_v1', 'manual', 'APPROVE_WITH_MINOR_COMMENTS'],
	] as const)('%s in mode %s: a refusal with minor findings is %s', (stage, mode, verdict) => {
		expect(judge(stage, '- [minor] a\n\nREADY: no', { mode })).toMatchObject({ verdict });
	});

	it('name the agent and its baseline', () => {
		const judged = judge('review_v0', 'None.\n\nREADY: yes\n', { owner: 'claude' });
		expect(judged).toMatchObject({ raw: 'None.\n\nREADY: yes\n', verdict: 'APPROVE' });
		const artifact = judged.kind === 'artifact' ? judged.artifact : '';
		expect(artifact).toContain('Claude said READY: yes');
		expect(artifact).toContain(`\nrun_start_ref: ${REF}\n`);
	});

	it('that cannot be read say where and why', () => {
		expect(judge('review_v1', 'Looks good.')).toEqual({
			kind: 'unreadable',
			problems: [
				'state/review_v1.review.raw.md:1: no-ready-line: no READY: line, expected exactly one line READY: yes or READY: no, outside lists, quotes and code fences',
			],
		});
	});

	it('that are too deeply nested to be kept go back to their author', () => {
		const answer = `## Summary\n\n${'> '.repeat(32)}a\n\nREADY: yes\n`;
		expect(judge('review_v0', answer)).toMatchObject({
			kind: 'unreadable',
			problems: [expect.stringContaining('too-nested')],
		});
	});

	it('are never anything that could not be committed', () => {
		const end = fc.constantFrom('READY: yes', 'READY: no', '- [major] x\n\nREADY: no', 'BLOCKED: x\n\nREADY: no');
		fc.assert(
			fc.property(hostileText(), end, fc.constantFrom('plan_v0_review', 'review_v1'), (text, ready, name) => {
				const judged = judge(name, `${text}\n\n${ready}\n`);
				if (judged.kind === 'unreadable') {
					expect(judged.problems).not.toEqual([]);
					return;
				}
				const checked = validateArtifact({
					stage: parseStage(name)!,
					path: `artifacts/${name}.md`,
					bytes: Buffer.from(judged.artifact),
					runStartRef: REF,
					raw: Buffer.from(judged.raw ?? ''),
				});
				expect(checked).toMatchObject({ problems: [], verdict: judged.verdict });
			}),
			{ numRuns: 200 },
		);
	});
});
