/**
 * While a companion works nobody else writes the records of the run. They lie in the working tree, where a coder may
 * write: what it does to them (an earlier verdict, a decision, a `.done` file, an attempt at a stage to come) must not be
 * believed afterwards. So they are held in memory during a call, compared at its end, and put back.
 */
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, readIfExists, renameSynced, writeFileAtomic } from '../kit/atomic-file.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { newAsideFolder } from './aside.ts';
import { cancelRequestFile } from './cancel-run.ts';
import { TAKEOVER } from './driver.ts';

/** Content by path relative to the run folder; undefined for anything but a regular file. */
export type Records = ReadonlyMap<string, Buffer | undefined>;

/** The folders whose files a later step is decided from; call folders and the lock have their own owners. */
const PLACES = ['.', 'artifacts', 'state', 'state/calls'];

export async function readRecords(folder: string): Promise<Records> {
	const records = new Map<string, Buffer | undefined>();
	for (const place of PLACES) {
		const entries = await readdir(path.join(folder, place), { withFileTypes: true }).catch(() => []);
		for (const entry of entries) {
			const file = path.posix.join(place, entry.name);
			// Whoever asks for a cancellation, or takes over, writes these by whatever temporary name.
			const isRequest = path.join(folder, file).startsWith(cancelRequestFile(folder)) || file.startsWith(TAKEOVER);
			if (entry.isDirectory() || isRequest) continue;
			records.set(file, entry.isFile() ? await readIfExists(path.join(folder, file)) : undefined);
		}
	}
	return records;
}

/**
 * Compares the records with what they were before the call, puts back what changed, and keeps what stood there instead
 * in `state/aside/`.
 * @throws CccError `records-changed` (exit 3) naming the files, `records-gone` (exit 1) where there is no run any more
 */
export async function confirmRecords(folder: string, shown: string, stage: string, before: Records): Promise<void> {
	await confirmPresent(folder, shown);
	const after = await readRecords(folder);
	const changed = [...new Set([...before.keys(), ...after.keys()])].filter((file) => !same(file, before, after)).sort();
	if (changed.length === 0) return;
	const aside = await newAsideFolder(folder, 'records');
	for (const file of changed) await putBack(folder, aside, file, before.get(file));
	throw new CccError('records-changed', 'The records of the run changed while a companion worked.', {
		at: stage,
		found: changed.join(', '),
		next: `they were put back, and what stood there is in ${path.relative(folder, aside)}; look at what the companion did, then resume`,
		exitCode: EXIT.blocked,
	});
}

function same(file: string, before: Records, after: Records): boolean {
	const [old, now] = [before.get(file), after.get(file)];
	return before.has(file) && after.has(file) && old !== undefined && now !== undefined && old.equals(now);
}

async function putBack(folder: string, aside: string, file: string, content: Buffer | undefined): Promise<void> {
	const place = path.join(folder, file);
	const parent = path.dirname(place);
	// A folder that became a link would take what is put back to somewhere else.
	if (await isOther(parent)) await renameSynced(parent, path.join(aside, path.basename(parent)));
	await makeFolder(parent);
	if (await lstat(place).catch(() => undefined)) await renameSynced(place, path.join(aside, file.replaceAll('/', '.')));
	if (content !== undefined) await writeFileAtomic(place, content);
}

async function isOther(folder: string): Promise<boolean> {
	const found = await lstat(folder).catch(() => undefined);
	return found !== undefined && !found.isDirectory();
}

/** A companion that cleans the working tree takes the run with it; nothing may be written into what is left. */
async function confirmPresent(folder: string, shown: string): Promise<void> {
	if ((await lstat(path.join(folder, 'state')).catch(() => undefined))?.isDirectory()) return;
	throw new CccError('records-gone', 'The run folder was deleted while a companion worked.', {
		at: shown,
		next: 'look at what the companion did, then start a new run',
	});
}
