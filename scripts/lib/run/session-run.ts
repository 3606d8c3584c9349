/** What the session commands share: where the run is, and the turn it is at. */

import type { Caller } from './caller.ts';
import { findCccHome, readPromptTemplates } from './ccc-home.ts';
import { confirmCommitted } from './confirm-committed.ts';
import { type Coordinator, coordinatorOf, type Surroundings } from './coordinator.ts';
import { confirmDriver, type Driver, settleTakeover } from './driver.ts';
import { withRunLock } from './locked-run.ts';
import { openRun } from './run-folder.ts';
import { onlyStage, outputOf, type SessionOutput } from './session-output.ts';
import { readRunState } from './truth.ts';
import { turnOf } from './turn.ts';

/**
 * Works on a run under its lock, as the session that drives it.
 * @throws CccError `other-coordinator` and `locked` (exit 4), `invalid-run` (exit 1)
 */
export async function asDriver<T>(
	shown: string,
	purpose: string,
	caller: Caller,
	context: Surroundings,
	work: (by: Coordinator, driver: Driver) => Promise<T>,
): Promise<T> {
	const place = await openRun(shown, context.cwd, context.env);
	const templates = await readPromptTemplates(await findCccHome(context.env.CCC_HOME, context.pack));
	return withRunLock(place.folder, purpose, context.now, async (lock) => {
		const driver = await confirmDriver(place.folder, caller.sessionId);
		await settleTakeover(place.folder, driver);
		await confirmCommitted(place.folder);
		return work(coordinatorOf({ place, lock, mode: driver.mode, templates }, context), driver);
	});
}

/** `next`: the packet the run is at. Takes no lock and changes nothing. @throws CccError `other-coordinator` (exit 4) */
export async function currentOutput(folder: string, shown: string, caller: Caller): Promise<SessionOutput> {
	const driver = await confirmDriver(folder, caller.sessionId);
	await confirmCommitted(folder);
	const state = await readRunState(folder);
	const output = await outputOf(await turnOf(folder, state, driver), { folder, shown, state, driver, caller });
	return onlyStage(output, driver.only);
}
