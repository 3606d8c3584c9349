/** Files of a run folder that anybody may have written: nothing outside is opened, nothing hangs, nothing is too big. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../kit/errors.ts';

/** A file that is larger than is read, both in bytes. */
interface TooLarge {
	readonly size: number;
	readonly limit: number;
}

export type Refusal = 'missing' | 'not-a-file' | 'outside' | 'unreadable' | TooLarge;

const REFUSALS: Readonly<Record<Exclude<Refusal, TooLarge>, { readonly code: string; readonly found: string }>> = {
	missing: { code: 'missing-file', found: 'no such file' },
	'not-a-file': { code: 'not-a-file', found: 'something else than a regular file' },
	outside: { code: 'outside-run-folder', found: 'a link that leaves the run folder' },
	unreadable: { code: 'unreadable', found: 'a file that cannot be read' },
};

/** What is wrong, for people and programs. @param wanted what the file should be */
export function describeRefusal(refusal: Refusal, wanted: string): { code: string; found: string; expected: string } {
	if (typeof refusal === 'string') return { ...REFUSALS[refusal], expected: wanted };
	const { size, limit } = refusal;
	return { code: 'too-large', found: `${size} bytes`, expected: `${wanted} of at most ${limit} bytes` };
}

/**
 * The real path of a regular file in the folder, by whatever links inside it, or why there is none.
 *
 * @param folder the run folder as `realpath` gives it
 * @param relative with forward slashes
 */
export async function findInnerFile(
	folder: string,
	relative: string,
): Promise<{ file: string } | Exclude<Refusal, TooLarge>> {
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
export async function readInnerFile(folder: string, relative: string, maxBytes: number): Promise<Buffer | Refusal> {
	const found = await findInnerFile(folder, relative);
	if (typeof found === 'string') return found;
	let handle: FileHandle | undefined;
	try {
		// O_NONBLOCK: should a fifo have taken the file's place since, opening it must not wait for a writer.
		handle = await open(found.file, constants.O_RDONLY | constants.O_NONBLOCK);
		const info = await handle.stat();
		if (!info.isFile()) return 'not-a-file';
		return info.size > maxBytes ? { size: info.size, limit: maxBytes } : await handle.readFile();
	} catch (error) {
		return refusalOf(error);
	} finally {
		await handle?.close();
	}
}

function refusalOf(error: unknown): 'missing' | 'unreadable' {
	const code = systemCode(error);
	if (code === undefined) throw error;
	return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable';
}
