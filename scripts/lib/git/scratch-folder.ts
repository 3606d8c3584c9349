/** Where the throw-away git folder of a view goes: outside the repository, or, as the last resort, where the caller may write. */
import { lstat, mkdtemp, readdir, realpath, rm, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readIfExists } from '../kit/atomic-file.ts';
import { CccError, EXIT, systemCode } from '../kit/errors.ts';
import type { Repository } from './repository.ts';

const PREFIX = 'ccc-git-';
const NAME = /^ccc-git-[A-Za-z0-9]{6}$/;
/** Ignores itself too, so that no git call sees anything of the folder. */
const RULES = '# A git folder of ccc for one moment; it may be removed.\n*\n';
/** No call works on one for longer: git calls have a deadline far below it. */
const LEFTOVER_MS = 10 * 60_000;

/**
 * Makes a folder of mode 0700 in the first temporary folder that can be written. Where none can (agents' sandboxes may
 * allow nothing but the working directory), it is made in the nearest existing folder of `repository.scratch`, where it
 * ignores itself, and what killed processes left there is swept.
 * @throws CccError `no-temporary-folder` (exit 3)
 */
export async function makeScratchFolder(repository: Repository): Promise<string> {
	for (const parent of repository.temporaryFolders) {
		const folder = await mkdtemp(path.join(parent, PREFIX)).catch(() => undefined);
		if (folder !== undefined) return folder;
	}
	const inside = await nearestFolder(repository.scratch);
	const folder = inside === undefined ? undefined : await makeIgnoredFolder(inside);
	if (folder !== undefined) return folder;
	throw new CccError('no-temporary-folder', 'No folder for temporary files can be written.', {
		expected: `one of ${[...repository.temporaryFolders, ...(inside === undefined ? [] : [inside])].join(', ')}`,
		next: 'set TMPDIR to a writable folder',
		exitCode: EXIT.blocked,
	});
}

async function nearestFolder(place: Repository['scratch']): Promise<string | undefined> {
	if (place === undefined) return undefined;
	for (let folder = place.folder; ; folder = path.dirname(folder)) {
		const real = await realpath(folder).catch((error: unknown) => {
			if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
			throw error;
		});
		if (real !== undefined) return isInside(place.within, real) ? real : undefined;
		if (path.dirname(folder) === folder) return undefined;
	}
}

function isInside(root: string, folder: string): boolean {
	const relative = path.relative(root, folder);
	return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

async function makeIgnoredFolder(parent: string): Promise<string | undefined> {
	const folder = await mkdtemp(path.join(parent, PREFIX)).catch(() => undefined);
	if (folder === undefined) return undefined;
	try {
		await writeFile(path.join(folder, '.gitignore'), RULES);
	} catch {
		await rm(folder, { recursive: true, force: true });
		return undefined;
	}
	// What cannot be swept only costs space.
	await sweepLeftovers(parent).catch(() => undefined);
	return folder;
}

async function sweepLeftovers(parent: string): Promise<void> {
	for (const name of await readdir(parent)) {
		if (!NAME.test(name)) continue;
		const folder = path.join(parent, name);
		const stats = await lstat(folder).catch(() => undefined);
		if (!stats?.isDirectory() || Date.now() - stats.mtimeMs < LEFTOVER_MS) continue;
		if (await isOurs(folder)) await rm(folder, { recursive: true, force: true });
		// Its maker was killed before it could write the rules; a folder with anything in it stays.
		else await rmdir(folder).catch(() => undefined);
	}
}

async function isOurs(folder: string): Promise<boolean> {
	const rules = path.join(folder, '.gitignore');
	const isFile = (await lstat(rules).catch(() => undefined))?.isFile() ?? false;
	return isFile && (await readIfExists(rules))?.toString('utf8') === RULES;
}
