/** Everything that a run changed, as one patch. */
import type { Baseline } from './baseline.ts';
import { readDiff } from './diff.ts';
import { type Listing, readListing } from './listing.ts';
import { showPath } from './paths.ts';
import type { Repository } from './repository.ts';
import { addEntries, isIndexable, markSpecialFiles, revealHidden } from './scratch-index.ts';
import { comparableCommit, findSubmodules } from './submodules.ts';
import { untrackedEntries } from './untracked.ts';
import { type View, withView } from './view.ts';

/**
 * One unified diff of the work tree (staged, unstaged, untracked, submodules' content) against the baseline, in
 * bytes: text need not be UTF-8. `git apply` takes it; lines before the first file name what no diff can hold.
 */
export async function readChanges(
	repository: Repository,
	baseline: Baseline,
	exclude: readonly string[],
): Promise<Buffer> {
	const { remarks, patches } = await withView(repository, (view) => readInside(view, baseline.ref, exclude, ''));
	return Buffer.concat([Buffer.from(remarks.map((remark) => `# ${remark}\n`).join('')), ...patches]);
}

interface Inside {
	readonly remarks: string[];
	readonly patches: Buffer[];
}

async function readInside(view: View, tree: string, exclude: readonly string[], prefix: string): Promise<Inside> {
	const listing = await readListing(view, exclude);
	await markSpecialFiles(view, listing);
	const index = await view.addIndex('copy');
	const untracked = await untrackedEntries(view.repository, listing);
	await addEntries(view, index, [...(await revealHidden(view, listing)), ...untracked]);
	const patches = [await readDiff(view, { compare: [tree], exclude: listing.exclude, prefix, index, binary: true })];
	const added = new Set(untracked.map((entry) => entry.path));
	const remarks = leftOut(listing, added, prefix);
	for (const submodule of await findSubmodules(view, listing, tree)) {
		const inner = await withView(submodule.repository, async (innerView) => {
			const base = await comparableCommit(innerView, submodule.recorded);
			return readInside(innerView, base, submodule.exclude, `${prefix}${submodule.path}/`);
		});
		patches.push(...inner.patches);
		remarks.push(...inner.remarks);
	}
	return { remarks, patches };
}

function leftOut(listing: Listing, added: ReadonlySet<string>, prefix: string): string[] {
	return [
		...listing.specials.map(({ path, kind }) => `not in the diff: ${showPath(prefix + path)}, a ${kind}`),
		...listing.repositories
			.filter((path) => !added.has(path))
			.map((path) => `not in the diff: ${showPath(`${prefix}${path}/`)}, a git repository without commits`),
		...listing.untracked
			.filter((path) => !isIndexable(path, '100644'))
			.map((path) => `not in the diff: ${showPath(prefix + path)}, a name that git refuses`),
	];
}
