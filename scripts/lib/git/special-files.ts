/**
 * FIFOs, sockets and devices. git's own lists leave them out, but a reviewer's or coder's new FIFO is a change, so
 * the folders git knows are looked through. Nothing here is ever opened.
 */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { systemCode } from '../kit/errors.ts';
import { decodePath, filePath, joinPaths, splitFields } from './paths.ts';
import { realFolders } from './real-folders.ts';
import { unreadable } from './unreadable.ts';
import type { View } from './view.ts';

export interface SpecialFile {
	readonly path: string;
	readonly kind: 'fifo' | 'socket' | 'device';
}

interface Found {
	readonly specials: SpecialFile[];
	/** Folders that hold nothing git lists: ignored, empty, or holding special files only. */
	readonly unknown: string[];
}

/**
 * The special files that are not ignored, sorted by path.
 * @param files tracked and untracked files; their folders are looked into
 * @param skip folders that are left alone: run folders, submodules, nested repositories
 */
export async function findSpecialFiles(
	view: View,
	files: readonly string[],
	skip: readonly string[],
): Promise<SpecialFile[]> {
	const root = view.repository.root;
	const folders = foldersOf(files);
	const skipped = new Set(skip);
	const first = await lookInto(root, folders, (path) => folders.has(path) || skipped.has(path));
	const ignored = await findIgnored(view, [...first.unknown, ...first.specials.map((one) => one.path)]);
	const specials = first.specials.filter((one) => !ignored.has(one.path));

	const deeper: SpecialFile[] = [];
	let pending = first.unknown.filter((path) => !ignored.has(path));
	while (pending.length > 0) {
		const next = await lookInto(root, pending, (path) => skipped.has(path));
		deeper.push(...next.specials);
		pending = next.unknown;
	}
	const alsoIgnored = await findIgnored(
		view,
		deeper.map((one) => one.path),
	);
	specials.push(...deeper.filter((one) => !alsoIgnored.has(one.path)));
	return specials.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function lookInto(root: string, folders: Iterable<string>, isKnown: (path: string) => boolean): Promise<Found> {
	const found: Found = { specials: [], unknown: [] };
	const isReal = realFolders(root);
	for (const folder of folders) {
		if (!isReal(folder)) continue;
		const entries = await list(root, folder);
		// A repository of its own that git does not list (an ignored one, or one inside an unknown folder).
		if (folder !== '' && entries.some((entry) => entry.name.toString('latin1') === '.git')) continue;
		for (const entry of entries) {
			const name = decodePath(entry.name);
			const path = folder === '' ? name : `${folder}/${name}`;
			const kind = kindOf(entry);
			if (kind !== undefined) found.specials.push({ path, kind });
			else if (entry.isDirectory() && name !== '.git' && !isKnown(path)) found.unknown.push(path);
		}
	}
	return found;
}

async function list(root: string, folder: string): Promise<Dirent<Buffer>[]> {
	try {
		return await readdir(filePath(root, folder), { withFileTypes: true, encoding: 'buffer' });
	} catch (error) {
		if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
		throw unreadable(folder === '' ? root : folder, error);
	}
}

function kindOf(entry: Dirent<Buffer>): SpecialFile['kind'] | undefined {
	if (entry.isFIFO()) return 'fifo';
	if (entry.isSocket()) return 'socket';
	return entry.isBlockDevice() || entry.isCharacterDevice() ? 'device' : undefined;
}

function foldersOf(files: readonly string[]): Set<string> {
	const folders = new Set(['']);
	for (const file of files) {
		for (let end = file.lastIndexOf('/'); end !== -1; end = file.lastIndexOf('/', end - 1)) {
			const folder = file.slice(0, end);
			if (folders.has(folder)) break;
			folders.add(folder);
		}
	}
	return folders;
}

async function findIgnored(view: View, paths: readonly string[]): Promise<Set<string>> {
	if (paths.length === 0) return new Set();
	const answer = await view.ask(['check-ignore', '-z', '--stdin'], [0, 1], { input: joinPaths(paths) });
	return new Set(splitFields(answer.stdout).map(decodePath));
}
