/** Performs one stage through its owner's CLI, from prompt to `.done` (protocol: Agent Calls, Write Ordering). */
import type { CallResult } from '../agents/call-folder.ts';
import { confirmBaseline } from '../git/baseline.ts';
import { type Picture, takePicture } from '../git/guard.ts';
import { readReviewSurface } from '../git/review-surface.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { type Attempt, latestAttempt, writeAttempt } from './attempts.ts';
import { awaitAttempt } from './await-attempt.ts';
import { beginAttempt, beginCorrection } from './begin-attempt.ts';
import { commitStage } from './commit-stage.ts';
import type { Coordinator } from './coordinator.ts';
import { confirmUntouched } from './guard-attempt.ts';
import { type Judgement, judgeAnswer } from './judge-answer.ts';
import { recordEventOnce } from './ledger.ts';
import { findingsOfArtifact } from './open-findings.ts';
import { confirmPresent, confirmRecords, readRecords } from './record-guard.ts';
import { firstFindingNumber, idsToAnswer, openFindingsFor } from './stage-facts.ts';
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
	let { attempt, attached } = await currentAttempt(by, state, stage);
	const owner = ownerOf(stage, state.run.planCode);
	by.report({ kind: 'stage-started', stage: stageName(stage), owner, attached });
	for (let lost = 0; ; ) {
		const result = await settle(by, attempt);
		if (result === 'lost') {
			if (lost++ >= LOST_RETRIES) throw lostCall(stage);
			attempt = await beginAttempt(by, state, stage);
			continue;
		}
		if (attached && (await isStale(by, state, attempt))) {
			await writeAttempt(by.place.folder, { ...attempt, handled: 'stale' });
			by.report({ kind: 'note', text: `${attempt.stage} judged an earlier state of the code; asking again` });
			attached = false;
			attempt = await beginAttempt(by, state, stage);
			continue;
		}
		const answer = result.outcome.answer ?? '';
		const judgement = await judge(by, state, stage, answer);
		if (judgement.kind === 'artifact') {
			await commit(by, state, stage, attempt, result, judgement);
			return;
		}
		attempt = { ...attempt, handled: 'unreadable', problems: [...judgement.problems] };
		await writeAttempt(by.place.folder, attempt);
		if (attempt.purpose === 'correction') throw unreadable(stage, judgement.problems);
		by.report({ kind: 'correction', stage: stageName(stage), problems: judgement.problems });
		attempt = await beginCorrection(by, state, stage, attempt, answer);
	}
}

async function currentAttempt(
	by: Coordinator,
	state: RunState,
	stage: Stage,
): Promise<{ attempt: Attempt; attached: boolean }> {
	const latest = await latestAttempt(by.place.folder, stage);
	if (latest && latest.handled === undefined) return { attempt: latest, attached: true };
	if (latest?.handled === 'repository-changed') {
		// The protocol wants those changes gone before anything else happens.
		confirmUntouched(latest, await takePicture(by.place.repository, latest.exclude));
	}
	return { attempt: await beginAttempt(by, state, stage), attached: false };
}

/** A verdict is bound to what was read: a review found by resume counts only for the code it was about. */
async function isStale(by: Coordinator, state: RunState, attempt: Attempt): Promise<boolean> {
	if (attempt.diff === undefined) return false;
	const surface = await readReviewSurface(by.place.repository, state.run.baseline, {
		exclude: attempt.exclude,
		budgetBytes: by.diffBudget,
	});
	return surface.sha256 !== attempt.diff.sha256;
}

/** Waits for the call and holds it to the guard and to a usable outcome; whatever fails marks the attempt as used up. */
async function settle(by: Coordinator, attempt: Attempt): Promise<CallResult | 'lost'> {
	const handled = (how: string): Promise<void> => writeAttempt(by.place.folder, { ...attempt, handled: how });
	try {
		const records = await readRecords(by.place.folder);
		const result = await awaitAttempt(by, attempt);
		confirmRecords(attempt.stage, records, await readRecords(by.place.folder));
		if (result === 'lost') {
			await handled('lost');
			return result;
		}
		await recordCall(by, attempt, result);
		confirmUntouched(attempt, pictureAfter(attempt, result));
		if (result.outcome.kind !== 'answered') throw companionFailure(attempt, result);
		return result;
	} catch (error) {
		await confirmPresent(by.place.folder, by.place.shown);
		await handled(error instanceof CccError ? error.code : 'stopped');
		throw error;
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

function companionFailure(attempt: Attempt, { outcome }: CallResult): CccError {
	return new CccError(`companion-${outcome.kind}`, `The companion for ${attempt.stage} did not answer.`, {
		at: attempt.stage,
		expected: 'an answer',
		found: outcome.lastWords === '' ? outcome.kind : `${outcome.kind}: ${outcome.lastWords}`,
		next: outcome.nextStep,
		exitCode: EXIT.companion,
	});
}

function lostCall(stage: Stage): CccError {
	return new CccError('companion-failed', 'The supervisor of the companion call was killed, twice.', {
		at: stageName(stage),
		next: 'find out what ends processes on this machine, then resume',
		exitCode: EXIT.companion,
	});
}

function unreadable(stage: Stage, problems: readonly string[]): CccError {
	return new CccError('companion-unreadable', 'The answer could not be used, nor its correction.', {
		at: stageName(stage),
		found: problems.join('; '),
		next: 'resume to ask again, or look at the answers in state/calls/',
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
			durationMs: Math.round(durationMs),
			bytes: { prompt: attempt.prompt.bytes },
			sha256: { prompt: attempt.prompt.sha256 },
			...(outcome.tokens === undefined ? {} : { tokens: outcome.tokens }),
			result: outcome.kind,
		},
		endedAt,
	);
}
