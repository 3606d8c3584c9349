/** `repair`: what the user may do with a stage whose files do not fit together (protocol: Resume). */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { callState, reapCall, stopCall } from '../agents/call.ts';
import { readIfExists, renameSynced } from '../kit/atomic-file.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import type { Lock } from '../kit/lock.ts';
import { sha256 } from '../kit/sha256.ts';
import { newAsideFolder } from './aside.ts';
import { callsFolder, latestAttempt, writeAttempt } from './attempts.ts';
import { commitStage } from './commit-stage.ts';
import { readDecisions } from './decisions.ts';
import { judgeAnswer } from './judge-answer.ts';
import { lastCommitHash, recordEvent } from './ledger.ts';
import { withRunLock } from './locked-run.ts';
import { findingsOfArtifact } from './open-findings.ts';
import { updateRunFile } from './run-file-update.ts';
import { changedReport, type RunReport } from './run-report.ts';
import { firstFindingNumber, idsToAnswer, openFindingsFor } from './stage-facts.ts';
import {
	artifactPath,
	donePath,
	draftPath,
	isReview,
	ownerOf,
	rawReviewPath,
	type Stage,
	stageName,
} from './stages.ts';
import { effectiveRounds, lastDone, nextStep } from './transitions.ts';
import { doneStages, type RunState, readRunState } from './truth.ts';
import { validateArtifact } from './validate-artifact.ts';

export const REPAIRS = ['rerun', 'aside', 'adopt'] as const;
type Repair = (typeof REPAIRS)[number];

export interface RepairOptions {
	readonly folder: string;
	readonly shown: string;
	readonly repair: Repair;
	readonly stage: Stage;
	readonly now: () => Date;
}

/**
 * - `rerun`: everything of the stage goes to `state/aside/`; resume does the stage anew.
 * - `aside`: only the artifact goes there; resume uses the answer of its call where there is one.
 * - `adopt`: the files as they are get their `.done`, if they satisfy the protocol.
 * Nothing is deleted.
 * @throws CccError `later-stages` (exit 2) when other stages build on this one, `nothing-to-repair` (exit 2),
 *   `not-due` (exit 2) for one that is not the stage to come, `invalid-run` and `unfaithful-review` (exit 1) for an
 *   artifact that cannot be adopted, `locked` (exit 4)
 */
export async function repairStage(options: RepairOptions): Promise<RunReport> {
	const { folder, shown, repair, stage, now } = options;
	return withRunLock(folder, `repair ${repair} ${stageName(stage)}`, now, async (lock) => {
		await confirmOpen(folder);
		await confirmLast(folder, stage);
		if (repair === 'adopt') await adopt(options, lock);
		else await moveAside(folder, stage, repair);
		await recordEvent(folder, { event: 'repair', stage: stageName(stage), result: repair }, now());
		const state = await readRunState(folder);
		const step = nextStep(state, 'normal');
		await updateRunFile(folder, state, step);
		return { ...changedReport(shown, state, step), exitCode: EXIT.ok };
	});
}

/** A canceled run is over. */
async function confirmOpen(folder: string): Promise<void> {
	const canceled = (await readDecisions(folder)).find(({ decision }) => decision === 'cancel');
	if (!canceled) return;
	throw new CccError('nothing-to-repair', 'This run is canceled.', {
		found: canceled.reason,
		next: 'start a new run',
		exitCode: EXIT.usage,
	});
}

async function confirmLast(folder: string, stage: Stage): Promise<void> {
	const last = lastDone(new Set((await doneStages(folder)).map(stageName)));
	const withThis = lastDone(new Set([stage, ...(last ? [last] : [])].map(stageName)));
	if (!last || (withThis && stageName(withThis) === stageName(stage))) return;
	throw new CccError('later-stages', `Later stages build on ${stageName(stage)}.`, {
		at: stageName(stage),
		found: `${stageName(last)} is done`,
		next: `repair ${stageName(last)} first, or start a new run`,
		exitCode: EXIT.usage,
	});
}

async function adopt({ folder, stage, now }: RepairOptions, lock: Lock): Promise<void> {
	const artifact = await readText(path.join(folder, artifactPath(stage)));
	if (artifact === undefined) throw nothingToRepair(stage, `no ${artifactPath(stage)}`);
	const raw = isReview(stage) ? await readText(path.join(folder, rawReviewPath(stage))) : undefined;
	const state = await readRunState(folder, { repairing: stage });
	confirmDue(state, stage);
	if (raw !== undefined) await confirmFaithful(folder, state, stage, artifact, raw);
	const recorded = await lastCommitHash(folder, stage);
	await commitStage({
		folder,
		lock,
		stage,
		artifact,
		...(raw === undefined ? {} : { raw }),
		runStartRef: state.run.baseline.ref,
		openFindings: idsToAnswer(stage, await openFindingsFor(folder, state, stage)),
		evidence: { owner: ownerOf(stage, state.run.planCode), reason: 'adopted by repair' },
		now: now(),
		// A committed artifact that somebody edited can be adopted as it is now; an untouched one is committed once.
		replace: recorded !== sha256(artifact),
	});
}

