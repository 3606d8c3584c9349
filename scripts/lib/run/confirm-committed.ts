/** Whoever goes on with a run believes its `.done` files only where they and what they stand for were committed. */
import { readIntent } from './intent.ts';
import { isLedgerWhole } from './ledger.ts';
import type { Problem } from './problem.ts';
import { readRecord } from './record-files.ts';
import { artifactPath, isReview, rawReviewPath, stageName } from './stages.ts';
import { doneStages } from './truth.ts';
import { checkHashes, LEDGER } from './validate-records.ts';
import { validationFailure } from './validation-failure.ts';

/**
 * Holds the files of every done stage against the ledger. In a run that another program started it need not name them all.
 * @throws CccError `invalid-run` (exit 1) naming files changed after their commit (`changed-after-commit`) and stages that
 *   nobody committed (`not-in-ledger`)
 */
export async function confirmCommitted(folder: string): Promise<void> {
	const ledger = await readRecord(folder, LEDGER);
	if (!ledger) return;
	// Without the lock a commit may be seen in the middle; with it there is none.
	const underWay = (await readIntent(folder))?.stage;
	const done = (await doneStages(folder)).filter((stage) => stageName(stage) !== underWay);
	const files = new Map<string, Uint8Array>();
	for (const stage of done) {
		for (const file of [artifactPath(stage), ...(isReview(stage) ? [rawReviewPath(stage)] : [])]) {
			const bytes = await readRecord(folder, file);
			if (bytes) files.set(file, bytes);
		}
	}
	const problems: Problem[] = [];
	checkHashes(ledger, done, files, problems);
	const whole = await isLedgerWhole(folder);
	const standing = problems
		.filter(({ code }) => code === 'changed-after-commit' || (whole && code === 'not-in-ledger'))
		.map((problem): Problem => ({ ...problem, level: 'error' }));
	if (standing.length === 0) return;
	throw validationFailure(standing, {
		next: 'put those files back as they were, or do or adopt the last stage again: ccc repair <folder> <repair> <stage>',
	});
}
