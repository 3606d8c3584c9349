/** `cancel` (protocol: Cancel): records the reason, ends what runs, deletes nothing. */
import { lstat, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callState, stopCall } from '../agents/call.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import type { Lock } from '../kit/lock.ts';
import { callFolderOf, liveAttempts } from './attempts.ts';
import { readDecisions, recordDecision } from './decisions.ts';
import { recordEvent } from './ledger.ts';
import { withRunLock } from './locked-run.ts';
import { updateRunFile } from './run-file-update.ts';
import { type RunReport, reportOf } from './run-report.ts';
import { stageName } from './stages.ts';
import { nextStep } from './transitions.ts';
import { doneStages, type RunState, readRunFile, readRunState } from './truth.ts';

/** The coordinator at work was asked to stop; whoever asked records the cancellation. */
export class CancelRequested extends Error {
	override readonly name = 'CancelRequested';
}

export const cancelRequestFile = (folder: string): string => path.join(folder, 'state', 'cancel.request');

/** How long a coordinator that works at the moment gets to end its companion and let go of the run. */
const PATIENCE_MS = 30_000;

export interface CancelOptions {
	readonly folder: string;
	readonly shown: string;
	readonly reason: string;
	readonly now: () => Date;
}

/**
 * Cancels a run, also one that another command is working on: that one is asked to stop.
 * @throws CccError `already-canceled` (exit 3), `nothing-to-cancel` (exit 2) for a complete run, `locked` (exit 4) when the other command does not let go in time
 */
export async function cancelRun(options: CancelOptions): Promise<RunReport> {
	const deadline = options.now().getTime() + PATIENCE_MS;
	for (;;) {
		try {
			return await withRunLock(options.folder, 'cancel', options.now, (lock) => cancelLocked(options, lock));
		} catch (error) {
			const locked = error instanceof CccError && error.code === 'locked';
			if (!locked || options.now().getTime() > deadline) throw error;
			// Its existence says all, and whoever holds the lock sweeps temporary files: no atomic write.
			await writeFile(cancelRequestFile(options.folder), '');
			await sleep(250);
		}
	}
}

/** Whether somebody wants the coordinator of this run to stop. */
export async function cancelRequested(folder: string): Promise<boolean> {
	return (await lstat(cancelRequestFile(folder)).catch(() => undefined)) !== undefined;
}

async function cancelLocked({ folder, shown, reason, now }: CancelOptions, lock: Lock): Promise<RunReport> {
	await rm(cancelRequestFile(folder), { force: true });
	// Refused before anything is recorded when even run.md cannot be read.
	const { status } = await readRunFile(folder);
	const earlier = (await readDecisions(folder)).find(({ decision }) => decision === 'cancel');
	// One that was killed before it wrote run.md is finished now.
	if (earlier && status === 'canceled') {
		throw new CccError('already-canceled', 'This run is canceled already.', {
			at: shown,
			found: earlier.reason,
			exitCode: EXIT.blocked,
		});
	}
	if (status === 'complete' && !earlier) {
		throw new CccError('nothing-to-cancel', 'This run is complete: there is nothing to cancel.', {
			at: shown,
			next: 'to have another version: ccc decide <folder> revise "<reason>"',
			exitCode: EXIT.usage,
		});
	}
	for (const attempt of await liveAttempts(folder)) {
		const call = callFolderOf(folder, attempt);
		if ((await callState(call)).state === 'running') await stopCall(call);
	}
	await lock.assertHeld();
	if (!earlier) {
		await recordDecision(folder, { decision: 'cancel', reason, time: now().toISOString() });
		await recordEvent(folder, { event: 'cancel', reason }, now());
	}
	const state = await readRunState(folder).catch((error) => stateOfBroken(folder, error));
	const step = nextStep(state, 'normal');
	await updateRunFile(folder, state, step);
	return { ...reportOf(shown, state, step), exitCode: EXIT.ok };
}

/** A run whose files do not fit together can still be canceled: what is done is known, what it is worth need not be. */
async function stateOfBroken(folder: string, error: unknown): Promise<RunState> {
	if (!(error instanceof CccError)) throw error;
	const run = await readRunFile(folder);
	const done = new Set((await doneStages(folder)).map(stageName));
	return { run, task: '', rounds: run.rounds, done, verdicts: new Map(), decisions: await readDecisions(folder) };
}

const CANCEL_POLL_MS = 500;

/** Aborts once somebody wants the coordinator of this run to stop; returns what ends the watch. */
export function watchForCancel(folder: string, controller: AbortController): () => void {
	const timer = setInterval(() => {
		cancelRequested(folder).then(
			(requested) => {
				if (requested) controller.abort(new CancelRequested());
			},
			() => {},
		);
	}, CANCEL_POLL_MS);
	return () => clearInterval(timer);
}

/** How long the coordinator that let go waits for the cancellation to be recorded. */
const RECORD_PATIENCE_MS = 10_000;

/** The report of a coordinator that stopped because of a request. */
export async function canceledReport(folder: string, shown: string): Promise<RunReport> {
	const deadline = Date.now() + RECORD_PATIENCE_MS;
	for (;;) {
		const state = await readRunState(folder);
		const step = nextStep(state, 'normal');
		if (step.kind === 'canceled' || Date.now() > deadline) return reportOf(shown, state, step);
		await sleep(100);
	}
}
