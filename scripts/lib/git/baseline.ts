/** Where a run starts, and whether the repository still stands there (protocol: Git Baseline, Git Review Baseline). */
import { CccError, EXIT } from '../kit/errors.ts';
import { readDiff } from './diff.ts';
import { readListing } from './listing.ts';
import type { Repository } from './repository.ts';
import { markSpecialFiles } from './scratch-index.ts';
import { readStatus } from './status.ts';
import { withView } from './view.ts';

export interface Baseline {
	/** The commit HEAD stood at, or the empty tree of a repository without commits. */
	readonly ref: string;
	readonly kind: 'head' | 'empty_tree';
}

export interface BaselineCapture {
	readonly baseline: Baseline;
	/** Exact stdout of `git status --short`. */
	readonly status: Buffer;
	/** Exact stdout of `git diff` and `git diff --cached`. */
	readonly unstagedDiff: Buffer;
	readonly stagedDiff: Buffer;
	/** Whether anything is changed or untracked. */
	readonly dirty: boolean;
}

/**
 * Reads what `run.md` and the three baseline files of a new run record.
 * @param exclude run folders, relative to the root
 */
export async function captureBaseline(repository: Repository, exclude: readonly string[]): Promise<BaselineCapture> {
	return withView(repository, async (view) => {
		const listing = await readListing(view, exclude);
		const status = await readStatus(view, listing);
		await markSpecialFiles(view, listing);
		const [unstagedDiff, stagedDiff] = await Promise.all([
			readDiff(view, { compare: [], exclude: listing.exclude }),
			readDiff(view, { compare: ['--cached'], exclude: listing.exclude }),
		]);
		const commit = view.head.commit;
		const baseline: Baseline =
			commit === undefined ? { ref: repository.emptyTree, kind: 'empty_tree' } : { ref: commit, kind: 'head' };
		return { baseline, status, unstagedDiff, stagedDiff, dirty: status.length > 0 };
	});
}

/**
 * Holds when the baseline exists here and HEAD has not moved from it. A run that started without commits compares
 * with the empty tree, with or without HEAD, so only the tree is checked then.
 * Errors (CccError, exit 3): `invalid-baseline`, `head-moved`.
 */
export async function confirmBaseline(repository: Repository, baseline: Baseline): Promise<void> {
	await withView(repository, async (view) => {
		if (baseline.kind === 'empty_tree') {
			if (baseline.ref !== repository.emptyTree) throw invalid(repository, baseline, repository.emptyTree);
			return;
		}
		const isId = new RegExp(`^[0-9a-f]{${repository.emptyTree.length}}$`).test(baseline.ref);
		const isCommit =
			isId && (await view.ask(['cat-file', '-t', baseline.ref], [0, 128])).stdout.toString() === 'commit\n';
		if (!isCommit) throw invalid(repository, baseline, 'the id of a commit of this repository');
		if (view.head.commit !== baseline.ref) {
			throw new CccError('head-moved', `HEAD moved from ${baseline.ref} to ${view.head.commit ?? 'no commit'}.`, {
				at: repository.root,
				expected: `HEAD at ${baseline.ref}`,
				found: `HEAD at ${view.head.commit ?? 'no commit'}`,
				next: `restore HEAD to ${baseline.ref} (git reset --soft keeps the work), or cancel and start a new run`,
				exitCode: EXIT.blocked,
			});
		}
	});
}

function invalid(repository: Repository, baseline: Baseline, expected: string): CccError {
	return new CccError('invalid-baseline', 'The run started from something that this repository does not have.', {
		at: repository.root,
		expected,
		found: baseline.ref.slice(0, 100),
		next: 'run it in the repository it was started in, or cancel and start a new run',
		exitCode: EXIT.blocked,
	});
}
