/** The one way state is written: temporary file in the same folder, fsync, rename, fsync of the folder. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from './errors.ts';

/**
 * Writes `data` to `file` so that a reader, or a crash at any moment, sees the old content or the new one whole.
 * The folder must exist. `temporary` names the temporary file where a protocol prescribes it (`<file>.tmp`).
 */
export async function writeFileAtomic(
	file: string,
	data: string | Uint8Array,
	options: { mode?: number; temporary?: string } = {},
): Promise<void> {
	const temporary = options.temporary ?? `${file}.${randomBytes(6).toString('hex')}.tmp`;
	try {
		await writeSynced(temporary, data, options.mode ?? 0o644);
		await renameSynced(temporary, file);
	} catch (error) {
		await rm(temporary, { force: true });
		throw error;
	}
}

/** Writes and fsyncs a file in place: the first half of an atomic write, for protocols that validate before the rename. */
export async function writeSynced(file: string, data: string | Uint8Array, mode = 0o644): Promise<void> {
	let handle: FileHandle | undefined;
	try {
		handle = await open(file, 'w', mode);
		await handle.writeFile(data);
		await handle.sync();
	} finally {
		await handle?.close();
	}
}

/** Renames within one folder (or between folders of one file system) and makes the rename durable. */
export async function renameSynced(from: string, to: string): Promise<void> {
	await rename(from, to);
	await syncFolder(path.dirname(to));
}

/** fsync of a folder; file systems that cannot do it are left as they are. */
export async function syncFolder(folder: string): Promise<void> {
	let handle: FileHandle | undefined;
	try {
		handle = await open(folder, 'r');
		await handle.sync();
	} catch (error) {
		if (!['EINVAL', 'EISDIR', 'EPERM', 'EACCES', 'ENOTSUP'].includes(systemCode(error) ?? '')) throw error;
	} finally {
		await handle?.close();
	}
}

/** The bytes of a file, or undefined when it (or its folder) does not exist. */
export async function readIfExists(file: string): Promise<Buffer | undefined> {
	try {
		return await readFile(file);
	} catch (error) {
		if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
		throw error;
	}
}

/** Makes a private folder and its parents; an existing one keeps its mode. */
export async function makeFolder(folder: string, mode = 0o755): Promise<void> {
	await mkdir(folder, { recursive: true, mode });
}

/**
 * Removes what writes that were cut left in a folder (`*.tmp`); nobody may be writing there at the moment.
 * @param keep paths that stay
 */
export async function removeTemporaries(folder: string, keep: readonly string[] = []): Promise<void> {
	for (const name of await readdir(folder).catch(() => [])) {
		if (name.endsWith('.tmp') && !keep.includes(path.join(folder, name)))
			await rm(path.join(folder, name), { force: true, recursive: true });
	}
}
