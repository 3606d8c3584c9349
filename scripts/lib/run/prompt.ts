/** Assembles the prompt of a stage (protocol: Review Prompt Contract). Pure: everything it shows is handed in. */
import type { NumberedFinding } from './open-findings.ts';
import { fillTemplate, type PromptBlock, renderBlocks } from './prompt-template.ts';
import { halfOf, isReview, type Stage, stageName } from './stages.ts';

export const OVERFLOW_MESSAGE =
	'Reviewer prompt exceeds CCC_REVIEW_PROMPT_MAX_BYTES; narrow the task, reduce the diff, or raise the limit explicitly.';

export interface PromptTemplates {
	readonly plan: string;
	readonly plan_review: string;
	readonly code: string;
	readonly review: string;
	readonly correction: string;
}

export interface PromptFacts {
	readonly stage: Stage;
	readonly runStartRef: string;
	readonly task: string;
	/** The plan in force: the previous one for a planner, the one to judge or to carry out for the others. */
	readonly plan?: PromptBlock;
	/** The report of the coder: the previous one for a coder, the one to judge for a reviewer. */
	readonly code?: PromptBlock;
	/** The review that asks for this version, or that approved the plan with comments. */
	readonly review?: PromptBlock;
	/** Findings this version has to answer, or that a reviewer should follow up. */
	readonly openFindings: readonly NumberedFinding[];
	/** What the human said when asking for this version. */
	readonly direction?: string;
	/** Result of the verify command. */
	readonly verification?: string;
	/** Command the coordinator will run after the coder. */
	readonly verifyCommand?: string;
	/** The git outputs under review, with untracked files; already in headed, fenced blocks. */
	readonly surface?: string;
}

/** The exact stdin payload for the stage's owner. */
export function renderPrompt(templates: PromptTemplates, facts: PromptFacts): string {
	const { stage } = facts;
	const head = fillTemplate(templates[stage.kind], {
		stage: stageName(stage),
		version: String(stage.version),
		run_start_ref: facts.runStartRef,
		changes: changesRule(facts),
		previous: previousRule(facts),
	});
	const surface = facts.surface === undefined ? '' : `\n## Git outputs\n\n${facts.surface.trimEnd()}\n`;
	return `${head}\n${renderBlocks(blocksOf(facts))}${surface}`;
}

/** The same prompt again, with what was wrong with the answer. */
export function renderCorrection(
	templates: PromptTemplates,
	prompt: string,
	answer: string,
	problems: readonly string[],
): string {
	const blocks = renderBlocks([
		{ title: 'What is wrong', text: problems.join('\n') },
		{ title: 'Your previous answer', text: answer },
	]);
	return `${prompt.trimEnd()}\n\n# Correction\n\n${templates.correction.trimEnd()}\n\n${blocks}`;
}

function changesRule({ stage, openFindings }: PromptFacts): string {
	if (isReview(stage)) return '';
	const section = `Changes Since Previous ${halfOf(stage) === 'plan' ? 'Plan' : 'Code'} Version`;
	if (stage.version === 0) {
		const initial = halfOf(stage) === 'plan' ? 'Initial plan.' : 'Initial implementation.';
		return `The section ${section} holds exactly this text: ${initial}`;
	}
	const ids = openFindings.map(({ id }) => id);
	if (ids.length === 0) return `The section ${section} says what is different from the version before.`;
	return [
		`The section ${section} answers each open finding (${ids.join(', ')}) with a list item of one of these forms:`,
		'',
		`- ${ids[0]}: fixed, and how`,
		`- ${ids[0]}: rejected, because of what`,
		`- ${ids[0]}: deferred, until when or why`,
	].join('\n');
}

function previousRule({ stage, openFindings }: PromptFacts): string {
	if (stage.version === 0 || openFindings.length === 0) return '';
	return ' Check each answer to the findings of the previous review: what is claimed to be fixed and is not is a finding again. Speak of what is resolved in the Summary only: each item under Findings counts as one.';
}

function blocksOf(facts: PromptFacts): PromptBlock[] {
	const blocks: PromptBlock[] = [{ title: 'Task', text: facts.task }];
	for (const block of [facts.plan, facts.code, facts.review]) if (block) blocks.push(block);
	if (facts.direction !== undefined) {
		blocks.push({ title: 'Direction of the user for this version', text: facts.direction });
	}
	if (facts.openFindings.length > 0) {
		const text = facts.openFindings.map(({ id, severity, text }) => `${id} [${severity}] ${text}`).join('\n');
		blocks.push({ title: openTitle(facts.stage), text });
	}
	if (facts.verifyCommand !== undefined) {
		blocks.push({ title: 'Command that will be run to verify the result', text: facts.verifyCommand });
	}
	if (facts.verification !== undefined) {
		blocks.push({ title: 'Verification run by the coordinator', text: facts.verification });
	}
	return blocks;
}

function openTitle(stage: Stage): string {
	if (isReview(stage)) return 'Findings of the previous review';
	return stage.version === 0 ? 'Comments of the plan review' : 'Open findings to answer';
}
