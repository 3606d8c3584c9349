/** Starts a run: everything is prepared in a folder beside the final one and appears by one rename (protocol: Run File). */
import { access, constants, lstat, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SessionDetected } from '../agents/session.ts';
import { captureBaseline } from '../git/baseline.ts';
import { makeFolder, syncFolder, writeSynced } from '../kit/atomic-file.ts';
import { CccError, EXIT, systemCode } from '../kit/errors.ts';
import { recordEvent } from './ledger.ts';
import { type RunFile, renderRunFile } from './run-file.ts';
import type { RunPlace } from './run-folder.ts';
import { resumeCommand } from './run-report.ts';
import { coderOf, type PlanCode, plannerOf, type Rounds } from './stages.ts';
import { oneLine } from './workflow-state.ts';

export interface StartOptions {
	readonly task: string;
	readonly rounds: Rounds;
	readonly planCode: PlanCode;
	readonly planCodeSource: RunFile['planCodeSource'];
	readonly sessionDetected: SessionDetected;
	readonly cccHome: string;
	readonly verify?: string;
	readonly now: Date;
}

const BASELINE_FILES = {
	statusFile: 'state/run_start.status',
	unstagedDiff: 'state/run_start.diff',
	stagedDiff: 'state/run_start_cached.diff',
} as const;

const DRAFT = '.ccc-new-';
/** Nobody takes this long to fill one. */
const DRAFT_DEAD_MS = 10 * 60_000;

/**
 * @returns how many files of the working tree had changes already; they will be part of the review
 * @throws CccError `run-exists`, `folder-not-empty` or `folder-not-usable` (exit 2); nothing is created then
 */
export async function startRun(place: RunPlace, options: StartOptions): Promise<{ changes: number }> {
	await refuseUsedFolder(place);
	const capture = await captureBaseline(place.repository, [place.relative]);
	const parent = path.dirname(place.folder);
	const draft = await makeDraft(parent, place.shown);
	try {
		await writeFile(path.join(draft, '.gitignore'), '*\n');
		for (const folder of ['artifacts', 'state']) await makeFolder(path.join(draft, folder));
		await writeSynced(path.join(draft, 'task.md'), options.task.endsWith('\n') ? options.task : `${options.task}\n`);
		await writeSynced(path.join(draft, BASELINE_FILES.statusFile), capture.status);
		await writeSynced(path.join(draft, BASELINE_FILES.unstagedDiff), capture.unstagedDiff);
		await writeSynced(path.join(draft, BASELINE_FILES.stagedDiff), capture.stagedDiff);
		await recordEvent(draft, { event: 'start' }, options.now);
		await writeSynced(path.join(draft, 'run.md'), renderRunFile(firstRunFile(options, capture.baseline)));
		await syncFolder(draft);
		await rename(draft, place.folder);
		await syncFolder(parent);
	} catch (error) {
		await rm(draft, { recursive: true, force: true });
		if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(systemCode(error) ?? '')) await refuseUsedFolder(place);
		throw error;
	}
	return { changes: capture.status.toString('utf8').split('\n').length - 1 };
}

/** Hidden by its own .gitignore from the first moment on, so that a crash here never shows up in a review. */
async function makeDraft(parent: string, shown: string): Promise<string> {
	try {
		await makeFolder(parent);
		await sweepDrafts(parent);
		return await mkdtemp(path.join(parent, DRAFT));
	} catch (error) {
		const code = systemCode(error);
		if (code === undefined) throw error;
		throw new CccError('folder-not-usable', 'The output folder cannot be made.', {
			at: shown,
			expected: 'a folder that may be written to',
			...(await whyNot(parent, code)),
			exitCode: EXIT.usage,
			cause: error,
		});
	}
}

async function whyNot(parent: string, code: string): Promise<{ found: string; next?: string }> {
	// Making a folder with its parents says ENOENT also where the one that is there is what nothing can be made in.
	const cause = code === 'ENOENT' ? await refusalAbove(parent) : code;
	if (cause !== 'EROFS') return { found: cause };
	return {
		found: 'a file system that is read-only (EROFS)',
		next: 'choose another folder; in a sandbox, have one in which commands may write below the working directory',
	};
}

/** Why nothing can be made in the nearest folder that is there. */
async function refusalAbove(folder: string): Promise<string> {
	const code = await access(folder, constants.W_OK).then(() => undefined, systemCode);
	const above = path.dirname(folder);
	return code === 'ENOENT' && above !== folder ? refusalAbove(above) : (code ?? 'ENOENT');
}

/** Removes what starts that were killed have left behind. */
async function sweepDrafts(parent: string): Promise<void> {
	for (const name of await readdir(parent)) {
		if (!name.startsWith(DRAFT) || name.length !== DRAFT.length + 6) continue;
		const draft = path.join(parent, name);
		const found = await lstat(draft).catch(() => undefined);
		if (!found?.isDirectory() || Date.now() - found.mtimeMs < DRAFT_DEAD_MS) continue;
		await rm(draft, { recursive: true, force: true });
	}
}

async function refuseUsedFolder({ folder, shown }: RunPlace): Promise<void> {
	let names: string[];
	try {
		names = await readdir(folder);
	} catch (error) {
		if (systemCode(error) === 'ENOENT') return;
		throw new CccError('folder-not-usable', 'The output folder cannot be used.', {
			at: shown,
			expected: 'a folder that does not exist yet or is empty',
			found: systemCode(error) === 'ENOTDIR' ? 'a file' : (systemCode(error) ?? 'an unknown error'),
			exitCode: EXIT.usage,
		});
	}
	if (names.length === 0) return;
	const isRun = names.includes('run.md');
	throw new CccError(
		isRun ? 'run-exists' : 'folder-not-empty',
		isRun ? 'There is a run in this folder already.' : 'The output folder is not empty.',
		{
			at: shown,
			expected: 'a folder that does not exist yet or is empty',
			next: isRun ? `resume it (${resumeCommand(shown)}) or name another folder` : 'name another folder',
			exitCode: EXIT.usage,
		},
	);
}

function firstRunFile(options: StartOptions, baseline: { ref: string; kind: 'head' | 'empty_tree' }): RunFile {
	const { planCode, rounds } = options;
	const planner = plannerOf(planCode);
	const coder = coderOf(planCode);
	const crossModel = planner === coder ? ' Both are the same agent: no cross-model review.' : '';
	return {
		description: `One change, planned by ${planner} and coded by ${coder}; each checks the other.${crossModel}`,
		planner,
		coder,
		planCode,
		sessionDetected: options.sessionDetected,
		planCodeSource: options.planCodeSource,
		cccHome: options.cccHome,
		...(options.verify === undefined ? {} : { verify: options.verify }),
		rounds,
		taskSummary: oneLine(options.task).slice(0, 200),
		baseline: { ...baseline, ...BASELINE_FILES },
		workflow: { currentStage: 'plan_v0', latestArtifact: 'none', latestVerdict: 'none', nextAction: 'plan_v0' },
		status: 'active',
	};
}
