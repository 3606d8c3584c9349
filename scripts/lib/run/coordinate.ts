/** Drives a run from wherever it stands to the next point where it must stop (protocol: Modes, Transitions, Resume). */
import { quoteWord } from '../kit/words.ts';
import { blockRun, isHardFailure } from './block-run.ts';
import type { Coordinator } from './coordinator.ts';
import { isCompletionRecorded, recordEvent } from './ledger.ts';
import { overrideReview } from './override-review.ts';
import { performStage } from './perform-stage.ts';
import { updateRunFile } from './run-file-update.ts';
import { type RunReport, reportOf } from './run-report.ts';
import { stopOtherCalls } from './stop-other-calls.ts';
import { nextStep } from './transitions.ts';
import { readRunState } from './truth.ts';

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
			await stopOtherCalls(folder, step);
			if (step.kind === 'stage') await performStage(by, state, step.stage);
			else await overrideReview(by, state, step.review);
		} catch (error) {
			if (!isHardFailure(error)) throw error;
			// What the companion did to the records must not hide what is said about it.
			return blockRun(by, await readRunState(folder).catch(() => state), step, error);
		}
	}
}
