/** What a work tree holds: tracked entries, untracked files, nested repositories, special files; run folders apart. */
import { relative } from 'node:path';
import { findMasked } from './masked-files.ts';
import { decodePath, isWithin, isWithinAny, splitFields } from './paths.ts';
import { findRunEntries } from './run-folders.ts';
import { findSpecialFiles, type SpecialFile } from './special-files.ts';
import type { View } from './view.ts';

export interface TrackedEntry {
	readonly path: string;
	/** Octal, as git writes it: `100644`, `100755`, `120000`, `160000`. */
	readonly mode: string;
	readonly oid: string;
	/** 0, or 1 to 3 for the sides of a conflict. */
	readonly stage: number;
	/** The mark because of which git does not look at the file. */
	readonly hidden: 'assume-unchanged' | 'skip-worktree' | undefined;
}

export interface Listing {
	readonly tracked: readonly TrackedEntry[];
	/** Untracked, not ignored: regular files and symbolic links. */
	readonly untracked: readonly string[];
	/** Untracked git repositories, as folders. */
	readonly repositories: readonly string[];
	readonly specials: readonly SpecialFile[];
	/** What is in none of the lists: the run folders handed in, the own entries of others that were found, masked files. */
	readonly exclude: readonly string[];
}

/**
 * Lists the work tree without the run folders in `exclude` (relative to the root), the records of other runs, and the
 * view's own folder, should that lie in the work tree.
 */
export async function readListing(view: View, exclude: readonly string[]): Promise<Listing> {
	const own = relative(view.repository.root, view.folder);
	const given = [...exclude, own].map(tidyFolder).filter((folder) => folder !== '' && !folder.startsWith('../'));
	const [index, others] = await Promise.all([
		view.run(['ls-files', '--stage', '-v', '-z']),
		view.run(['ls-files', '--others', '--exclude-standard', '-z', '--', ...pathspecs(given)]),
	]);
	const tracked = splitFields(index).map(parseEntry);
	const listed = splitFields(others).map(decodePath);
	const found = await findRunEntries(view.repository.root, listed, tracked);
	const left = [...given, ...found, ...findMasked(view.repository.root, listed)];
	const isIn = (path: string): boolean => !isWithinAny(path, left);
	const untracked = listed.filter((path) => !path.endsWith('/') && isIn(path));
	const repositories = listed.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1));
	const kept = tracked.filter((entry) => isIn(entry.path));
	const inner = [...repositories, ...kept.filter(isGitlink).map((entry) => entry.path)];
	const specials = await findSpecialFiles(
		view,
		[...kept.map((entry) => entry.path), ...untracked],
		[...inner, ...left],
	);
	return { tracked: kept, untracked, repositories: repositories.filter(isIn), specials, exclude: left };
}

/** Whether the entry is a submodule: a commit id in place of content. */
export function isGitlink(entry: TrackedEntry): boolean {
	return entry.mode === '160000';
}

/** Arguments after `--` that mean everything but these paths. Literal: a name is never a pattern. */
export function pathspecs(exclude: readonly string[]): string[] {
	return ['.', ...exclude.map((one) => `:(top,exclude,literal)${one}`)];
}

/** What of `exclude` lies inside `folder`, as seen from there. */
export function excludeInside(exclude: readonly string[], folder: string): string[] {
	return exclude.filter((one) => one !== folder && isWithin(one, folder)).map((one) => one.slice(folder.length + 1));
}

function tidyFolder(folder: string): string {
	const parts = folder.split('/').filter((part) => part !== '' && part !== '.');
	return parts[0] === '..' ? '../' : parts.join('/');
}

function parseEntry(field: Buffer): TrackedEntry {
	const tab = field.indexOf('\t');
	const [tag = '', mode = '', oid = '', stage = '0'] = field.subarray(0, tab).toString('latin1').split(' ');
	return {
		path: decodePath(field.subarray(tab + 1)),
		mode,
		oid,
		stage: Number(stage),
		hidden: /s/i.test(tag) ? 'skip-worktree' : /[a-z]/.test(tag) ? 'assume-unchanged' : undefined,
	};
}
