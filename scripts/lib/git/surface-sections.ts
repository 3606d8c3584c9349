/** The parts a review surface is made of, read from the repository; how they are shown is decided elsewhere. */
import type { Baseline } from './baseline.ts';
import { readDiff } from './diff.ts';
import { describeHidden } from './hidden-files.ts';
import { type Listing, readListing } from './listing.ts';
import { type PatchPart, splitPatch } from './patch.ts';
import { showPath } from './paths.ts';
import { addEntries, markSpecialFiles, revealHidden } from './scratch-index.ts';
import { readStatus } from './status.ts';
import { comparableCommit, findSubmodules } from './submodules.ts';
import { type Note, readUntracked } from './untracked.ts';
import { type View, withView } from './view.ts';

export interface Section {
	/** Command as the protocol writes it, or a plain title. */
	readonly title: string;
	/** Byte string shown as it is. */
	readonly plain?: string;
	readonly notes?: readonly Note[];
	readonly parts?: readonly PatchPart[];
}

/** The protocol's git outputs (Git Review Baseline) and what they leave out, in the order in which they are shown. */
export async function readSections(view: View, baseline: Baseline, exclude: readonly string[]): Promise<Section[]> {
	const listing = await readListing(view, exclude);
	const status = await readStatus(view, listing);
	await markSpecialFiles(view, listing);
	const compare = baseline.kind === 'head' ? [`${baseline.ref}...HEAD`] : [baseline.ref, 'HEAD'];
	const read = async (args: readonly string[], stat = false): Promise<string> =>
		(await readDiff(view, { compare: args, exclude: listing.exclude, stat })).toString('latin1');
	const [committed, staged, unstaged, others, hidden] = await Promise.all([
		// HEAD does not resolve before the first commit.
		view.head.commit === undefined ? undefined : Promise.all([read(compare, true), read(compare)]),
		read(['--cached']),
		read([]),
		readUntracked(view, listing, ''),
		readHiddenFiles(view, listing, ''),
	]);
	return [
		{ title: 'git status --short', plain: status.toString('latin1') },
		...(committed === undefined
			? []
			: [
					{ title: `git diff --stat ${compare.join(' ')}`, plain: committed[0] },
					{ title: `git diff ${compare.join(' ')}`, parts: splitPatch(committed[1]) },
				]),
		{ title: 'git diff --cached', parts: splitPatch(staged) },
		{ title: 'git diff', parts: splitPatch(unstaged) },
		{ title: 'Untracked files', notes: others.notes, parts: splitPatch(others.patch) },
		...hidden,
		...(await readHiddenSection(view, listing, '')),
		...(await readSubmoduleSections(view, listing, baseline.ref, '')),
	];
}

async function readSubmoduleSections(view: View, listing: Listing, tree: string, prefix: string): Promise<Section[]> {
	const sections: Section[] = [];
	for (const submodule of await findSubmodules(view, listing, tree)) {
		const path = prefix + submodule.path;
		const inner = await withView(submodule.repository, (innerView) =>
			readSubmodule(innerView, submodule.recorded, submodule.exclude, path),
		);
		sections.push(...inner);
	}
	return sections;
}

/** One submodule against the commit its parent records: commits, staged, unstaged and untracked content. */
async function readSubmodule(
	view: View,
	recorded: string,
	exclude: readonly string[],
	path: string,
): Promise<Section[]> {
	const prefix = `${path}/`;
	const listing = await readListing(view, exclude);
	const status = await readStatus(view, listing);
	await markSpecialFiles(view, listing);
	const base = await comparableCommit(view, recorded);
	const patch = await readDiff(view, { compare: [base], exclude: listing.exclude, prefix });
	const others = await readUntracked(view, listing, prefix);
	const sections: Section[] = [
		{ title: `Submodule ${showPath(path)}: git status --short`, plain: status.toString('latin1') },
		{ title: `Submodule ${showPath(path)}: git diff ${base}`, parts: splitPatch(patch.toString('latin1')) },
		{
			title: `Submodule ${showPath(path)}: untracked files`,
			notes: others.notes.map((note) => ({ ...note, path: prefix + note.path })),
			parts: splitPatch(others.patch),
		},
		...(await readHiddenFiles(view, listing, prefix)),
		...(await readHiddenSection(view, listing, prefix)),
	];
	const shown = sections.filter((section) => !isEmpty(section));
	return [...shown, ...(await readSubmoduleSections(view, listing, base, prefix))];
}

/** Changes that git was told not to look at; there is a section only where there are any. */
async function readHiddenSection(view: View, listing: Listing, prefix: string): Promise<Section[]> {
	const entries = await revealHidden(view, listing);
	if (entries.length === 0) return [];
	const index = await view.addIndex('empty');
	await addEntries(view, index, entries);
	const patch = await readDiff(view, { compare: [], exclude: [], prefix, index });
	const parts = splitPatch(patch.toString('latin1'));
	const where = prefix === '' ? '' : `Submodule ${showPath(prefix.slice(0, -1))}: `;
	const title = `${where}Changes that git diff leaves out (assume-unchanged or skip-worktree)`;
	return parts.length === 0 ? [] : [{ title, parts }];
}

/** Names, without content, behind ignore rules that the review does not show; there is a section only for some. */
async function readHiddenFiles(view: View, listing: Listing, prefix: string): Promise<Section[]> {
	const text = await describeHidden(view, listing, prefix);
	if (text === '') return [];
	const where = prefix === '' ? 'Files' : `Submodule ${showPath(prefix.slice(0, -1))}: files`;
	const title = `${where} hidden by ignore rules that are not part of this review`;
	return [{ title, plain: Buffer.from(text).toString('latin1') }];
}

function isEmpty(section: Section): boolean {
	return !section.plain && !section.notes?.length && !section.parts?.length;
}
