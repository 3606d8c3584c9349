/** Indexes of a view that are filled so that one plain `git diff` shows what is wanted. They never reach the user's. */
import { lstat } from 'node:fs/promises';
import { isGitlink, type Listing } from './listing.ts';
import { encodePath, filePath, joinPaths } from './paths.ts';
import type { View } from './view.ts';

export interface IndexEntry {
	readonly path: string;
	readonly mode: string;
	/** Left out for content that is in the work tree only: git then reads it there. */
	readonly oid?: string;
}

/** Puts the entries into an index of the view. */
export async function addEntries(view: View, index: string, entries: readonly IndexEntry[]): Promise<void> {
	if (entries.length === 0) return;
	// Any id does: an entry without a file's times is compared by the content of the file.
	const unknown = '1'.repeat(view.repository.emptyTree.length);
	const input = entries.map((entry) =>
		Buffer.concat([Buffer.from(`${entry.mode} ${entry.oid ?? unknown}\t`), encodePath(entry.path), Buffer.of(0)]),
	);
	await view.run(['update-index', '-z', '--index-info'], { index, input: Buffer.concat(input) });
}

/** Whether git takes such a name into an index: it never does for one that could pass for its own folder. */
export function isIndexable(path: string, mode: string): boolean {
	const parts = path.split('/').map((part) => part.toLowerCase());
	return !parts.includes('.git') && !(mode === '120000' && parts.at(-1) === '.gitmodules');
}

/**
 * Tells the view not to look at tracked files in whose place a FIFO, socket or device lies by now: `git diff` fails on
 * one. After this, `git diff` is silent about them, so they must be named apart.
 */
export async function markSpecialFiles(view: View, listing: Listing): Promise<void> {
	const special = new Set(listing.specials.map((one) => one.path));
	const paths = listing.tracked.filter((entry) => special.has(entry.path)).map((entry) => entry.path);
	if (paths.length === 0) return;
	await view.run(['update-index', '--assume-unchanged', '-z', '--stdin'], { input: joinPaths(paths) });
}

/**
 * The tracked files that git was told not to look at (assume-unchanged; skip-worktree where the file is there
 * nevertheless), as entries that a diff does look at.
 */
export async function revealHidden(view: View, listing: Listing): Promise<IndexEntry[]> {
	const special = new Set(listing.specials.map((one) => one.path));
	const hidden = listing.tracked.filter((entry) => entry.hidden !== undefined && !special.has(entry.path));
	const shown = await Promise.all(
		hidden.map(
			async (entry) =>
				!isGitlink(entry) &&
				entry.stage === 0 &&
				(entry.hidden === 'assume-unchanged' || (await exists(filePath(view.repository.root, entry.path)))),
		),
	);
	return hidden.filter((_, index) => shown[index] === true);
}

async function exists(file: string | Buffer): Promise<boolean> {
	return lstat(file).then(
		() => true,
		() => false,
	);
}
