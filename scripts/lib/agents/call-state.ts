/** What a call folder says about its call. Looking changes nothing. */
import { liveness } from '../kit/process-identity.ts';
import { type CallResult, lastOutputAt, readRequest, readResult, readSupervisor } from './call-folder.ts';

export interface CallActivity {
	/** Epoch milliseconds. */
	startedAt: number;
	/** Epoch milliseconds of the companion's last output, `startedAt` before the first. */
	lastActivityAt: number;
}

type CallState =
	| { state: 'none' }
	| ({ state: 'running' } & CallActivity)
	| { state: 'ended'; result: CallResult }
	| { state: 'lost' };

/** A supervisor that has not shown up after this time never will. */
const STARTUP_MS = 15_000;

/** A heartbeat comes every two seconds; one this old has stopped. */
const STALE_MS = 30_000;

/**
 * `none`: there is no request. `lost`: a request without result whose supervisor is dead, or did not appear within 15 s.
 * @throws CccError `bad-call-record`
 */
export async function callState(folder: string): Promise<CallState> {
	const early = await ended(folder);
	if (early !== undefined) return early;
	const request = await readRequest(folder);
	if (request === undefined) return { state: 'none' };
	const startedAt = Date.parse(request.startedAt);
	const supervisor = await supervisorState(folder);
	const starting = supervisor === 'absent' && Math.abs(Date.now() - startedAt) < STARTUP_MS;
	if (supervisor === 'alive' || starting) {
		return { state: 'running', startedAt, lastActivityAt: Math.max(startedAt, await lastOutputAt(folder)) };
	}
	// It may have written its result and gone between the two looks.
	return (await ended(folder)) ?? { state: 'lost' };
}

/** Where the supervisor's process cannot be seen (another boot or pid namespace) its heartbeat decides. */
export async function supervisorState(folder: string): Promise<'absent' | 'alive' | 'dead'> {
	const supervisor = await readSupervisor(folder);
	if (supervisor === undefined) return 'absent';
	const seen = await liveness(supervisor.identity);
	if (seen !== 'unknown') return seen;
	return supervisor.heartbeatAgeMs < STALE_MS ? 'alive' : 'dead';
}

async function ended(folder: string): Promise<CallState | undefined> {
	const result = await readResult(folder);
	return result && { state: 'ended', result };
}
