/** Performs one stage through its owner's CLI, from prompt to `.done` (protocol: Agent Calls, Write Ordering). */
import type { CallResult } from '../agents/call-folder.ts';
import { confirmBaseline } from '../git/baseline.ts';
import { type Picture, takePicture } from '../git/guard.ts';
import { readReviewSurface } from '../git/review-surface.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { moveDraftAside } from './aside.ts';
import { type Attempt, latestAttempt, writeAttempt } from './attempts.ts';
import { awaitAttempt } from './await-attempt.ts';
import { beginAttempt, beginCorrection, type Underway } from './begin-attempt.ts';
import { commitStage } from './commit-stage.ts';
import type { Coordinator } from './coordinator.ts';
import { confirmUntouched } from './guard-attempt.ts';
import { type Judgement, judgeAnswer } from './judge-answer.ts';
import { recordEventOnce } from './ledger.ts';
import { findingsOfArtifact } from './open-findings.ts';
import { confirmRecords, readRecords } from './record-guard.ts';
import { firstFindingNumber, idsToAnswer, openFindingsFor } from './stage-facts.ts';
import { asHardFailure, companionFailure, lostCall, unreadable } from './stage-failures.ts';
import { isReview, ownerOf, type Stage, stageName } from './stages.ts';
import { effectiveRounds } from './transitions.ts';
import type { RunState } from './truth.ts';

/** How often a call that was lost is made again by one command. */
const LOST_RETRIES = 1;

/**
 * Goes on with an attempt that an earlier coordinator left, or starts one. An answer of the wrong form goes back to its
 * owner once.
 * @throws CccError with exit 3 or 5 for every hard failure: the run is blocked then, and can be resumed
 */
export async function performStage(by: Coordinator, state: RunState, stage: Stage): Promise<void> {
	await confirmBaseline(by.place.repository, state.run.baseline);
	let { attached, ...underway } = await currentAttempt(by, state, stage);
	const owner = ownerOf(stage, state.run.planCode);
	by.report({ kind: 'stage-started', stage: stageName(stage), owner, attached });
	for (let lost = 0; ; ) {
		const { attempt } = underway;
		const result = await settle(by, underway);
		if (result === 'lost') {
			if (lost++ >= LOST_RETRIES) throw lostCall(stage);
			underway = await beginAttempt(by, state, stage);
			continue;
		}
		if (attached && (await isStale(by, state, attempt))) {
			await writeAttempt(by.place.folder, { ...attempt, handled: 'stale' });
			by.report({ kind: 'note', text: `${attempt.stage} judged an earlier state of the code; asking again` });
			attached = false;
			underway = await beginAttempt(by, state, stage);
			continue;
		}
		const answer = result.outcome.answer ?? '';
		const judgement = await judge(by, state, stage, answer);
		if (judgement.kind === 'artifact') {
			await commit(by, state, stage, attempt, result, judgement);
			return;
		}
		const answered: Attempt = { ...attempt, handled: 'unreadable', problems: [...judgement.problems] };
		await writeAttempt(by.place.folder, answered);
		if (attempt.purpose === 'correction') throw unreadable(stage, judgement.problems);
		by.report({ kind: 'correction', stage: stageName(stage), problems: judgement.problems });
		underway = await beginCorrection(by, state, stage, answered, answer);
	}
}

async function currentAttempt(
	by: Coordinator,
	state: RunState,
	stage: Stage,
): Promise<Underway & { attached: boolean }> {
	const latest = await latestAttempt(by.place.folder, stage);
	if (latest?.purpose === 'session' && latest.handled === undefined) {
		await moveDraftAside(by.place.folder, stage);
		await writeAttempt(by.place.folder, { ...latest, handled: 'taken-over' });
	} else if (latest && latest.handled === undefined) {
		return { attempt: latest, records: await readRecords(by.place.folder), attached: true };
	}
	if (latest?.handled === 'repository-changed' || latest?.handled === 'head-moved') {
		// The protocol wants those changes gone before anything else happens.
		confirmUntouched(latest, await takePicture(by.place.repository, latest.exclude));
	}
	return { ...(await beginAttempt(by, state, stage)), attached: false };
}

/** A verdict is bound to what was read: a review found by resume counts only for the code it was about. */
async function isStale(by: Coordinator, state: RunState, attempt: Attempt): Promise<boolean> {
	if (attempt.diff === undefined) return attempt.stage.startsWith('review_');
	const surface = await readReviewSurface(by.place.repository, state.run.baseline, {
		exclude: attempt.exclude,
		budgetBytes: by.diffBudget,
	});
	return surface.sha256 !== attempt.diff.sha256;
}

