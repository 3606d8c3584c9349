/** `repair`: what the user may do with a stage whose files do not fit together (protocol: Resume). */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { callState, reapCall, stopCall } from '../agents/call.ts';
import { makeFolder, readIfExists, renameSynced } from '../kit/atomic-file.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import type { Lock } from '../kit/lock.ts';
import { sha256 } from '../kit/sha256.ts';
import { callsFolder, latestAttempt, writeAttempt } from './attempts.ts';
import { commitStage } from './commit-stage.ts';
import { lastCommitHash, recordEvent } from './ledger.ts';
import { withRunLock } from './locked-run.ts';
import { updateRunFile } from './run-file-update.ts';
import { type RunReport, reportOf } from './run-report.ts';
import { idsToAnswer, openFindingsFor } from './stage-facts.ts';
import { artifactPath, donePath, isReview, ownerOf, rawReviewPath, type Stage, stageName } from './stages.ts';
import { lastDone, nextStep } from './transitions.ts';
import { doneStages, readRunState } from './truth.ts';

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
 *   `invalid-run` (exit 1) for an artifact that cannot be adopted, `locked` (exit 4)
 */
export async function repairStage(options: RepairOptions): Promise<RunReport> {
	const { folder, shown, repair, stage, now } = options;
	return withRunLock(folder, `repair ${repair} ${stageName(stage)}`, now, async (lock) => {
		await confirmLast(folder, stage);
		if (repair === 'adopt') await adopt(options, lock);
		else await moveAside(folder, stage, repair);
		await recordEvent(folder, { event: 'repair', stage: stageName(stage), result: repair }, now());
		const state = await readRunState(folder);
		const step = nextStep(state, 'normal');
		await updateRunFile(folder, state, step);
		return { ...reportOf(shown, state, step), exitCode: EXIT.ok };
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
		replace: recorded !== undefined && recorded !== sha256(artifact),
	});
}

async function moveAside(folder: string, stage: Stage, repair: 'rerun' | 'aside'): Promise<void> {
	const name = stageName(stage);
	const files = [artifactPath(stage), donePath(stage)];
	if (repair === 'rerun') {
		files.push(rawReviewPath(stage), `state/${name}.verify.json`);
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

async function newAsideFolder(folder: string, name: string): Promise<string> {
	const parent = path.join(folder, 'state', 'aside');
	const used = await readdir(parent).catch(() => []);
	const aside = path.join(parent, `${name}.${used.length + 1}`);
	await makeFolder(aside);
	return aside;
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
