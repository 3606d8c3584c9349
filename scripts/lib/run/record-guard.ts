/**
 * While a companion works nobody else writes the records of the run. They lie in the working tree, where a coder may
 * write: what it changes there (an earlier verdict, a `.done` file) must not be believed afterwards.
 */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { readIfExists } from '../kit/atomic-file.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { sha256 } from '../kit/sha256.ts';
import { cancelRequestFile } from './cancel-run.ts';

export type Records = ReadonlyMap<string, string>;

/** SHA-256 by path for everything a later step is decided from; `state/calls` and the lock have their own owners. */
export async function readRecords(folder: string): Promise<Records> {
	const records = new Map<string, string>();
	for (const place of ['.', 'artifacts', 'state']) {
		const entries = await readdir(path.join(folder, place), { withFileTypes: true }).catch(() => []);
		for (const entry of entries) {
			const file = path.posix.join(place, entry.name);
			// Whoever asks for a cancellation writes this one, by whatever temporary name.
			const isRequest = path.join(folder, file).startsWith(cancelRequestFile(folder));
			if (entry.isDirectory() || isRequest) continue;
			const bytes = entry.isFile() ? await readIfExists(path.join(folder, file)) : undefined;
			records.set(file, bytes ? sha256(bytes) : 'not a regular file');
		}
	}
	return records;
}

/** @throws CccError `records-changed` (exit 3) naming the files */
export function confirmRecords(stage: string, before: Records, after: Records): void {
	const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
		(file) => before.get(file) !== after.get(file),
	);
	if (changed.length === 0) return;
	throw new CccError('records-changed', 'The records of the run changed while a companion worked.', {
		at: stage,
		found: changed.sort().join(', '),
		next: 'restore those files, or start a new run; look at what the companion did',
		exitCode: EXIT.blocked,
	});
}

/**
 * A companion that cleans the working tree takes the run with it; nothing may be written into what is left.
 * @param shown the run folder as the user wrote it
 * @throws CccError `records-gone` (exit 1): there is no run any more that could be blocked
 */
export async function confirmPresent(folder: string, shown: string): Promise<void> {
	if ((await readIfExists(path.join(folder, 'run.md'))) !== undefined) return;
	throw new CccError('records-gone', 'The run folder was deleted while a companion worked.', {
		at: shown,
		next: 'look at what the companion did, then start a new run',
	});
}