/** Waits for the call and holds it to the guard and to a usable outcome; whatever fails marks the attempt as used up. */
async function settle(by: Coordinator, { attempt, records }: Underway): Promise<CallResult | 'lost'> {
	const { folder, shown } = by.place;
	const handled = (how: string): Promise<void> => writeAttempt(folder, { ...attempt, handled: how });
	try {
		let result: CallResult | 'lost';
		try {
			result = await awaitAttempt(by, attempt);
		} finally {
			// Whatever became of the call: what it did to the records counts first.
			await confirmRecords(folder, shown, attempt.stage, records);
		}
		if (result === 'lost') {
			await handled('lost');
			return result;
		}
		await recordCall(by, attempt, result);
		confirmUntouched(attempt, pictureAfter(attempt, result));
		if (result.outcome.kind !== 'answered') throw companionFailure(attempt, result);
		return result;
	} catch (error) {
		if (error instanceof CccError && error.code === 'records-gone') throw error;
		await handled(error instanceof CccError ? error.code : 'stopped');
		throw asHardFailure(error, attempt);
	}
}

function pictureAfter(attempt: Attempt, { after, afterError }: CallResult): Picture {
	if (typeof after === 'object' && after !== null && 'entries' in after) return after as Picture;
	throw new CccError('guard-failed', 'The repository could not be looked at after the companion ended.', {
		at: attempt.stage,
		...(afterError === undefined ? {} : { found: afterError }),
		next: 'mend the repository, then resume',
		exitCode: EXIT.blocked,
	});
}

async function judge(by: Coordinator, state: RunState, stage: Stage, answer: string): Promise<Judgement> {
	const { folder } = by.place;
	return judgeAnswer({
		stage,
		owner: ownerOf(stage, state.run.planCode),
		answer,
		rounds: effectiveRounds(state),
		mode: by.mode,
		runStartRef: state.run.baseline.ref,
		idsToAnswer: idsToAnswer(stage, await openFindingsFor(folder, state, stage)),
		firstFindingNumber: await firstFindingNumber(folder, state, stage),
	});
}

async function commit(
	by: Coordinator,
	state: RunState,
	stage: Stage,
	attempt: Attempt,
	result: CallResult,
	judgement: Extract<Judgement, { kind: 'artifact' }>,
): Promise<void> {
	const { outcome, durationMs } = result;
	await commitStage({
		folder: by.place.folder,
		lock: by.lock,
		stage,
		artifact: judgement.artifact,
		...(judgement.raw === undefined ? {} : { raw: judgement.raw }),
		runStartRef: state.run.baseline.ref,
		openFindings: idsToAnswer(stage, await openFindingsFor(by.place.folder, state, stage)),
		evidence: {
			owner: ownerOf(stage, state.run.planCode),
			durationMs: Math.round(durationMs),
			...(outcome.tokens === undefined ? {} : { tokens: outcome.tokens }),
			bytes: { prompt: attempt.prompt.bytes, ...(attempt.diff ? { diff: attempt.diff.bytes } : {}) },
			sha256: { prompt: attempt.prompt.sha256, ...(attempt.diff ? { diff: attempt.diff.sha256 } : {}) },
			...(judgement.verdict === undefined ? {} : { result: judgement.verdict }),
		},
		now: by.now(),
	});
	await writeAttempt(by.place.folder, { ...attempt, handled: 'committed' });
	by.report({
		kind: 'stage-committed',
		stage: stageName(stage),
		durationMs,
		...(judgement.verdict === undefined ? {} : { verdict: judgement.verdict }),
		owner: ownerOf(stage, state.run.planCode),
		findings: isReview(stage) ? findingsOfArtifact(Buffer.from(judgement.artifact)) : [],
	});
}

async function recordCall(
	by: Coordinator,
	attempt: Attempt,
	{ outcome, durationMs, endedAt }: CallResult,
): Promise<void> {
	await recordEventOnce(
		by.place.folder,
		{
			event: 'call',
			stage: attempt.stage,
			owner: attempt.owner,
			durationMs: Math.round(durationMs),
			bytes: { prompt: attempt.prompt.bytes },
			sha256: { prompt: attempt.prompt.sha256 },
			...(outcome.tokens === undefined ? {} : { tokens: outcome.tokens }),
			result: outcome.kind,
		},
		endedAt,
	);
}
