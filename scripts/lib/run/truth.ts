/** Reads the truth of a run from its folder (protocol: Resume). */
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { CccError, EXIT } from '../kit/errors.ts';
import { readDecisions } from './decisions.ts';
import { readIntent } from './intent.ts';
import { confirmRecordFiles, readRecord } from './record-files.ts';
import { parseRunFile, type RunFile } from './run-file.ts';
import { artifactPath, donePath, isReview, parseStage, type Stage, stageName } from './stages.ts';
import type { Truth } from './transitions.ts';
import { validateArtifact } from './validate-artifact.ts';
import { validationFailure } from './validation-failure.ts';
import type { Verdict } from './verdicts.ts';

export interface RunState extends Truth {
	/** run.md; its Workflow State and Status may be behind. */
	readonly run: RunFile;
	readonly task: string;
}

/**
 * @throws CccError `invalid-run` when run.md or a review cannot be read, `artifact-missing`, `not-a-file` and what else
 *   `confirmRecordFiles` refuses (all exit 1), `uncommitted-artifact` (exit 3), each with the repair to make
 * @param options `repairing`: the stage whose files are being repaired; it counts as not done
 */
export async function readRunState(folder: string, options: { repairing?: Stage } = {}): Promise<RunState> {
	await confirmRecordFiles(folder);
	const run = await readRunFile(folder);
	const repairing = options.repairing && stageName(options.repairing);
	// In this order: whoever reads without the lock may see a stage committed meanwhile.
	const present = new Set((await stagesIn(path.join(folder, 'artifacts'), '.md')).map(stageName));
	const done = (await doneStages(folder)).filter((stage) => stageName(stage) !== repairing);
	await confirmArtifacts(folder, done, present, repairing);
	const verdicts = new Map<string, Verdict>();
	for (const stage of done) {
		if (isReview(stage)) verdicts.set(stageName(stage), await verdictOf(folder, stage));
	}
	return {
		run,
		task: (await readRecord(folder, 'task.md'))?.toString('utf8') ?? '',
		rounds: run.rounds,
		done: new Set(done.map(stageName)),
		verdicts,
		decisions: await readDecisions(folder),
	};
}

/**
 * run.md; where its derived half (Workflow State, Status) cannot be read, the rest with a placeholder for that.
 * @throws CccError `invalid-run` when Runtime, Rounds or Git Baseline cannot be read, `not-a-file` (both exit 1)
 */
export async function readRunFile(folder: string): Promise<RunFile> {
	const bytes = (await readRecord(folder, 'run.md')) ?? new Uint8Array();
	const whole = parseRunFile(bytes, 'run.md').run;
	if (whole) return whole;
	const { run, problems } = parseRunFile(bytes, 'run.md', { withoutState: true });
	if (!run) throw validationFailure(problems, { next: 'mend run.md by hand, or start a new run' });
	return run;
}

/** The stages with a `.done` file; other names ending in `.done` are left to the validator. */
export async function doneStages(folder: string): Promise<Stage[]> {
	return stagesIn(path.join(folder, 'state'), '.done');
}

async function stagesIn(folder: string, extension: string): Promise<Stage[]> {
	const names = await readdir(folder).catch(() => []);
	return names
		.filter((name) => name.endsWith(extension))
		.map((name) => parseStage(name.slice(0, -extension.length)))
		.filter((stage) => stage !== undefined);
}

async function confirmArtifacts(
	folder: string,
	done: readonly Stage[],
	present: ReadonlySet<string>,
	repairing?: string,
): Promise<void> {
	const committed = new Set(done.map(stageName));
	for (const name of committed) {
		if (present.has(name) || (await exists(path.join(folder, 'artifacts', `${name}.md`)))) continue;
		throw new CccError('artifact-missing', `${name} is committed, but its artifact is gone.`, {
			at: donePath(parseStage(name) as Stage),
			expected: `artifacts/${name}.md`,
			next: `put the file back, or do the stage again: ccc repair <folder> rerun ${name}`,
			exitCode: EXIT.invalid,
		});
	}
	for (const name of present) {
		if (committed.has(name) || name === repairing || (await isBeingCommitted(folder, name))) continue;
		throw new CccError('uncommitted-artifact', `${name} has an artifact that was never committed.`, {
			at: `artifacts/${name}.md`,
			next: `ccc repair <folder> rerun|aside|adopt ${name}`,
			exitCode: EXIT.blocked,
		});
	}
}

/** The commit is under way or was cut (whoever takes the lock finishes it), or has come to its end just now. */
async function isBeingCommitted(folder: string, name: string): Promise<boolean> {
	return (await readIntent(folder))?.stage === name || exists(path.join(folder, donePath(parseStage(name) as Stage)));
}

async function exists(file: string): Promise<boolean> {
	return lstat(file).then(
		() => true,
		() => false,
	);
}

async function verdictOf(folder: string, stage: Stage): Promise<Verdict> {
	const bytes = (await readRecord(folder, artifactPath(stage))) ?? new Uint8Array();
	const { verdict, problems } = validateArtifact({ stage, path: artifactPath(stage), bytes });
	if (verdict === undefined) {
		throw validationFailure(problems, { next: `ccc repair <folder> rerun ${stageName(stage)}` });
	}
	return verdict;
}
