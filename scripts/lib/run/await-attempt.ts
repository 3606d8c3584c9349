/** Waits for a companion call that runs, was left by an earlier coordinator, or was lost. */
import { reapCall, stopCall, waitForCall } from '../agents/call.ts';
import type { CallResult } from '../agents/call-folder.ts';
import { takePicture } from '../git/guard.ts';
import { type Attempt, callFolderOf } from './attempts.ts';
import type { Coordinator } from './coordinator.ts';
import { confirmUntouched } from './guard-attempt.ts';

/**
 * @returns the result, or `lost` when nobody can say how the call ended (it is dead and gone, and left no change)
 * @throws the abort reason after the call was stopped; CccError `repository-changed` for a lost call that left changes
 */
export async function awaitAttempt(by: Coordinator, attempt: Attempt): Promise<CallResult | 'lost'> {
	const folder = callFolderOf(by.place.folder, attempt);
	const result = await waitForCall(folder, {
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
	}
	return result;
}
