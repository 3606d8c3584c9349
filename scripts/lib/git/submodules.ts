/** Submodules that have content of their own here, each as a repository with the commit its parent expects. */
import { excludeInside, isGitlink, type Listing } from './listing.ts';
import { decodePath, splitFields } from './paths.ts';
import { openInner, type Repository } from './repository.ts';
import type { View } from './view.ts';

export interface Submodule {
	readonly path: string;
	readonly repository: Repository;
	/** The commit recorded for it: in the baseline, or in the index where the baseline does not know it. */
	readonly recorded: string;
	/** Run folders inside it. */
	readonly exclude: readonly string[];
}

/** @param tree commit or tree of the view's repository that the review compares with */
export async function findSubmodules(view: View, listing: Listing, tree: string): Promise<Submodule[]> {
	const links = listing.tracked.filter((entry) => isGitlink(entry) && entry.stage <= 2);
	if (links.length === 0) return [];
	const recorded = await recordedCommits(view, tree);
	const submodules = new Map<string, Submodule>();
	for (const link of links) {
		const repository = await openInner(view.repository, link.path);
		if (repository === undefined) continue;
		submodules.set(link.path, {
			path: link.path,
			repository,
			recorded: recorded.get(link.path) ?? link.oid,
			exclude: excludeInside(listing.exclude, link.path),
		});
	}
	return [...submodules.values()];
}

/** What the content of a submodule is compared with: the recorded commit, or its HEAD where that commit is not here. */
export async function comparableCommit(view: View, recorded: string): Promise<string> {
	const answer = await view.ask(['cat-file', '-t', recorded], [0, 128]);
	if (answer.stdout.toString() === 'commit\n') return recorded;
	return view.head.commit ?? view.repository.emptyTree;
}

async function recordedCommits(view: View, tree: string): Promise<Map<string, string>> {
	const commits = new Map<string, string>();
	for (const field of splitFields(await view.run(['ls-tree', '-r', '-z', tree]))) {
		const tab = field.indexOf('\t');
		const [mode = '', , oid = ''] = field.toString('latin1', 0, tab).split(' ');
		if (mode === '160000') commits.set(decodePath(field.subarray(tab + 1)), oid);
	}
	return commits;
}
