/** The mutation guard around a companion call (protocol: Git Review Baseline). */
import { comparePictures, type Picture } from '../git/guard.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import type { Attempt } from './attempts.ts';

const SHOWN = 20;

/**
 * @param after the repository the moment the companion ended; for coders only HEAD counts
 * @throws CccError `head-moved` or `repository-changed` (exit 3) naming what changed
 */
export function confirmUntouched(attempt: Attempt, after: Picture): void {
	confirmHead(attempt, after);
	if (attempt.stage.startsWith('code_')) return;
	const changes = comparePictures(attempt.before, after);
	if (changes.length === 0) return;
	const shown = changes.slice(0, SHOWN).map(({ path, what }) => `${JSON.stringify(path)} ${what}`);
	if (changes.length > SHOWN) shown.push(`and ${changes.length - SHOWN} more`);
	throw new CccError('repository-changed', 'The repository changed during a stage that must not change it.', {
		at: attempt.stage,
		found: shown.join('; '),
		next: `restore or stash those changes and resume; if they are wanted: ccc repair <folder> rerun ${attempt.stage}`,
		exitCode: EXIT.blocked,
	});
}

/** A commit is told apart from other changes: it is undone in another way. */
function confirmHead({ stage, before }: Attempt, after: Picture): void {
	if (after.head === before.head) return;
	const undo = before.head === null ? 'undo that commit' : `git reset --soft ${before.head} (keeps the work)`;
	throw new CccError('head-moved', 'HEAD moved during this stage.', {
		at: stage,
		expected: before.head ?? 'no commit',
		found: after.head ?? 'no commit',
		next: `commits are not part of a run: ${undo}, then resume`,
		exitCode: EXIT.blocked,
	});
}