/** Adopting must not skip a stage either. */
function confirmDue(state: RunState, stage: Stage): void {
	const step = nextStep(state, 'normal');
	const due = step.kind === 'stage' ? stageName(step.stage) : step.kind;
	if (due === stageName(stage)) return;
	throw new CccError('not-due', `${stageName(stage)} is not the stage to come.`, {
		at: artifactPath(stage),
		expected: due,
		found: stageName(stage),
		next: `ccc repair <folder> aside ${stageName(stage)}`,
		exitCode: EXIT.usage,
	});
}

/** A review says what its transcript says; who wants something else decides in the open. */
async function confirmFaithful(
	folder: string,
	state: RunState,
	stage: Stage,
	artifact: string,
	raw: string,
): Promise<void> {
	const given = Buffer.from(artifact);
	const { verdict } = validateArtifact({ stage, path: artifactPath(stage), bytes: given, raw: Buffer.from(raw) });
	const firstId = await firstFindingNumber(folder, state, stage);
	const faithful = (['normal', 'auto'] as const).some((mode) => {
		const judged = judgeAnswer({
			stage,
			owner: ownerOf(stage, state.run.planCode),
			answer: raw,
			rounds: effectiveRounds(state),
			mode,
			runStartRef: state.run.baseline.ref,
			idsToAnswer: [],
			firstFindingNumber: firstId,
		});
		if (judged.kind !== 'artifact' || judged.verdict !== verdict) return false;
		const findings = findingsOfArtifact(Buffer.from(judged.artifact));
		return JSON.stringify(findings) === JSON.stringify(findingsOfArtifact(given));
	});
	if (faithful) return;
	throw new CccError('unfaithful-review', 'The review artifact does not say what its transcript says.', {
		at: artifactPath(stage),
		expected: `the verdict and the findings of ${rawReviewPath(stage)}`,
		next: `ccc repair <folder> aside ${stageName(stage)}, then resume; to overrule a review: ccc decide <folder> accept`,
		exitCode: EXIT.invalid,
	});
}

async function moveAside(folder: string, stage: Stage, repair: 'rerun' | 'aside'): Promise<void> {
	const name = stageName(stage);
	const files = [artifactPath(stage), donePath(stage)];
	if (repair === 'rerun') {
		files.push(rawReviewPath(stage), draftPath(stage), `state/${name}.verify.json`);
		files.push(...(await callEntries(folder, name)));
	}
	const present: string[] = [];
	for (const file of files) if (await exists(path.join(folder, file))) present.push(file);
	if (present.length === 0) throw nothingToRepair(stage, 'no file of this stage');
	const aside = await newAsideFolder(folder, name);
	// The commit mark goes first: what is left after a crash is an artifact to ask about, not a commit without one.
	for (const file of present.sort((a, b) => Number(b.endsWith('.done')) - Number(a.endsWith('.done')))) {
		await renameSynced(path.join(folder, file), path.join(aside, path.basename(file)));
	}
	const attempt = repair === 'aside' ? await latestAttempt(folder, stage) : undefined;
	if (attempt?.handled === 'committed') {
		const { handled, ...unused } = attempt;
		await writeAttempt(folder, unused);
	}
}

/** Calls of the stage; those that still run are stopped first. Paths relative to the run folder. */
async function callEntries(folder: string, name: string): Promise<string[]> {
	const names = await readdir(callsFolder(folder)).catch(() => []);
	const own = names.filter((entry) => entry.startsWith(`${name}.`));
	for (const entry of own.filter((entry) => !entry.endsWith('.json'))) {
		const call = path.join(callsFolder(folder), entry);
		const { state } = await callState(call);
		if (state === 'running') await stopCall(call);
		if (state === 'lost') await reapCall(call);
	}
	return own.map((entry) => `state/calls/${entry}`);
}

function nothingToRepair(stage: Stage, found: string): CccError {
	return new CccError('nothing-to-repair', `There is nothing to repair in ${stageName(stage)}.`, {
		at: stageName(stage),
		found,
		exitCode: EXIT.usage,
	});
}

async function readText(file: string): Promise<string | undefined> {
	return (await readIfExists(file))?.toString('utf8');
}

async function exists(file: string): Promise<boolean> {
	return stat(file).then(
		() => true,
		() => false,
	);
}
