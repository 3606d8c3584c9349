/**
 * Files that git's lists leave out because of rules which are no part of what is reviewed: those of an untracked
 * `.gitignore` that is ignored itself, and those of `.git/info/exclude`.
 */
import { lstatSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Listing, pathspecs } from './listing.ts';
import { decodePath, filePath, isPlainText, isWithinAny, joinPaths, showPath, splitFields } from './paths.ts';
import { folderOf, realFolders } from './real-folders.ts';
import { findRunEntries } from './run-folders.ts';
import type { View } from './view.ts';

export interface Hidden {
	/**
	 * By path of a `.gitignore` that neither a diff nor a list of untracked files shows: what it hides. A folder, with
	 * its slash, stands for all that is in it.
	 */
	readonly byHiddenRules: ReadonlyMap<string, readonly string[]>;
	/** Files, and folders counted once, that `.git/info/exclude` hides. */
	readonly byInfoExclude: number;
}

/** Finds what such rules hide. Never looks into a folder that is ignored as a whole; run folders are left out. */
export async function findHidden(view: View, listing: Listing): Promise<Hidden> {
	const args = ['status', '--porcelain', '-z', '--no-renames', '--ignore-submodules=all', '--untracked-files=all'];
	// `matching`: a folder is named in place of its content only where a rule names the folder itself.
	const status = await view.run([...args, '--ignored=matching', '--', ...pathspecs(listing.exclude)]);
	const ignored = splitFields(status)
		.filter((field) => field.toString('latin1', 0, 3) === '!! ')
		.map((field) => decodePath(field.subarray(3)));
	const matches = await findMatches(view, ignored);
	const records = await findRunEntries(view.repository.root, ignored, listing.tracked);
	const shown = new Set([...listing.tracked.map((entry) => entry.path), ...listing.untracked]);
	const infoExclude = path.join(view.folder, 'info', 'exclude');
	const byHiddenRules = new Map<string, string[]>();
	let byInfoExclude = 0;
	for (const { path: found, rules } of matches) {
		if (rules === infoExclude) byInfoExclude += 1;
		else if (!shown.has(rules) && !isWithinAny(found.replace(/\/$/, ''), records)) {
			byHiddenRules.set(rules, [...(byHiddenRules.get(rules) ?? []), found]);
		}
	}
	return { byHiddenRules, byInfoExclude };
}

const MOST_NAMED = 50;

/**
 * The lines that tell a reviewer what is hidden, as text, or '' for nothing. Behind a hidden `.gitignore`, the files
 * are named that no tracked rule hides as well, 50 of each at most, then counted. `.git/info/exclude` is the place for
 * the user's personal rules: what it hides stays out of the prompt, and only how much that is gets told, because a
 * coder could have written there too.
 * @param prefix folder, with its slash, of a repository inside another one
 */
export async function describeHidden(view: View, listing: Listing, prefix: string): Promise<string> {
	const hidden = await findHidden(view, listing);
	const lines: string[] = [];
	const isRuledOut = hidden.byHiddenRules.size === 0 ? undefined : await trackedRules(view, listing);
	for (const [rules, paths] of hidden.byHiddenRules) {
		const files = await expandFolders(view, paths);
		const ruledOut = (await isRuledOut?.(files)) ?? new Set();
		const left = files.filter((file) => !ruledOut.has(file) && file !== rules).sort();
		const what = left.length === 0 ? 'nothing else' : `${left.length} more that no tracked rule hides`;
		lines.push(`${showPath(prefix + rules)} is ignored itself, and hides ${what}${left.length === 0 ? '' : ':'}`);
		lines.push(...left.slice(0, MOST_NAMED).map((file) => `  ${showPath(prefix + file)}`));
		if (left.length > MOST_NAMED) lines.push(`  (and ${left.length - MOST_NAMED} that are not named here)`);
	}
	if (hidden.byInfoExclude > 0) {
		lines.push(
			`${showPath(`${prefix}.git/info/exclude`)} hides ${hidden.byInfoExclude} files or folders, not named here`,
		);
	}
	return lines.map((line) => `${line}\n`).join('');
}

interface Match {
	readonly path: string;
	/** The file that holds the rule: relative to the work tree, or absolute. */
	readonly rules: string;
}

async function findMatches(view: View, paths: readonly string[], workTree?: string): Promise<Match[]> {
	if (paths.length === 0) return [];
	const call = { input: joinPaths(paths), ...(workTree === undefined ? {} : { workTree }) };
	const answer = await view.ask(['check-ignore', '--no-index', '--verbose', '-z', '--stdin'], [0, 1], call);
	const fields = splitFields(answer.stdout).map(decodePath);
	const matches: Match[] = [];
	for (let index = 0; index + 3 < fields.length; index += 4) {
		const [rules = '', , pattern = '', found = ''] = fields.slice(index, index + 4);
		if (!pattern.startsWith('!')) matches.push({ path: found, rules });
	}
	return matches;
}

/** A question: which of these files would be ignored if only the tracked `.gitignore` files were there? */
async function trackedRules(
	view: View,
	listing: Listing,
): Promise<(files: readonly string[]) => Promise<ReadonlySet<string>>> {
	const { root } = view.repository;
	const workTree = path.join(view.folder, 'tracked-rules');
	await mkdir(workTree);
	const isReal = realFolders(root);
	for (const { path: one } of listing.tracked) {
		if (!/(?:^|\/)\.gitignore$/.test(one) || !isPlainText(one) || !isReal(folderOf(one))) continue;
		const content = readRules(filePath(root, one));
		if (content === undefined) continue;
		await mkdir(path.join(workTree, folderOf(one)), { recursive: true });
		await writeFile(path.join(workTree, one), content);
	}
	return async (files) => {
		const matches = await findMatches(view, files, workTree);
		return new Set(matches.filter(({ rules }) => !path.isAbsolute(rules)).map((match) => match.path));
	};
}

function readRules(file: string | Buffer): Buffer | undefined {
	try {
		// git does not follow a link in place of this file either.
		return lstatSync(file).isFile() ? readFileSync(file) : undefined;
	} catch {
		// Then it rules nothing out, and more is named.
		return undefined;
	}
}

/** An argument list has its limits. */
const FOLDERS_PER_CALL = 500;

/** The paths with each folder replaced by the files in it, however deep. */
async function expandFolders(view: View, paths: readonly string[]): Promise<string[]> {
	const isFolder = (one: string): boolean => one.endsWith('/') && isPlainText(one);
	const folders = paths.filter(isFolder);
	const files = paths.filter((one) => !isFolder(one));
	for (let start = 0; start < folders.length; start += FOLDERS_PER_CALL) {
		const some = folders.slice(start, start + FOLDERS_PER_CALL).map((folder) => `:(top,literal)${folder}`);
		const listed = splitFields(await view.run(['ls-files', '--others', '-z', '--', ...some]));
		for (const field of listed) files.push(decodePath(field));
	}
	return files;
}
