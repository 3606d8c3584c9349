import { describe, expect, it } from 'vitest';
import type { Baseline } from '../../scripts/lib/git/baseline.ts';
import { judgeAnswer } from '../../scripts/lib/run/judge-answer.ts';
import { stageForm } from '../../scripts/lib/run/stage-form.ts';
import { isReview, parseStage, type Stage } from '../../scripts/lib/run/stages.ts';

const REF = 'a'.repeat(40);
const AT_HEAD: Baseline = { kind: 'head', ref: REF } as Baseline;
const EMPTY: Baseline = { kind: 'empty_tree', ref: REF } as Baseline;

/** Writes what the form says, word by word, as somebody would who has never seen the protocol. */
function obey(form: readonly string[], answers: readonly string[]): string {
	return form
		.map((line) => {
			const [, heading = line, note = ''] = /^(#+ [^(]*?)(?: \((.*)\))?$/.exec(line) ?? [];
			const columns = /^a table with the columns (.*) and (.*)$/.exec(note);
			const table = columns ? `| ${columns[1]} | ${columns[2]} |` : undefined;
			const exactly = /^its whole text: (.*)$/.exec(note)?.[1];
			const lines = [...note.matchAll(/"([^"-][^"]*: [^"]+)"/g)].map((match) => match[1]).join('\n');
			const items = note.startsWith('an item per id') ? answers.map((id) => `- ${id}: fixed, so`).join('\n') : '';
			const body = table ? `${table}\n|---|---|\n| a.txt | x |` : (exactly ?? (items || lines || 'Text.'));
			return heading.startsWith('# ') ? heading : `${heading}\n\n${body}`;
		})
		.join('\n\n');
}

const judge = (stage: Stage, answer: string, idsToAnswer: readonly string[] = []) =>
	judgeAnswer({
		stage,
		owner: 'claude',
		answer,
		rounds: { plan: 9, code: 9 },
		mode: 'normal',
		runStartRef: REF,
		idsToAnswer: [...idsToAnswer],
		firstFindingNumber: 1,
	});

describe('the form of a stage', () => {
	it.each(['plan_v0', 'plan_v1', 'plan_v7', 'code_v0', 'code_v1', 'code_v7'])(
		'%s: what is written as it says is accepted',
		(name) => {
			const stage = parseStage(name) as Stage;
			const ids = stage.version === 0 ? [] : ['P1', 'P2'];
			for (const baseline of [AT_HEAD, EMPTY]) {
				const text = obey(stageForm(stage, { baseline, answers: ids.length > 0 }), ids);
				expect(judge(stage, text, ids)).toMatchObject({ kind: 'artifact' });
				if (ids.length > 0) expect(judge(stage, text, [...ids, 'P3'])).toMatchObject({ kind: 'unreadable' });
			}
		},
	);

	it.each(['plan_v0_review', 'plan_v1_review', 'review_v0', 'review_v2'])('%s is the reply form', (name) => {
		const stage = parseStage(name) as Stage;
		const form = stageForm(stage, { baseline: AT_HEAD, answers: true });
		expect(isReview(stage)).toBe(true);
		const headings = form.filter((line) => line.startsWith('## ')).map((line) => line.replace(/ \(.*/, ''));
		expect(form.join('\n')).not.toMatch(/VERDICT|^# /m);
		expect(headings.includes('## Tests to Add')).toBe(stage.kind === 'review');
		const say = (findings: string, end: string): string =>
			`${headings.map((head) => `${head}\n\n${head === '## Findings' ? findings : 'None.'}`).join('\n\n')}\n\n${end}\n`;
		const verdictOf = (text: string): unknown => (judge(stage, text) as { verdict?: string }).verdict;
		expect(verdictOf(say('None.', 'READY: yes'))).toBe('APPROVE');
		expect(verdictOf(say('- [minor] a nit', 'READY: yes'))).toBe('APPROVE_WITH_MINOR_COMMENTS');
		expect(verdictOf(say('- [major] wrong', 'READY: no'))).toBe('NEEDS_CHANGES');
		expect(verdictOf(say('None.', 'BLOCKED: no access\n\nREADY: no'))).toBe('BLOCKER');
	});

	it('no piece of it breaks the line it is shown on', () => {
		for (const name of ['plan_v0', 'plan_v0_review', 'code_v12', 'review_v12']) {
			const form = stageForm(parseStage(name) as Stage, { baseline: AT_HEAD, answers: true });
			for (const piece of form) expect(piece).not.toMatch(/[;\n]/);
		}
	});
});
