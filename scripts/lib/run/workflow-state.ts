/** Derives the Workflow State and Status of run.md from the truth (protocol: Run File). Pure. */
import type { RunFile } from './run-file.ts';
import { artifactPath, isReview, reviewOf, stageName } from './stages.ts';
import { effectiveRounds, lastDone, type Step, type Truth } from './transitions.ts';

export type WorkflowState = Pick<RunFile, 'workflow' | 'status'>;

/** @param blocked why the run cannot go on, for hard failures; a step that waits for a decision blocks by itself */
export function deriveWorkflow(truth: Truth, step: Step, blocked?: string): WorkflowState {
	const last = lastDone(truth.done);
	const review = last && (isReview(last) ? last : latestReview(truth));
	const latestVerdict: RunFile['workflow']['latestVerdict'] =
		(review && truth.verdicts.get(stageName(review))) ?? 'none';
	const common = {
		currentStage: last ? stageName(last) : 'none',
		latestArtifact: last ? artifactPath(last) : 'none',
		latestVerdict,
	};
	const ended = (status: 'complete' | 'blocked' | 'canceled', reason?: string): WorkflowState => ({
		workflow: { ...common, nextAction: status, ...(reason === undefined ? {} : { reason: oneLine(reason) }) },
		status,
	});
	if (step.kind === 'canceled') return ended('canceled', step.reason);
	if (blocked !== undefined) return ended('blocked', blocked);
	if (step.kind === 'complete') return ended('complete');
	if (step.kind === 'decide') return ended('blocked', waitingFor(step));
	const stage = step.kind === 'stage' ? step.stage : step.review;
	return {
		workflow: { ...common, currentStage: stageName(stage), nextAction: stageName(stage) },
		status: 'active',
	};
}

/** Why a run waits for a human, in one sentence. */
export function waitingFor({ review, verdict, versionLeft }: Extract<Step, { kind: 'decide' }>): string {
	const name = stageName(review);
	return versionLeft
		? `${name} reports a blocker: decide whether to accept or how to revise`
		: `${name} says ${verdict} and no version is left: decide whether to accept or to allow another version`;
}

/** The review of the highest version that is done, of the code half if it has any. */
function latestReview(truth: Truth) {
	const rounds = effectiveRounds(truth);
	for (const half of ['code', 'plan'] as const) {
		for (let version = rounds[half]; version >= 0; version--) {
			const review = reviewOf({ kind: half, version });
			if (truth.done.has(stageName(review))) return review;
		}
	}
	return undefined;
}

/** run.md keeps reasons on one line; whatever the text held, it cannot become a key or a heading. */
export function oneLine(text: string): string {
	return text
		.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\s]+/g, ' ')
		.trim()
		.slice(0, 300)
		.replace(/[\ud800-\udbff]$/, '');
}
