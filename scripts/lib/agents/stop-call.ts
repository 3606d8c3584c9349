/** Ending a call from outside: on request, or because its supervisor is gone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { removeTemporaries } from '../kit/atomic-file.ts';
import { CccError, EXIT, systemCode } from '../kit/errors.ts';
import { liveness } from '../kit/process-identity.ts';
import { killTree } from '../kit/process-tree.ts';
import {
	type CallRequest,
	callMarker,
	readCompanion,
	readRequest,
	readResult,
	readSupervisor,
	requestStop,
	resultOf,
	writeResult,
} from './call-folder.ts';
import { supervisorState } from './call-state.ts';
import { STOPPED } from './outcome.ts';

/** Longer than a supervisor needs to kill a tree that ignores SIGTERM and to take its second picture. */
const STOP_MS = 20_000;
const EXIT_MS = 2_000;

/**
 * Ends the call: asks its supervisor, kills what is left, and records the end where the supervisor did not. A call that
 * has ended already keeps its result. Afterwards nothing of the call runs.
 * @throws CccError `call-not-stopped` (exit 3) when something of it survives or runs where it cannot be reached
 */
export async function stopCall(folder: string): Promise<void> {
	const request = await readRequest(folder);
	if (request === undefined) return;
	await endCall(folder, request);
	if ((await readResult(folder)) === undefined) await writeResult(folder, resultOf(request, STOPPED));
}

/**
 * Kills what a lost call has left running and keeps a supervisor that is only late from starting it again.
 * @returns how many processes there were
 * @throws CccError `call-not-stopped` (exit 3)
 */
export async function reapCall(folder: string): Promise<number> {
	const request = await readRequest(folder);
	if (request !== undefined) return endCall(folder, request);
	// Cut before there was anything to start: no process, only a write that was never finished.
	await removeTemporaries(folder);
	return 0;
}

/** The stop file comes first: a supervisor claims the call, then looks for the file, so one of the two sees the other. */
async function endCall(folder: string, request: CallRequest): Promise<number> {
	await requestStop(folder);
	if ((await readResult(folder)) === undefined) await endSupervisor(folder);
	// It has nothing left to do but exit.
	await eventually(EXIT_MS, () => supervisorGone(folder));
	const companion = await livingCompanion(folder);
	const { killed, survivors } = await killTree({
		marker: callMarker(request.id).entry,
		...(companion === undefined ? {} : { pid: companion }),
	});
	if (survivors.length > 0) throw notStopped(folder, `pid ${survivors.join(', ')}`);
	await removeTemporaries(folder);
	return killed.length;
}

async function endSupervisor(folder: string): Promise<void> {
	const recorded = async () => (await readResult(folder)) !== undefined;
	await signalSupervisor(folder, 'SIGTERM');
	if (await eventually(STOP_MS, async () => (await recorded()) || (await supervisorGone(folder)))) return;
	await signalSupervisor(folder, 'SIGKILL');
	if (!(await eventually(EXIT_MS, () => supervisorGone(folder)))) throw notStopped(folder, 'its supervisor');
}

/** A pid means something only while the process with this very start time can be seen. */
async function signalSupervisor(folder: string, signal: NodeJS.Signals): Promise<void> {
	const supervisor = await readSupervisor(folder);
	if (supervisor === undefined || (await liveness(supervisor.identity)) !== 'alive') return;
	try {
		process.kill(supervisor.identity.pid, signal);
	} catch (error) {
		if (systemCode(error) !== 'ESRCH') throw error;
	}
}

const supervisorGone = async (folder: string): Promise<boolean> => (await supervisorState(folder)) !== 'alive';

async function eventually(withinMs: number, condition: () => Promise<boolean>): Promise<boolean> {
	const deadline = performance.now() + withinMs;
	while (!(await condition())) {
		if (performance.now() > deadline) return false;
		await sleep(50);
	}
	return true;
}

/** The companion's own process, which may have dropped the marker from its environment. */
async function livingCompanion(folder: string): Promise<number | undefined> {
	const identity = await readCompanion(folder);
	return identity !== undefined && (await liveness(identity)) === 'alive' ? identity.pid : undefined;
}

function notStopped(folder: string, what: string): CccError {
	return new CccError('call-not-stopped', 'A companion call could not be ended', {
		at: folder,
		found: `${what} is still running`,
		next: 'End it where it runs, then resume.',
		exitCode: EXIT.blocked,
	});
}
