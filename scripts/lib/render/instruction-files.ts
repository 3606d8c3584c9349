/** The instruction files of a repository on disk, read with everything checked that a write relies on. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { CccError, systemCode } from '../kit/errors.ts';
import { AGENTS, CLAUDE, INNER_CLAUDE, type InstructionFile } from './plan.ts';

/** Codex reads 32 KiB of all such files together; nothing near this size is one. */
const MAX_BYTES = 1024 * 1024;
const MAX_LINKS = 20;
/** No folders for instructions: git's own, and the records of runs. */
const CLOSED_FOLDERS = ['.git', '.ccc'];

/**
 * AGENTS.md and the places of CLAUDE.md, with bytes or without.
 * @param root real path of the repository
 * @throws CccError `outside-repository`, `broken-link`, `not-a-file`, `file-too-large`, `not-text`, `unreadable-file`
 */
export async function readInstructionFiles(root: string): Promise<InstructionFile[]> {
	const files = [await readInstructionFile(root, AGENTS), await readInstructionFile(root, CLAUDE)];
	try {
		return [...files, await readInstructionFile(root, INNER_CLAUDE)];
	} catch (error) {
		// Many keep their .claude folder elsewhere. Nothing of ours is written there, so nothing of ours can be there.
		if (error instanceof CccError && error.code === 'outside-repository') return files;
		throw error;
	}
}

/** One of them; errors as above. */
export async function readInstructionFile(root: string, name: string): Promise<InstructionFile> {
	const target = await follow(root, name);
	const bytes = await readBytes(path.join(root, target), name);
	if (bytes === undefined && ![name, AGENTS, CLAUDE].includes(target)) {
		throw new CccError('broken-link', 'This symbolic link leads to no file.', {
			at: name,
			found: target,
			next: 'create that file, or remove the link',
		});
	}
	return { name, target, bytes };
}

/** The path in the repository that a name leads to, whether there is a file or not. */
async function follow(root: string, name: string): Promise<string> {
	let file = path.join(root, name);
	for (let links = 0; links <= MAX_LINKS; links++) {
		const folder = await realpath(path.dirname(file)).catch((error: unknown) => {
			if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemCode(error) ?? '')) return path.dirname(file);
			throw unreadable(name, error);
		});
		file = path.join(folder, path.basename(file));
		const inside = path.relative(root, file).split(path.sep);
		if (inside[0] === '..' || path.isAbsolute(inside.join(path.sep)) || inside.some(isClosed)) {
			throw new CccError('outside-repository', 'This name leads to a place where ccc render does not write.', {
				at: name,
				expected: 'a file of the repository’s own',
				found: file,
				next: 'put a file in place of the link',
			});
		}
		if (!(await isLink(file, name))) return inside.join('/');
		file = path.resolve(folder, await readlink(file));
	}
	throw new CccError('broken-link', 'These symbolic links lead in a circle.', { at: name, next: 'remove them' });
}

const isClosed = (part: string): boolean => CLOSED_FOLDERS.includes(part.toLowerCase());

async function isLink(file: string, name: string): Promise<boolean> {
	try {
		return (await lstat(file)).isSymbolicLink();
	} catch (error) {
		if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return false;
		throw unreadable(name, error);
	}
}

/** Opened without waiting, as a FIFO would have us wait for its writer. */
async function readBytes(file: string, name: string): Promise<Buffer | undefined> {
	let handle: FileHandle | undefined;
	try {
		if (!(await stat(file)).isFile()) throw notAFile(name);
		handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
		const info = await handle.stat();
		if (!info.isFile()) throw notAFile(name);
		if (info.size > MAX_BYTES) {
			throw new CccError('file-too-large', 'This file is too large for an instruction file.', {
				at: name,
				expected: `at most ${MAX_BYTES} bytes`,
				found: `${info.size} bytes`,
			});
		}
		const bytes = await handle.readFile();
		const nul = bytes.indexOf(0);
		if (nul !== -1 || /^(?:\xff\xfe|\xfe\xff)/.test(bytes.toString('latin1', 0, 2))) {
			throw new CccError('not-text', 'This file is no text that ASCII lines can be added to.', {
				at: name,
				expected: 'UTF-8, or another encoding that extends ASCII',
				found: nul === -1 ? 'UTF-16' : `a NUL byte at ${nul}`,
			});
		}
		return bytes;
	} catch (error) {
		if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
		throw error instanceof CccError ? error : unreadable(name, error);
	} finally {
		await handle?.close();
	}
}

function notAFile(name: string): CccError {
	return new CccError('not-a-file', 'There is something else in place of this file.', {
		at: name,
		expected: 'a regular file, or a link to one',
	});
}

function unreadable(name: string, cause: unknown): CccError {
	const found = systemCode(cause);
	return new CccError('unreadable-file', 'This file cannot be read.', {
		at: name,
		...(found === undefined ? {} : { found }),
		cause,
	});
}
