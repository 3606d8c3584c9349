/** How a workflow command ended (protocol: Final Output). */
import { type CccError, EXIT, type ExitCode } from '../kit/errors.ts';
import { quoteWord } from '../kit/words.ts';
import { artifactPath, type Stage, stageName } from './stages.ts';
import { lastDone, type Step } from './transitions.ts';
import type { RunState } from './truth.ts';
import { deriveWorkflow, waitingFor } from './workflow-state.ts';

export interface RunReport {
	readonly folder: string;
	readonly stageCompleted: string;
	readonly nextAction: string;
	readonly status: 'active' | 'complete' | 'blocked' | 'canceled';
	readonly exitCode: ExitCode;
	/** Set while a human has to act: approve the next stage (manual mode), or decide about a review. */
	readonly waitingFor?: 'approval' | 'decision';
	/** Why the run is blocked or canceled. */
	readonly reason?: string;
	/** Stable code of a hard failure. */
	readonly code?: string;
	/** What to do next, as a command line or a sentence. */
	readonly next?: string;
}

/** The report of a run that stands where its truth says, without a hard failure. */
export function reportOf(folder: string, state: RunState, step: Step): RunReport {
	const { workflow, status } = deriveWorkflow(state, step);
	const last = lastDone(state.done);
	const common = { folder, stageCompleted: last ? stageName(last) : 'none', nextAction: workflow.nextAction, status };
	switch (step.kind) {
		case 'complete':
			return { ...common, exitCode: EXIT.ok };
		case 'canceled':
			return {
				...common,
				exitCode: EXIT.blocked,
				reason: step.reason,
				next: 'a canceled run is over: start a new one',
			};
		case 'decide':
			return {
				...common,
				exitCode: EXIT.blocked,
				waitingFor: 'decision',
				reason: waitingFor(step),
				code: 'decision-needed',
				next: decideAdvice(folder, step.review),
			};
		default:
			return { ...common, exitCode: EXIT.ok };
	}
}

/** The report of a run that a hard failure blocks. */
export function blockedReport(folder: string, state: RunState, step: Step, error: CccError): RunReport {
	return {
		...reportOf(folder, state, step),
		nextAction: 'blocked',
		status: 'blocked',
		exitCode: error.exitCode,
		reason: error.facts.found === undefined ? error.message : `${error.message} ${error.facts.found}`,
		code: error.code,
		next: andResume(error.facts.next, folder),
	};
}

/** The report of a command that changed a run but does not drive it: what comes next is a command line. */
export function changedReport(folder: string, state: RunState, step: Step): RunReport {
	const report = reportOf(folder, state, step);
	return report.status === 'active' ? { ...report, next: resumeCommand(folder) } : report;
}

/** @param review the review to decide about */
export function decideAdvice(folder: string, review: Stage): string {
	const artifact = quoteWord(`${folder}/${artifactPath(review)}`);
	return `read ${artifact}, then: ccc decide ${quoteWord(folder)} accept|revise "<reason>"`;
}

export const resumeCommand = (folder: string): string => `ccc run resume ${quoteWord(folder)}`;

/** Advice that names the run, for advice that was given without knowing how the user calls it. */
export function forFolder(advice: string, folder: string): string {
	// A replacement text would give a meaning to `$`.
	return advice.replaceAll('<folder>', () => quoteWord(folder));
}

function andResume(advice: string | undefined, folder: string): string {
	if (advice === undefined) return `when it is mended: ${resumeCommand(folder)}`;
	const named = forFolder(advice, folder);
	if (named.includes('ccc run resume')) return named;
	// The command says it better than these words.
	const bare = named
		.replace(/[.;,]$/, '')
		.replace(/[,;:]*(?: (?:and|then))? resume(?: the run)?$/, '')
		.replace(/[.;,:]$/, '');
	return `${bare}; then: ${resumeCommand(folder)}`;
}
