/** Where a run stands, for `ccc status` and `ccc list`. Reads files only; takes no lock and changes nothing. */
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { callState } from '../agents/call.ts';
import { inspectLock, type LockRecord } from '../kit/lock.ts';
import { callFolderOf, liveAttempts } from './attempts.ts';
import { readDriver } from './driver.ts';
import { readCommitDurations } from './ledger.ts';
import { lockFolder } from './locked-run.ts';
import type { NumberedFinding } from './open-findings.ts';
import { confirmRecordFiles } from './record-files.ts';
import type { RunFile } from './run-file.ts';
import { openFindingsFor } from './stage-facts.ts';
import { type Agent, chainOf, halfOf, ownerOf, type Stage, stageName } from './stages.ts';
import { effectiveRounds, lastDone, nextStep, type Step } from './transitions.ts';
import { type RunState, readRunFile, readRunState } from './truth.ts';
import type { Verdict } from './verdicts.ts';
import { deriveWorkflow, type WorkflowState } from './workflow-state.ts';

export interface StageOverview {
	readonly stage: string;
	readonly owner: Agent;
	readonly state: 'done' | 'running' | 'next';
	readonly verdict?: Verdict;
	/** Milliseconds the companion worked, or has worked so far. */
	readonly durationMs?: number;
	readonly idleMs?: number;
}

export interface RunOverview {
	readonly run: RunFile;
	readonly stageCompleted: string;
	readonly step: Step;
	readonly stages: readonly StageOverview[];
	readonly openFindings: readonly NumberedFinding[];
	/** The session that drives the run; absent for `ccc run`, and where nothing says. */
	readonly driver?: 'claude' | 'codex' | 'unknown';
	/** The command that works on the run right now. */
	readonly coordinator?: LockRecord;
}

/** @throws CccError for a folder that has to be repaired first */
export async function readRunOverview(folder: string, now: Date): Promise<RunOverview> {
	const state = await readRunState(folder);
	const step = nextStep(state, 'normal');
	const durations = await readCommitDurations(folder);
	const stages: StageOverview[] = [];
	for (const stage of chainOf(effectiveRounds(state))) {
		const name = stageName(stage);
		if (!state.done.has(name)) continue;
		const verdict = state.verdicts.get(name);
		const durationMs = durations.get(name);
		stages.push({
			stage: name,
			owner: ownerOf(stage, state.run.planCode),
			state: 'done',
			...(verdict === undefined ? {} : { verdict }),
			...(durationMs === undefined ? {} : { durationMs }),
		});
	}
	if (step.kind === 'stage')
		stages.push(await upcoming(folder, step.stage, ownerOf(step.stage, state.run.planCode), now));
	const last = lastDone(state.done);
	const answering = answeringStage(step);
	const lock = await inspectLock(lockFolder(folder));
	const driver = (await readDriver(folder))?.session ?? 'headless';
	return {
		run: { ...state.run, ...currentWorkflow(state, step) },
		stageCompleted: last ? stageName(last) : 'none',
		step,
		stages,
		openFindings: answering ? await openFindingsFor(folder, state, answering) : [],
		...(driver === 'headless' ? {} : { driver }),
		...(lock?.alive ? { coordinator: lock.record } : {}),
	};
}

/** run.md may be behind after a crash; only a hard failure it reports cannot be derived. */
function currentWorkflow(state: RunState, step: Step): WorkflowState {
	const { workflow, status } = state.run;
	return status === 'blocked' && step.kind === 'stage' ? { workflow, status } : deriveWorkflow(state, step);
}

/** The stage that answers the open findings: the next one, or the one there would be if a human asks for it. */
function answeringStage(step: Step): Stage | undefined {
	if (step.kind === 'decide') return { kind: halfOf(step.review), version: step.review.version + 1 };
	return step.kind === 'stage' ? step.stage : undefined;
}

async function upcoming(folder: string, stage: Stage, owner: Agent, now: Date): Promise<StageOverview> {
	const name = stageName(stage);
	const attempt = (await liveAttempts(folder)).find((live) => live.stage === name);
	const call = attempt && (await callState(callFolderOf(folder, attempt)));
	if (call?.state !== 'running') return { stage: name, owner, state: 'next' };
	return {
		stage: name,
		owner,
		state: 'running',
		durationMs: now.getTime() - call.startedAt,
		idleMs: now.getTime() - call.lastActivityAt,
	};
}

export interface ListedRun {
	/** Absolute. */
	readonly folder: string;
	readonly run: RunFile | undefined;
}

const MAX_DEPTH = 6;
const SKIPPED = new Set(['node_modules', '.git', 'artifacts', 'state']);

/** The run folders below a folder, newest first; links are not followed. */
export async function listRuns(top: string): Promise<ListedRun[]> {
	const found: { folder: string; changed: number }[] = [];
	const visit = async (folder: string, depth: number): Promise<void> => {
		const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
		if (entries.some(({ name }) => name === 'run.md') && entries.some(({ name }) => name === 'state')) {
			found.push({ folder, changed: (await lstat(path.join(folder, 'run.md'))).mtimeMs });
			return;
		}
		if (depth >= MAX_DEPTH) return;
		for (const entry of entries) {
			if (entry.isDirectory() && !SKIPPED.has(entry.name)) await visit(path.join(folder, entry.name), depth + 1);
		}
	};
	await visit(top, 0);
	found.sort((a, b) => b.changed - a.changed);
	return Promise.all(
		found.map(async ({ folder }) => {
			const run = confirmRecordFiles(folder).then(() => readRunFile(folder));
			return { folder, run: await run.catch(() => undefined) };
		}),
	);
}
