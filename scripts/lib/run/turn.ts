/** Whose turn it is in a run that a session coordinates. Pure, but for looking at what is there. */
import { callState } from '../agents/call.ts';
import { type Attempt, callFolderOf, latestAttempt } from './attempts.ts';
import type { Driver } from './driver.ts';
import { ownerOf, type Stage, stageName } from './stages.ts';
import { lastDone, nextStep, type Step } from './transitions.ts';
import type { RunState } from './truth.ts';

export type Turn =
	/** The session does this stage itself. */
	| { readonly kind: 'work'; readonly stage: Stage; readonly attempt: Attempt | undefined }
	/** A companion does it. */
	| { readonly kind: 'call'; readonly stage: Stage }
	/** manual mode: the user has to say to go on. */
	| { readonly kind: 'approval'; readonly step: Step }
	/** The run is over, or waits for a decision, or a review has to be attested again first. */
	| { readonly kind: 'other'; readonly step: Step };

export async function turnOf(folder: string, state: RunState, driver: Driver): Promise<Turn> {
	const step = nextStep(state, driver.mode);
	if (step.kind !== 'stage' && step.kind !== 'override') return { kind: 'other', step };
	if (awaitsApproval(state, driver)) return { kind: 'approval', step };
	if (step.kind === 'override') return { kind: 'other', step };
	const { stage } = step;
	if (ownerOf(stage, state.run.planCode) !== driver.session) return { kind: 'call', stage };
	const latest = await latestAttempt(folder, stage);
	if (latest?.handled !== undefined || latest === undefined) return { kind: 'work', stage, attempt: undefined };
	if (latest.purpose === 'session') return { kind: 'work', stage, attempt: latest };
	// The session took over from a headless coordinator whose companion is at work, or has answered.
	const call = await callState(callFolderOf(folder, latest));
	const usable = call.state === 'running' || call.state === 'ended';
	return usable ? { kind: 'call', stage } : { kind: 'work', stage, attempt: undefined };
}

/** What `approved` in driver.json is compared with. */
export function lastDoneName(state: RunState): string {
	const last = lastDone(state.done);
	return last ? stageName(last) : 'none';
}

/** In manual mode whoever begins, resumes or decides approves what is done by then, and nothing after it. */
function awaitsApproval(state: RunState, { mode, approved }: Driver): boolean {
	return mode === 'manual' && lastDoneName(state) !== (approved ?? 'none');
}
