/** The form of what a stage has to write, in the fewest words that leave nothing open (protocol: Artifact Contracts). Pure. */
import type { Baseline } from '../git/baseline.ts';
import { contractOf } from './contracts.ts';
import { halfOf, isReview, type Stage } from './stages.ts';

interface FormFacts {
	readonly baseline: Baseline;
	/** Whether open findings have to be answered in the last section. */
	readonly answers: boolean;
}

/** The title line and the headings in their order, each with what its section must hold. */
export function stageForm(stage: Stage, facts: FormFacts): string[] {
	return isReview(stage) ? reviewForm(stage) : artifactForm(stage, facts);
}

function artifactForm(stage: Stage, { baseline, answers }: FormFacts): string[] {
	const { title, sections, changes, baseline: git, table } = contractOf(stage);
	const head = baseline.kind === 'head' ? baseline.ref : 'none';
	// The last section of a first version holds nothing else.
	const comments = stage.kind === 'code' && stage.version === 0 && answers;
	const notes = new Map<string | undefined, string>([
		['Implementation Details', comments ? '(with what became of the ids in ANSWER)' : ''],
		[table?.section, `(a table with the columns ${table?.header.join(' and ')})`],
		[git?.section, `(two lines: "run_start_ref: ${baseline.ref}" and "current_head: ${head}")`],
		[changes?.section, changesNote(stage, changes?.initial, answers)],
	]);
	return [`# ${title}`, ...sections.map((name) => [`## ${name}`, notes.get(name)].filter(Boolean).join(' '))];
}

function changesNote(stage: Stage, initial: string | undefined, answers: boolean): string {
	if (stage.version === 0) return `(its whole text: ${initial})`;
	const id = halfOf(stage) === 'plan' ? 'P1' : 'C1';
	return answers ? `(an item per id in ANSWER: "- ${id}: fixed, rejected or deferred, and how or why")` : '';
}

/** The reply form of the prompt templates: the artifact is made from it, so it has no title and no verdict. */
function reviewForm(stage: Stage): string[] {
	const tests = stage.kind === 'review' ? ['## Tests to Add'] : [];
	return [
		'## Summary',
		'## Findings (only what is wrong now, an item each: "- [major] ..." or "- [minor] ...", or None.)',
		...tests,
		'## Questions',
		'if something outside the change makes judging impossible or unsafe, a line "BLOCKED: why"',
		'last line exactly "READY: yes" or "READY: no"',
	];
}
