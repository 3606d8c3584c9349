/** Drives a run from wherever it stands to the next point where it must stop (protocol: Modes, Transitions, Resume). */
import { callState, stopCall } from '../agents/call.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { quoteWord } from '../kit/words.ts';
import { callFolderOf, liveAttempts } from './attempts.ts';
import type { Coordinator } from './coordinator.ts';
import { isCompletionRecorded, recordEvent } from './ledger.ts';
import { overrideReview } from './override-review.ts';
import { performStage } from './perform-stage.ts';
import { updateRunFile } from './run-file-update.ts';
import { blockedReport, type RunReport, reportOf } from './run-report.ts';
import { ownerOf, stageName } from './stages.ts';
import { nextStep, type Step } from './transitions.ts';
import { type RunState, readRunState } from './truth.ts';

/**
 * Performs stages until the run is complete, canceled or blocked, or, in manual mode, until one stage is done.
 * @throws the abort reason when interrupted; CccError with exit 1 for a run folder that has to be repaired first
 */
export async function coordinate(by: Coordinator): Promise<RunReport> {
	const { folder, shown } = by.place;
	for (let performed = 0; ; performed++) {
		const state = await readRunState(folder);
		const step = nextStep(state, by.mode);
		await updateRunFile(folder, state, step);
		if (step.kind === 'complete' && !(await isCompletionRecorded(folder))) {
			await recordEvent(folder, { event: 'complete' }, by.now());
		}
		if (step.kind !== 'stage' && step.kind !== 'override') return reportOf(shown, state, step);
		if (by.mode === 'manual' && performed > 0) {
			const next = `to approve and go on: ccc run resume ${quoteWord(shown)} manual`;
			return { ...reportOf(shown, state, step), waitingFor: 'approval', next };
		}
		try {
			await stopOtherCalls(by, step);
			if (step.kind === 'stage') await performStage(by, state, step.stage);
			else await overrideReview(by, state, step.review);
		} catch (error) {
			if (!isHardFailure(error)) throw error;
			// What the companion did to the records must not hide what is said about it.
			return block(by, await readRunState(folder).catch(() => state), step, error);
		}
	}
}

function isHardFailure(error: unknown): error is CccError {
	return error instanceof CccError && (error.exitCode === EXIT.blocked || error.exitCode === EXIT.companion);
}

async function block(by: Coordinator, state: RunState, step: Step, error: CccError): Promise<RunReport> {
	const { folder, shown } = by.place;
	const report = blockedReport(shown, state, step, error);
	await updateRunFile(folder, state, step, `${error.code}: ${report.reason ?? error.message}`);
	const stage =
		step.kind === 'stage' ? { stage: stageName(step.stage), owner: ownerOf(step.stage, state.run.planCode) } : {};
	await recordEvent(
		folder,
		{ event: 'blocked', ...stage, result: error.code, ...(report.reason ? { reason: report.reason } : {}) },
		by.now(),
	);
	return report;
}

/** A decision or a repair may have made a call that still runs pointless. */
async function stopOtherCalls(by: Coordinator, step: Step): Promise<void> {
	const wanted = step.kind === 'stage' ? stageName(step.stage) : undefined;
	for (const attempt of await liveAttempts(by.place.folder)) {
		if (attempt.stage === wanted) continue;
		const call = callFolderOf(by.place.folder, attempt);
		if ((await callState(call)).state === 'running') await stopCall(call);
	}
}
