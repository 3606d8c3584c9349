/** Files of a run folder that anybody may have written: nothing outside is opened, nothing hangs, nothing is too big. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../kit/errors.ts';

export type Refusal = 'missing' | 'not-a-file' | 'outside' | 'too-large' | 'unreadable';

/**
 * The real path of a regular file in the folder, by whatever links inside it, or why there is none.
 *
 * @param folder the run folder as `realpath` gives it
 * @param relative with forward slashes
 */
export async function findInnerFile(folder: string, relative: string): Promise<{ file: string } | Refusal> {
	const file = path.join(folder, relative);
	try {
		await lstat(file);
		const real = await realpath(file);
		if (!real.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep)) return 'outside';
		return (await stat(real)).isFile() ? { file: real } : 'not-a-file';
	} catch (error) {
		return refusalOf(error);
	}
}

/** The bytes of such a file. @param maxBytes a larger file is not read at all */
export async function readInnerFile(folder: string, relative: string, maxBytes: number): Promise<Uint8Array | Refusal> {
	const found = await findInnerFile(folder, relative);
	if (typeof found === 'string') return found;
	let handle: FileHandle | undefined;
	try {
		// O_NONBLOCK: should a fifo have taken the file's place since, opening it must not wait for a writer.
		handle = await open(found.file, constants.O_RDONLY | constants.O_NONBLOCK);
		const info = await handle.stat();
		if (!info.isFile()) return 'not-a-file';
		return info.size > maxBytes ? 'too-large' : await handle.readFile();
	} catch (error) {
		return refusalOf(error);
	} finally {
		await handle?.close();
	}
}

function refusalOf(error: unknown): Refusal {
	const code = systemCode(error);
	if (code === undefined) throw error;
	return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable';
}
