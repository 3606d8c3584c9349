/** The mutation guard: what a repository held before, what it holds now, and the difference. */
import { readFingerprints } from './fingerprint.ts';
import { findHidden } from './hidden-files.ts';
import { excludeInside, isGitlink, readListing, type TrackedEntry } from './listing.ts';
import { showPath } from './paths.ts';
import { openInner, type Repository } from './repository.ts';
import { withView } from './view.ts';

/** One moment of a repository, as JSON can hold it. */
export interface Picture {
	readonly head: string | null;
	/** The branch HEAD is on; null when detached. */
	readonly headRef: string | null;
	/**
	 * By path: what is staged (`<mode>:<oid>:<stage>`, `-` for nothing), a space, and what lies in the work tree
	 * (`file:<mode>:<sha256>`, `link:<sha256>`, `repository:<commit>:<branch>`, `folder`, `absent`, `fifo`, ...).
	 */
	readonly entries: Record<string, string>;
}

export interface PictureChange {
	readonly path: string;
	readonly what: string;
}

/**
 * Takes the picture of a repository: HEAD, index, tracked and untracked content with modes, submodules and nested
 * repositories inside. Ignored files and run folders are not in it, but every rule that ignores files is: a `.gitignore`
 * that is ignored itself, and `.git/info/exclude`.
 * @param exclude run folders, relative to the root
 */
export async function takePicture(repository: Repository, exclude: readonly string[]): Promise<Picture> {
	const entries = new Map<string, string>();
	const head = await addRepository(repository, exclude, '', entries);
	return { head: head.commit, headRef: head.ref, entries: Object.fromEntries(entries) };
}

async function addRepository(
	repository: Repository,
	exclude: readonly string[],
	prefix: string,
	entries: Map<string, string>,
): Promise<{ commit: string | null; ref: string | null }> {
	const { listing, hidden, head } = await withView(repository, async (view) => {
		const found = await readListing(view, exclude);
		return {
			listing: found,
			hidden: await findHidden(view, found),
			head: { commit: view.head.commit ?? null, ref: view.head.ref ?? null },
		};
	});
	const staged = stagedByPath(listing.tracked);
	const paths = [...staged.keys(), ...listing.untracked, ...hidden.byHiddenRules.keys()];
	const found = await readFingerprints(repository.root, paths);
	const infoExclude = await readFingerprints(repository.commonFolder, ['info/exclude']);
	for (const [path, print] of infoExclude) if (print !== 'absent') found.set(`.git/${path}`, print);
	for (const { path, kind } of listing.specials) found.set(path, kind);
	for (const path of [...listing.tracked.filter(isGitlink).map((entry) => entry.path), ...listing.repositories]) {
		const inner = await openInner(repository, path);
		if (inner === undefined) continue;
		const inside = await addRepository(inner, excludeInside(listing.exclude, path), `${prefix}${path}/`, entries);
		found.set(path, `repository:${inside.commit ?? 'none'}:${inside.ref ?? 'detached'}`);
	}
	for (const [path, print] of found) entries.set(prefix + path, `${staged.get(path) ?? '-'} ${print}`);
	return head;
}

function stagedByPath(tracked: readonly TrackedEntry[]): Map<string, string> {
	const staged = new Map<string, string>();
	for (const { path, mode, oid, stage } of tracked) {
		const before = staged.get(path);
		staged.set(path, `${before === undefined ? '' : `${before},`}${mode}:${oid}:${stage}`);
	}
	return staged;
}

/** Every difference between two pictures, sorted by path. Pure. */
export function comparePictures(before: Picture, after: Picture): PictureChange[] {
	const changes: PictureChange[] = [];
	if (before.head !== after.head) {
		changes.push({ path: 'HEAD', what: `HEAD moved from ${before.head ?? 'none'} to ${after.head ?? 'none'}` });
	}
	if (before.headRef !== after.headRef) {
		const [from, to] = [before.headRef ?? 'no branch', after.headRef ?? 'no branch'];
		changes.push({ path: 'HEAD', what: `HEAD switched from ${from} to ${to}` });
	}
	const old = new Map(Object.entries(before.entries));
	const now = new Map(Object.entries(after.entries));
	for (const path of [...new Set([...old.keys(), ...now.keys()])].sort()) {
		for (const what of compareEntries(old.get(path) ?? '- absent', now.get(path) ?? '- absent')) {
			changes.push({ path: showPath(path), what });
		}
	}
	return changes;
}

function compareEntries(before: string, after: string): string[] {
	const [oldStaged = '', oldFound = ''] = before.split(' ');
	const [newStaged = '', newFound = ''] = after.split(' ');
	return [compareStaged(oldStaged, newStaged), compareFound(oldFound, newFound)].filter((what) => what !== undefined);
}

function compareStaged(before: string, after: string): string | undefined {
	if (before === after) return undefined;
	if (before === '-') return 'added to the index';
	if (after === '-') return 'removed from the index';
	const isModeOnly = before.slice(before.indexOf(':')) === after.slice(after.indexOf(':'));
	return isModeOnly ? 'staged mode changed' : 'staged content changed';
}

function compareFound(before: string, after: string): string | undefined {
	if (before === after) return undefined;
	if (before === 'absent') return 'added';
	if (after === 'absent') return 'removed';
	const [oldKind = '', oldMode = '', oldHash = ''] = before.split(':');
	const [newKind = '', newMode = '', newHash = ''] = after.split(':');
	if (oldKind !== newKind) return `changed from ${oldKind} to ${newKind}`;
	if (newKind === 'link') return 'link target changed';
	if (newKind === 'repository') {
		return oldMode === newMode ? 'HEAD switched to another branch' : `HEAD moved from ${oldMode} to ${newMode}`;
	}
	if (oldHash === newHash) return `mode changed from ${oldMode} to ${newMode}`;
	return oldMode === newMode ? 'content changed' : 'content and mode changed';
}
