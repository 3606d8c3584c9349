/** Waits for a companion call that runs, was left by an earlier coordinator, or was lost. */
import { callState, reapCall, stopCall, waitForCall } from '../agents/call.ts';
import { type CallResult, stopRequested } from '../agents/call-folder.ts';
import { takePicture } from '../git/guard.ts';
import { type Attempt, callFolderOf } from './attempts.ts';
import type { Coordinator } from './coordinator.ts';
import { confirmUntouched } from './guard-attempt.ts';

/**
 * @returns the result, or `lost` when nobody can say how the call ended (it is dead and gone, and left no change), when
 *   it was never started, or when a coordinator that died had it stopped: none of these is the companion's failure
 * @throws the abort reason after the call was stopped; CccError `repository-changed` for a lost call that left changes
 */
export async function awaitAttempt(by: Coordinator, attempt: Attempt): Promise<CallResult | 'lost'> {
	const folder = callFolderOf(by.place.folder, attempt);
	const result = await settled(by, attempt, folder);
	if (by.signal.aborted) {
		await stopCall(folder);
		by.signal.throwIfAborted();
	}
	if (result === 'still-running') throw new Error(`waiting for ${attempt.stage} ended early`);
	if (result === 'lost') {
		await reapCall(folder);
		if (!attempt.stage.startsWith('code_')) {
			confirmUntouched(attempt, await takePicture(by.place.repository, attempt.exclude));
		}
		return 'lost';
	}
	return result.outcome.kind !== 'answered' && (await stopRequested(folder)) ? 'lost' : result;
}

async function settled(
	by: Coordinator,
	attempt: Attempt,
	folder: string,
): Promise<Awaited<ReturnType<typeof waitForCall>>> {
	// An attempt is recorded before its call: a coordinator that died in between has started nothing.
	if ((await callState(folder)).state === 'none') return 'lost';
	return waitForCall(folder, {
		signal: by.signal,
		onActivity: ({ startedAt, lastActivityAt }) => {
			const now = by.now().getTime();
			by.report({
				kind: 'stage-working',
				stage: attempt.stage,
				elapsedMs: now - startedAt,
				idleMs: now - lastActivityAt,
			});
		},
	});
}
