/** Everything that changes a run does so under its lock, after what an earlier command left half done is settled. */
import path from 'node:path';
import { removeTemporaries } from '../kit/atomic-file.ts';
import { CccError } from '../kit/errors.ts';
import { acquireLock, type Lock } from '../kit/lock.ts';
import { callsFolder, liveAttempts } from './attempts.ts';
import { recoverCommit } from './commit-stage.ts';
import { confirmRecordFiles } from './record-files.ts';
import { draftPath, parseStage } from './stages.ts';
import { reapVerifyCommand } from './verify-command.ts';

export const lockFolder = (folder: string): string => path.join(folder, 'state', 'lock');

/**
 * Runs `work` with the lock of the run. One command at a time: nobody waits.
 * @param purpose what the command does, for whoever finds the lock
 * @throws CccError `locked` (exit 4) naming the other coordinator, and what `confirmRecordFiles` refuses (exit 1)
 */
export async function withRunLock<T>(
	folder: string,
	purpose: string,
	now: () => Date,
	work: (lock: Lock) => Promise<T>,
): Promise<T> {
	const lock = await acquireLock(lockFolder(folder), { purpose }).catch(explainLocked);
	try {
		await confirmRecordFiles(folder);
		await recoverCommit(folder, lock, now());
		await reapVerifyCommand(folder);
		await sweepTemporaryFiles(folder);
		return await work(lock);
	} finally {
		await lock.release();
	}
}

/** Temporary files of writes that were cut; under the lock nobody else is writing, but a session its own stage. */
async function sweepTemporaryFiles(folder: string): Promise<void> {
	const folders = [folder, path.join(folder, 'artifacts'), path.join(folder, 'state'), callsFolder(folder)];
	const attempts = await liveAttempts(folder).catch(() => undefined);
	// Which of them is a draft cannot be told then, and a draft must not be lost.
	if (!attempts) return;
	const drafts = attempts.flatMap(({ purpose, stage }) => {
		const parsed = purpose === 'session' ? parseStage(stage) : undefined;
		return parsed ? [path.join(folder, draftPath(parsed))] : [];
	});
	for (const place of folders) await removeTemporaries(place, drafts);
}

/** The lock does not know that whoever holds it can be asked to stop. */
function explainLocked(error: unknown): never {
	if (!(error instanceof CccError) || error.code !== 'locked') throw error;
	throw new CccError(error.code, 'Another command works on this run.', {
		...error.facts,
		next: 'wait and look with ccc status <folder>, or end the run: ccc cancel <folder> "<reason>"',
	});
}
