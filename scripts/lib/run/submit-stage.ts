/** `submit`: commits what the session wrote for its own stage, by the same code as every other commit. */
import { isUtf8 } from 'node:buffer';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { confirmBaseline } from '../git/baseline.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { advance, block } from './advance.ts';
import { type Attempt, writeAttempt } from './attempts.ts';
import { isHardFailure } from './block-run.ts';
import { type Caller, commandLine } from './caller.ts';
import { commitStage } from './commit-stage.ts';
import type { Coordinator } from './coordinator.ts';
import type { Driver } from './driver.ts';
import { describeRefusal, readInnerFile } from './inner-file.ts';
import { type Judgement, judgeAnswer } from './judge-answer.ts';
import { confirmRead, holdToGuard, pictureFor } from './session-attempt.ts';
import { resumeLine, type SessionOutput } from './session-output.ts';
import { firstFindingNumber, idsToAnswer, openFindingsFor } from './stage-facts.ts';
import { artifactPath, draftPath, isReview, ownerOf, rawReviewPath, type Stage, stageName } from './stages.ts';
import { effectiveRounds } from './transitions.ts';
import { type RunState, readRunState } from './truth.ts';
import { turnOf } from './turn.ts';

/** Longer than any artifact the validator accepts. */
const DRAFT_MAX_BYTES = 4 * 1024 * 1024;

/**
 * Judges the draft, holds the stage to the guard, commits, and goes on to the next point where somebody has to act.
 * @throws CccError `not-due` (exit 2) for a stage that is not the session's to do now, `nothing-written` and
 *   `not-acceptable` (exit 1) with all that is wrong: nothing is changed then, and submitting again is the way on
 */
export async function submitStage(
	by: Coordinator,
	driver: Driver,
	caller: Caller,
	stage: Stage,
): Promise<SessionOutput> {
	const { folder, shown } = by.place;
	const state = await readRunState(folder);
	const attempt = await dueAttempt(by, state, driver, caller, stage);
	const again = commandLine(caller, ['submit', folder, stageName(stage)]);
	const judged = await judgeDraft(by, state, stage, await readDraft(folder, stage, again), again);
	try {
		await confirmBaseline(by.place.repository, state.run.baseline);
		await holdToGuard(folder, attempt, await pictureFor(by, stage, attempt.exclude));
		await confirmRead(folder, attempt);
	} catch (error) {
		if (!isHardFailure(error)) throw error;
		return block(by, state, error, { folder, shown, state, driver, caller });
	}
	await commit(by, state, stage, attempt, judged);
	return advance(by, driver, caller);
}

async function dueAttempt(
	{ place: { folder } }: Coordinator,
	state: RunState,
	driver: Driver,
	caller: Caller,
	stage: Stage,
): Promise<Attempt> {
	const turn = await turnOf(folder, state, driver);
	if (turn.kind === 'work' && stageName(turn.stage) === stageName(stage) && turn.attempt) return turn.attempt;
	const unprepared = turn.kind === 'work' && turn.attempt === undefined;
	throw new CccError('not-due', `${stageName(stage)} is not for this session to submit now.`, {
		at: stageName(stage),
		expected: describeTurn(turn, state),
		...(state.done.has(stageName(stage)) ? { found: 'it is committed already' } : {}),
		next: unprepared ? resumeLine({ folder, driver, caller }) : commandLine(caller, ['next', folder]),
		exitCode: EXIT.usage,
	});
}

function describeTurn(turn: Awaited<ReturnType<typeof turnOf>>, state: RunState): string {
	switch (turn.kind) {
		case 'work':
		case 'call':
			return `${stageName(turn.stage)} by ${ownerOf(turn.stage, state.run.planCode)}`;
		case 'approval':
			return 'the approval of the user';
		case 'other':
			return turn.step.kind === 'decide' ? 'a decision of the user' : `nothing: the run is ${turn.step.kind}`;
	}
}

async function readDraft(folder: string, stage: Stage, again: string): Promise<string> {
	const draft = draftPath(stage);
	const read = await readInnerFile(await realpath(folder), draft, DRAFT_MAX_BYTES);
	const text = read instanceof Uint8Array && isUtf8(read) ? read.toString('utf8') : '';
	if (text.trim() !== '') return text;
	const { found, expected } =
		read instanceof Uint8Array
			? { found: isUtf8(read) ? 'an empty file' : 'bytes that are not UTF-8', expected: 'text in UTF-8' }
			: describeRefusal(read, `the text of ${stageName(stage)}`);
	throw new CccError('nothing-written', `There is nothing to submit for ${stageName(stage)}.`, {
		at: path.join(folder, draft),
		expected,
		found,
		next: `write that file, then: ${again}`,
		exitCode: EXIT.invalid,
	});
}

async function judgeDraft(
	{ place: { folder }, mode }: Coordinator,
	state: RunState,
	stage: Stage,
	answer: string,
	again: string,
): Promise<Extract<Judgement, { kind: 'artifact' }>> {
	const judged = judgeAnswer({
		stage,
		owner: ownerOf(stage, state.run.planCode),
		answer,
		rounds: effectiveRounds(state),
		mode,
		runStartRef: state.run.baseline.ref,
		idsToAnswer: idsToAnswer(stage, await openFindingsFor(folder, state, stage)),
		firstFindingNumber: await firstFindingNumber(folder, state, stage),
	});
	if (judged.kind === 'artifact') return judged;
	const committed = isReview(stage) ? rawReviewPath(stage) : artifactPath(stage);
	const list = judged.problems.map((problem) => `\n    ${problem.replace(`${committed}:`, `${draftPath(stage)}:`)}`);
	throw new CccError('not-acceptable', `${stageName(stage)} cannot be committed as it is; nothing was changed.`, {
		at: path.join(folder, draftPath(stage)),
		found: list.join(''),
		next: `correct that file, then: ${again}`,
		exitCode: EXIT.invalid,
	});
}

async function commit(
	by: Coordinator,
	state: RunState,
	stage: Stage,
	attempt: Attempt,
	judged: Extract<Judgement, { kind: 'artifact' }>,
): Promise<void> {
	const { folder } = by.place;
	await commitStage({
		folder,
		lock: by.lock,
		stage,
		artifact: judged.artifact,
		...(judged.raw === undefined ? {} : { raw: judged.raw }),
		runStartRef: state.run.baseline.ref,
		openFindings: idsToAnswer(stage, await openFindingsFor(folder, state, stage)),
		evidence: {
			owner: attempt.owner,
			durationMs: Math.max(0, by.now().getTime() - Date.parse(attempt.startedAt ?? by.now().toISOString())),
			bytes: { prompt: attempt.prompt.bytes, ...(attempt.diff ? { diff: attempt.diff.bytes } : {}) },
			sha256: { prompt: attempt.prompt.sha256, ...(attempt.diff ? { diff: attempt.diff.sha256 } : {}) },
			...(judged.verdict === undefined ? {} : { result: judged.verdict }),
		},
		draft: true,
		now: by.now(),
	});
	await writeAttempt(folder, { ...attempt, handled: 'committed' });
}
