import { callState, stopCall } from '../agents/call.ts';
import { callFolderOf, liveAttempts } from './attempts.ts';
import { stageName } from './stages.ts';
import type { Step } from './transitions.ts';

/** A decision or a repair may have made a call that still runs pointless. @param step what the run does next */
export async function stopOtherCalls(folder: string, step: Step): Promise<void> {
	const wanted = step.kind === 'stage' ? stageName(step.stage) : undefined;
	for (const attempt of await liveAttempts(folder)) {
		if (attempt.stage === wanted) continue;
		const call = callFolderOf(folder, attempt);
		if ((await callState(call)).state === 'running') await stopCall(call);
	}
}
