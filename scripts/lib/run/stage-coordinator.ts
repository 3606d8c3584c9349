/**
 * The process that has a companion do one stage for a session. It lives on when the command that started it ends, holds
 * the run's lock, and does all that `ccc run` does for a stage: prompt, guard, correction, commit. Whoever waits for it
 * only reads files.
 */

import { rm } from 'node:fs/promises';
import { CccError, EXIT } from '../kit/errors.ts';
import { inspectLock } from '../kit/lock.ts';
import { advance } from './advance.ts';
import { blockRun, isHardFailure } from './block-run.ts';
import { clearCallRecord, failureOf, writeCallRecord } from './call-record.ts';
import type { Caller } from './caller.ts';
import { CancelRequested, cancelRequestFile, watchForCancel } from './cancel-run.ts';
import { findCccHome, readPromptTemplates } from './ccc-home.ts';
import { confirmCommitted } from './confirm-committed.ts';
import { type Coordinator, coordinatorOf, type Surroundings } from './coordinator.ts';
import { confirmDriver, type Driver, settleTakeover } from './driver.ts';
import { lockFolder, withRunLock } from './locked-run.ts';
import { performStage } from './perform-stage.ts';
import { refuseSandbox } from './refuse-sandbox.ts';
import { openRun } from './run-folder.ts';
import { stageName } from './stages.ts';
import { stopOtherCalls } from './stop-other-calls.ts';
import { nextStep } from './transitions.ts';
import { readRunState } from './truth.ts';
import { turnOf } from './turn.ts';

export interface StageOrder {
	/** Absolute run folder. */
	readonly folder: string;
	readonly caller: Caller;
}

/** The lock's purpose while a stage coordinator works. */
const PURPOSE = 'call';

/** Whether a stage coordinator is at work for this run. */
export async function isStageUnderWay(folder: string): Promise<boolean> {
	const lock = await inspectLock(lockFolder(folder));
	return lock?.alive === true && lock.record.purpose === PURPOSE;
}

/**
 * Has the stage done that is due, then prepares what comes next. How it ended is in `state/call.json` and in the run.
 * @throws CccError `locked` (exit 4), `other-coordinator` (exit 4), `companion-sandboxed` (exit 5), and what nobody could foresee
 */
export async function coordinateStage(order: StageOrder, context: Surroundings): Promise<void> {
	await refuseSandbox(context.env);
	const { folder, caller } = order;
	const place = await openRun(folder, context.cwd, context.env);
	const templates = await readPromptTemplates(await findCccHome(context.env.CCC_HOME, context.pack));
	const controller = new AbortController();
	const signal = AbortSignal.any([context.signal, controller.signal]);
	await withRunLock(folder, PURPOSE, context.now, async (lock) => {
		await rm(cancelRequestFile(folder), { force: true });
		const driver = await confirmDriver(folder, caller.sessionId);
		await settleTakeover(folder, driver);
		await confirmCommitted(folder);
		const by = coordinatorOf({ place, lock, mode: driver.mode, templates }, { ...context, signal });
		const stopWatching = watchForCancel(folder, controller);
		try {
			await carryOut(by, driver, order);
		} catch (error) {
			if (!(error instanceof CancelRequested)) throw error;
			await clearCallRecord(folder);
		} finally {
			stopWatching();
		}
	});
}

function unexpected(error: unknown): CccError {
	const said = error instanceof Error ? error.message : String(error);
	return new CccError('internal', `Unexpected failure in ccc: ${said}`, {
		next: 'run the command again; what failed is in state/coordinator/output.log',
		exitCode: EXIT.internal,
	});
}

async function carryOut(by: Coordinator, driver: Driver, { folder, caller }: StageOrder): Promise<void> {
	const state = await readRunState(folder);
	const turn = await turnOf(folder, state, driver);
	if (turn.kind !== 'call') return;
	const record = { stage: stageName(turn.stage), startedAt: by.now().toISOString() };
	await writeCallRecord(folder, record);
	const step = nextStep(state, driver.mode);
	try {
		await stopOtherCalls(folder, step);
		await performStage(by, state, turn.stage);
		// What the session reads for its next stage may take the verify command: nobody should wait for that either.
		await advance(by, driver, caller);
		await clearCallRecord(folder);
	} catch (error) {
		if (error instanceof CancelRequested) throw error;
		if (!(error instanceof CccError)) {
			// Whoever waits would otherwise be told to call again, for ever.
			await writeCallRecord(folder, { ...record, failure: failureOf(unexpected(error), false) });
			throw error;
		}
		const blocks = isHardFailure(error);
		if (blocks) await blockRun(by, await readRunState(folder).catch(() => state), step, error);
		const failure = failureOf(error, blocks);
		await writeCallRecord(folder, { ...record, failure });
	}
}
