/** One at a time per folder, among processes that may die, pause, or live in another pid namespace. */
import { randomUUID } from 'node:crypto';
import { utimes } from 'node:fs/promises';
import { makeFolder } from './atomic-file.ts';
import { CccError, EXIT, systemCode } from './errors.ts';
import {
	generationFile,
	type LockRecord,
	listGenerations,
	lockStore,
	readRecord,
	sweepTemporaries,
	writeReleased,
} from './lock-files.ts';
import { contend, highest } from './lock-generations.ts';
import { ownIdentity } from './process-identity.ts';

export type { LockRecord };

export interface Lock {
	readonly record: LockRecord;
	/** @throws CccError `lock-lost` (exit 4) once released, taken over, or removed */
	assertHeld(): Promise<void>;
	/** Lets the next one in. May be called again, and after the lock was lost; touches no record of others. */
	release(): Promise<void>;
}

const HEARTBEAT_MS = 2000;
const STALE_MS = 30_000;

/**
 * Takes the lock of `folder` (made when missing, used for nothing else) or fails at once. Not reentrant: a second call
 * in the same process is refused too.
 * @param options.purpose what it is taken for; shown to those who find it taken
 * @param options.heartbeatMs how often the record's time is refreshed, for onlookers in other pid namespaces
 * @param options.staleMs how old the heartbeat of such an owner may be before it counts as dead
 * @throws CccError `locked` (exit 4); `lock-folder` (exit 1) when the folder cannot be used
 */
export async function acquireLock(
	folder: string,
	options: { purpose: string; heartbeatMs?: number; staleMs?: number },
): Promise<Lock> {
	const staleMs = options.staleMs ?? STALE_MS;
	const record: LockRecord = {
		token: randomUUID(),
		owner: await ownIdentity(),
		purpose: options.purpose,
		acquiredAt: new Date().toISOString(),
	};
	const generation = await win(folder, record, staleMs);
	return holdLock(folder, generation, record, options.heartbeatMs ?? HEARTBEAT_MS);
}

/** Who has, or last had, the lock; undefined when nobody ever had it or it was released. Changes nothing. */
export async function inspectLock(
	folder: string,
	options: { staleMs?: number } = {},
): Promise<{ record: LockRecord; alive: boolean } | undefined> {
	for (;;) {
		const latest = highest(await listGenerations(folder));
		if (latest === 0) return undefined;
		const found = await readRecord(generationFile(folder, latest), options.staleMs ?? STALE_MS);
		// A record read while it was overtaken says nothing about the lock.
		if (highest(await listGenerations(folder)) === latest) return found;
	}
}

async function win(folder: string, record: LockRecord, staleMs: number): Promise<number> {
	try {
		await makeFolder(folder);
		const store = lockStore(folder, record, staleMs);
		try {
			const outcome = await contend(store);
			if (!('won' in outcome)) throw locked(folder, outcome.lostTo);
			// Leftovers only cost space; the lock is won.
			await sweepTemporaries(folder, staleMs).catch(() => undefined);
			return outcome.won;
		} finally {
			await store.cleanUp();
		}
	} catch (error) {
		if (error instanceof CccError || systemCode(error) === undefined) throw error;
		throw new CccError('lock-folder', 'The lock cannot be taken in this folder', {
			at: folder,
			expected: 'a folder that can be made and written',
			found: error instanceof Error ? error.message : String(error),
			next: 'make the folder writable, then try again',
			cause: error,
		});
	}
}

function holdLock(folder: string, generation: number, record: LockRecord, heartbeatMs: number): Lock {
	const file = generationFile(folder, generation);
	const beat = setInterval(() => {
		const now = new Date();
		// A record that is gone was taken over: assertHeld tells, a timer cannot.
		utimes(file, now, now).catch(() => undefined);
	}, heartbeatMs);
	beat.unref();
	const isHeld = async (): Promise<boolean> => {
		if (highest(await listGenerations(folder)) !== generation) return false;
		return (await readRecord(file, STALE_MS))?.record.token === record.token;
	};
	const giveUp = async (): Promise<void> => {
		clearInterval(beat);
		if (!(await isHeld())) return;
		try {
			await writeReleased(folder, generation, record.token);
		} catch (error) {
			// The temporary file was taken for a leftover: once more. Or the folder is gone, and the lock with it.
			if (systemCode(error) !== 'ENOENT') throw error;
			if (await isHeld()) await writeReleased(folder, generation, record.token);
		}
	};
	let released: Promise<void> | undefined;
	return {
		record,
		assertHeld: async () => {
			if (released !== undefined || !(await isHeld())) throw lost(folder, record);
		},
		release: () => {
			released ??= giveUp();
			return released;
		},
	};
}

function locked(folder: string, holder: LockRecord | undefined): CccError {
	const { purpose, owner, acquiredAt } = holder ?? {};
	return new CccError('locked', 'Another process is at work here', {
		at: folder,
		expected: 'a free lock',
		found:
			owner === undefined
				? 'a lock that keeps changing hands'
				: `${purpose}, process ${owner.pid} on ${owner.host}, since ${acquiredAt}`,
		next: owner === undefined ? 'try again' : `wait until it has ended; if it hangs, end process ${owner.pid}`,
		exitCode: EXIT.otherCoordinator,
	});
}

function lost(folder: string, record: LockRecord): CccError {
	return new CccError('lock-lost', 'The lock is no longer ours', {
		at: folder,
		expected: `the lock taken for ${record.purpose} at ${record.acquiredAt}`,
		found: 'a lock that was released, taken over or removed',
		next: 'nothing more is written; look at who works there now, then start the command again',
		exitCode: EXIT.otherCoordinator,
	});
}
