/** Takes a run that a session coordinates to the next point where an agent or the user has to act. */
import { blockRun, isHardFailure } from './block-run.ts';
import type { Caller } from './caller.ts';
import type { Coordinator } from './coordinator.ts';
import type { Driver } from './driver.ts';
import { isCompletionRecorded, recordEvent } from './ledger.ts';
import { overrideReview } from './override-review.ts';
import { updateRunFile } from './run-file-update.ts';
import { prepareSessionAttempt } from './session-attempt.ts';
import { blockedOutput, onlyStage, outputOf, type SessionOutput } from './session-output.ts';
import { stopOtherCalls } from './stop-other-calls.ts';
import { nextStep } from './transitions.ts';
import { type RunState, readRunState } from './truth.ts';
import { turnOf } from './turn.ts';

/**
 * Writes run.md, attests a review again where auto mode wants it, and prepares what the session's own stage reads. Starts
 * no companion. A hard failure blocks the run and is in the output.
 */
export async function advance(by: Coordinator, driver: Driver, caller: Caller): Promise<SessionOutput> {
	const { folder, shown } = by.place;
	for (;;) {
		const state = await readRunState(folder);
		const step = nextStep(state, driver.mode);
		await updateRunFile(folder, state, step);
		if (step.kind === 'complete' && !(await isCompletionRecorded(folder))) {
			await recordEvent(folder, { event: 'complete' }, by.now());
		}
		const facts = { folder, shown, state, driver, caller };
		const turn = await turnOf(folder, state, driver);
		try {
			if (turn.kind === 'work' || turn.kind === 'call') await stopOtherCalls(folder, step);
			if (turn.kind === 'work') {
				const attempt = await prepareSessionAttempt(by, state, turn.stage, driver.sessionId);
				return onlyStage(await outputOf({ ...turn, attempt }, facts), driver.only);
			}
			if (turn.kind !== 'other' || turn.step.kind !== 'override') {
				return onlyStage(await outputOf(turn, facts), driver.only);
			}
			await overrideReview(by, state, turn.step.review);
		} catch (error) {
			if (!isHardFailure(error)) throw error;
			return block(by, state, error, facts);
		}
	}
}

/** The output for a hard failure, which is written down first. */
export async function block(
	by: Pick<Coordinator, 'place' | 'now'>,
	state: RunState,
	error: Parameters<typeof blockRun>[3],
	facts: Parameters<typeof blockedOutput>[2],
): Promise<SessionOutput> {
	// What the companion did to the records must not hide what is said about it.
	const current = await readRunState(by.place.folder).catch(() => state);
	const report = await blockRun(by, current, nextStep(current, facts.driver.mode), error);
	return blockedOutput(report, error.facts.next, { ...facts, state: current });
}
