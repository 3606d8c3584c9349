/** The files that say where a run stands, for whoever acts on them: what cannot be read is refused in words. */
import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { CccError, EXIT } from '../kit/errors.ts';
import { describeRefusal, findInnerFile, type Refusal, readInnerFile } from './inner-file.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const PLACES = ['.', 'artifacts', 'state'];
const RECORD = /\.(?:md|done|diff|status|json|jsonl|running|request)$/;

/**
 * Whether each record that is there is a file of the run folder. Whoever opens or replaces records asks this first: a
 * directory in the place of one, or a pipe that nobody writes to, must not be met in the middle of a commit.
 * @throws CccError `not-a-file`, `outside-run-folder` or `unreadable` (exit 1)
 */
export async function confirmRecordFiles(folder: string): Promise<void> {
	for (const place of PLACES) {
		const entries: Dirent[] = await readdir(path.join(folder, place), { withFileTypes: true }).catch(() => []);
		for (const entry of entries) {
			if (entry.isFile() || !RECORD.test(entry.name)) continue;
			const relative = path.posix.join(place, entry.name);
			const found = await findInnerFile(await realpath(folder), relative);
			if (typeof found === 'string' && found !== 'missing') throw refused(folder, relative, found);
		}
	}
}

/**
 * The bytes of a record, or undefined where there is none.
 * @param relative with forward slashes
 * @throws CccError `not-a-file`, `outside-run-folder`, `unreadable` or `too-large` (exit 1)
 */
export async function readRecord(folder: string, relative: string): Promise<Buffer | undefined> {
	const real = await realpath(folder).catch(() => undefined);
	const read = real === undefined ? 'missing' : await readInnerFile(real, relative, MAX_BYTES);
	if (read instanceof Uint8Array) return read;
	if (read === 'missing') return undefined;
	throw refused(folder, relative, read);
}

function refused(folder: string, relative: string, refusal: Refusal): CccError {
	const { code, found, expected } = describeRefusal(refusal, 'a regular file in the run folder');
	return new CccError(code, 'A record of the run cannot be read.', {
		at: path.join(folder, relative),
		expected,
		found,
		next: 'move what stands there away, and put the file back if there was one',
		exitCode: EXIT.invalid,
	});
}
