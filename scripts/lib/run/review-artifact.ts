/**
 * Renders a review artifact from what the reviewer said (protocol: Artifact Contracts). The reviewer's words are kept
 * whole: each finding becomes a list item and each quoted section a block quote, so that nothing in them can open or
 * close a section of the artifact.
 */
import type { Finding, Reading } from './attest.ts';
import { type Stage, stageName } from './stages.ts';
import type { Verdict } from './verdicts.ts';

export interface ReviewArtifactInput {
	readonly stage: Stage;
	/** `Claude` or `Codex`. */
	readonly reviewer: string;
	readonly reading: Reading;
	readonly verdict: Verdict;
	/** Number of the first finding: ids go on counting across versions. */
	readonly firstId: number;
	readonly runStartRef: string;
}

/** The text of `artifacts/<stage>.md`, ending in a newline. */
export function renderReviewArtifact(input: ReviewArtifactInput): string {
	const { stage, reading, verdict } = input;
	const isPlan = stage.kind === 'plan_review';
	const sections: [string, string][] = [['Summary', summaryOf(input)]];
	if (!isPlan) sections.push(['Diff Baseline', `run_start_ref: ${input.runStartRef}`]);
	sections.push(['Findings', findingList(input)]);
	if (!isPlan) sections.push(['Tests to Add', quoted(reading.testsToAdd)]);
	sections.push(['Questions', quoted(reading.questions)], ['Verdict', `VERDICT: ${verdict}`]);
	const title = isPlan ? `# Plan v${stage.version} Review` : `# Review v${stage.version}`;
	return `${title}\n\n${sections.map(([name, text]) => `## ${name}\n\n${text}\n`).join('\n')}`;
}

function summaryOf({ reviewer, reading, verdict, stage }: ReviewArtifactInput): string {
	const parts = [`${reviewer} said READY: ${reading.ready}, with ${countFindings(reading.findings)}.`];
	if (verdict === 'APPROVE_AUTO_OVERRIDE') parts.push(overrideLine(reading, stage));
	if (reading.blocked.length > 0) {
		parts.push(reading.blocked.map((reason) => quoted(`BLOCKED: ${reason}`)).join('\n'));
	}
	if (reading.summary !== '') parts.push(quoted(reading.summary));
	// A plan review has no section of its own for them.
	if (stage.kind === 'plan_review' && reading.testsToAdd !== '')
		parts.push(quoted(`Tests to add:\n\n${reading.testsToAdd}`));
	return parts.join('\n\n');
}

function overrideLine(reading: Reading, stage: Stage): string {
	const unresolved = reading.blocked.length > 0 ? 'a reported blocker' : countFindings(reading.findings);
	return `AUTO OVERRIDE: proceeding in auto mode despite ${unresolved}; no version is left after ${stageName(stage)}.`;
}

function countFindings(findings: readonly Finding[]): string {
	if (findings.length === 0) return 'no findings';
	const major = findings.filter((finding) => finding.severity === 'major').length;
	const total = findings.length === 1 ? '1 finding' : `${findings.length} findings`;
	return `${total} (${major} major, ${findings.length - major} minor)`;
}

/** `P` for plan findings, `C` for code findings. */
const findingLetter = (stage: Stage): 'P' | 'C' => (stage.kind === 'plan_review' ? 'P' : 'C');

function findingList({ stage, reading, firstId }: ReviewArtifactInput): string {
	if (reading.findings.length === 0) return 'None.';
	return reading.findings
		.map(({ severity, text }, index) => {
			const id = `${findingLetter(stage)}${firstId + index}`;
			return `- ${id} [${severity}] ${indented(text)}`;
		})
		.join('\n');
}

/** All that end a line in Markdown, so that no line can leave its container. */
const LINE_END = /\r\n?|\n/;

/** Continuation lines belong to the list item by their indentation, blank ones included. */
function indented(text: string): string {
	const [first = '', ...rest] = text.split(LINE_END);
	return [first, ...rest.map((line) => (line.trim() === '' ? '' : `  ${line}`))].join('\n');
}

function quoted(text: string): string {
	if (text === '') return 'None.';
	return text
		.split(LINE_END)
		.map((line) => (line === '' ? '>' : `> ${line}`))
		.join('\n');
}
