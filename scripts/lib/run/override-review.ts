/** auto mode passes a last review that does not approve: it is attested again as APPROVE_AUTO_OVERRIDE (protocol: Modes). */
import { CccError, EXIT } from '../kit/errors.ts';
import { commitStage } from './commit-stage.ts';
import type { Coordinator } from './coordinator.ts';
import { judgeAnswer } from './judge-answer.ts';
import { readRecord } from './record-files.ts';
import { firstFindingNumber } from './stage-facts.ts';
import { ownerOf, rawReviewPath, type Stage, stageName } from './stages.ts';
import { effectiveRounds } from './transitions.ts';
import type { RunState } from './truth.ts';

/**
 * Renders the artifact anew from the raw review, with the same finding ids, and commits it over the old one.
 * @throws CccError `override-unreadable` (exit 3) for a transcript this version cannot read
 */
export async function overrideReview(by: Coordinator, state: RunState, review: Stage): Promise<void> {
	const { folder } = by.place;
	const answer = (await readRecord(folder, rawReviewPath(review)))?.toString('utf8') ?? '';
	const owner = ownerOf(review, state.run.planCode);
	const judged = judgeAnswer({
		stage: review,
		owner,
		answer,
		rounds: effectiveRounds(state),
		mode: 'auto',
		runStartRef: state.run.baseline.ref,
		idsToAnswer: [],
		firstFindingNumber: await firstFindingNumber(folder, state, review),
	});
	if (judged.kind !== 'artifact' || judged.verdict !== 'APPROVE_AUTO_OVERRIDE') {
		throw new CccError('override-unreadable', 'The raw review cannot be attested again.', {
			at: rawReviewPath(review),
			next: `decide by hand: ccc decide <folder> accept "<reason>", for ${stageName(review)}`,
			exitCode: EXIT.blocked,
		});
	}
	await commitStage({
		folder,
		lock: by.lock,
		stage: review,
		artifact: judged.artifact,
		raw: answer,
		runStartRef: state.run.baseline.ref,
		openFindings: [],
		evidence: { owner, result: judged.verdict, reason: 'auto override on resume' },
		now: by.now(),
		replace: true,
	});
	by.report({
		kind: 'stage-committed',
		stage: stageName(review),
		owner,
		durationMs: 0,
		verdict: judged.verdict,
		findings: [],
	});
}
