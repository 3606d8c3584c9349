/** Writes what has been planned for the instruction files of a repository. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, chown, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { renameSynced, syncFolder, writeSynced } from '../kit/atomic-file.ts';
import { CccError, EXIT, systemCode } from '../kit/errors.ts';
import { readInstructionFile } from './instruction-files.ts';
import type { FileChange, InstructionFile } from './plan.ts';

/**
 * Carries out what has been planned, each file whole or not at all; links stay, and so does a file's mode.
 * @throws CccError `changed-meanwhile` when one of them is no longer as it was read, before anything is written;
 *   `read-only`; `not-writable`
 */
export async function writeChanges(root: string, changes: readonly FileChange[]): Promise<void> {
	const wanted = changes.filter(({ action }) => action !== 'none');
	for (const { file } of wanted) await confirmUnchanged(root, file);
	for (const { file } of wanted) await confirmWritable(root, file);
	for (const { file, content } of wanted) {
		const at = path.join(root, file.target);
		try {
			if (content === undefined) {
				await unlink(at);
				await syncFolder(path.dirname(at));
			} else await replace(at, content);
		} catch (error) {
			throw notWritable(file.name, error);
		}
	}
}

async function confirmUnchanged(root: string, { name, target, bytes }: InstructionFile): Promise<void> {
	const now = await readInstructionFile(root, name);
	const same = bytes === undefined ? now.bytes === undefined : now.bytes?.equals(bytes);
	if (same && now.target === target) return;
	throw new CccError('changed-meanwhile', 'This file has just been changed by something else.', {
		at: name,
		next: 'run ccc render again',
		exitCode: EXIT.blocked,
	});
}

/** A rename would replace a read-only file all the same. */
async function confirmWritable(root: string, { name, target, bytes }: InstructionFile): Promise<void> {
	const file = path.join(root, target);
	await access(path.dirname(file), constants.W_OK).catch((error: unknown) => {
		throw notWritable(name, error);
	});
	if (bytes === undefined) return;
	const allowed = await access(file, constants.W_OK).then(
		async () => ((await stat(file)).mode & 0o222) !== 0,
		() => false,
	);
	if (!allowed)
		throw new CccError('read-only', 'This file is read-only.', {
			at: name,
			next: 'make it writable, then run ccc render again',
		});
}

async function replace(file: string, content: Buffer): Promise<void> {
	const info = await stat(file).catch(() => undefined);
	const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
	try {
		await writeSynced(temporary, content);
		if (info !== undefined) {
			// Only root can give a file away; for anyone else it is theirs already.
			if (process.getuid?.() === 0) await chown(temporary, info.uid, info.gid);
			await chmod(temporary, info.mode & 0o7777);
		}
		await renameSynced(temporary, file);
	} catch (error) {
		await rm(temporary, { force: true });
		throw error;
	}
}

function notWritable(name: string, cause: unknown): CccError {
	const found = systemCode(cause);
	return new CccError('not-writable', 'This file cannot be written.', {
		at: name,
		...(found === undefined ? {} : { found }),
		next: 'make its folder writable, then run ccc render again',
		cause,
	});
}
