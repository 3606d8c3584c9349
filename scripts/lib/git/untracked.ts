/** Untracked files as a diff against nothing, and in words what no diff can show. */
import { lstat, readlink } from 'node:fs/promises';
import { systemCode } from '../kit/errors.ts';
import { readDiff } from './diff.ts';
import { isSource, kindOfPath } from './file-kinds.ts';
import { hashFile } from './fingerprint.ts';
import type { Listing } from './listing.ts';
import { decodePath, filePath, showPath } from './paths.ts';
import { openInner, type Repository, readHead } from './repository.ts';
import { addEntries, type IndexEntry, isIndexable } from './scratch-index.ts';
import { unreadable } from './unreadable.ts';
import type { View } from './view.ts';

/** Above this an untracked file that is neither source nor test is named and not shown: 1 MiB. */
const MAX_SHOWN_BYTES = 1024 * 1024;

export interface Note {
	readonly path: string;
	/** One line, without its end. */
	readonly text: string;
	/** Set for a file whose content a reader might expect: its size. */
	readonly tooLarge?: number;
}

export interface Untracked {
	/** Byte string of a `git diff` in which each file is new. */
	readonly patch: string;
	/** Links, repositories, special and very large files, and names that git refuses. */
	readonly notes: readonly Note[];
}

/** Reads what is untracked in the view's work tree. `prefix` is the folder of an inner repository, with its slash. */
export async function readUntracked(view: View, listing: Listing, prefix: string): Promise<Untracked> {
	const { repository } = view;
	const entries: IndexEntry[] = [];
	const notes: Note[] = [];
	for (const path of listing.untracked) {
		const entry = await statEntry(repository, path);
		if (entry === undefined) continue;
		const shown = showPath(prefix + path);
		if (entry.mode === '120000') {
			const target = decodePath(await readlink(filePath(repository.root, path), 'buffer'));
			notes.push({ path, text: `[symbolic link] ${shown} -> ${showPath(target)}` });
		} else if (entry.bytes > MAX_SHOWN_BYTES && !isShownWhole(path)) {
			const facts = `${entry.bytes} bytes, sha256 ${await hashFile(repository.root, path)}`;
			notes.push({ path, text: `[summarised: too-large] ${shown}: ${facts}`, tooLarge: entry.bytes });
		} else if (!isIndexable(path, entry.mode)) {
			const facts = `${entry.bytes} bytes, sha256 ${await hashFile(repository.root, path)}`;
			notes.push({ path, text: `[name that git refuses] ${shown}: ${facts}, content not shown` });
		} else {
			entries.push({ path, mode: entry.mode });
		}
	}
	for (const path of listing.repositories) notes.push(await noteRepository(repository, path, prefix));
	for (const { path, kind } of listing.specials) {
		notes.push({ path, text: `[special file] ${showPath(prefix + path)}: ${kind}, never opened` });
	}
	if (entries.length === 0) return { patch: '', notes };
	const index = await view.addIndex('empty');
	await addEntries(view, index, entries);
	const patch = await readDiff(view, { compare: [repository.emptyTree], exclude: [], prefix, index });
	return { patch: patch.toString('latin1'), notes };
}

/** Index entries for everything untracked that a patch can hold: files and links whole, repositories by their commit. */
export async function untrackedEntries(repository: Repository, listing: Listing): Promise<IndexEntry[]> {
	const entries: IndexEntry[] = [];
	for (const path of listing.untracked) {
		const entry = await statEntry(repository, path);
		if (entry !== undefined && isIndexable(path, entry.mode)) entries.push({ path, mode: entry.mode });
	}
	for (const path of listing.repositories) {
		const inner = await openInner(repository, path);
		const head = inner === undefined ? undefined : await readHead(inner);
		if (head !== undefined && isIndexable(path, '160000')) entries.push({ path, mode: '160000', oid: head });
	}
	return entries;
}

/** Source stays whole whatever its size: the ceiling of a prompt decides about it, never silence. */
function isShownWhole(path: string): boolean {
	return isSource(path) && kindOfPath(path) === undefined;
}

async function statEntry(
	{ root }: Repository,
	path: string,
): Promise<{ mode: '100644' | '100755' | '120000'; bytes: number } | undefined> {
	try {
		const stats = await lstat(filePath(root, path));
		if (stats.isSymbolicLink()) return { mode: '120000', bytes: stats.size };
		if (!stats.isFile()) return undefined;
		return { mode: (stats.mode & 0o100) === 0 ? '100644' : '100755', bytes: stats.size };
	} catch (error) {
		// Gone since it was listed.
		if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
		throw unreadable(path, error);
	}
}

async function noteRepository(repository: Repository, path: string, prefix: string): Promise<Note> {
	const inner = await openInner(repository, path);
	const head = inner === undefined ? undefined : await readHead(inner);
	const state = inner === undefined ? 'not readable' : head === undefined ? 'no commits' : `HEAD ${head}`;
	return { path, text: `[nested git repository] ${showPath(`${prefix}${path}/`)}: ${state}` };
}
