/** A whole run folder against the protocol (section Validator). Reads files, needs no git, changes nothing. */
import { realpath, stat } from 'node:fs/promises';
import { DEFAULT_MAX_BYTES } from '../markdown/decode.ts';
import { compareRunFile } from './compare-run-file.ts';
import { parseDone } from './done-file.ts';
import { readInnerFile } from './inner-file.ts';
import { findingsOfArtifact } from './open-findings.ts';
import { noErrors, type Problem } from './problem.ts';
import { parseRunFile, type RunFile } from './run-file.ts';
import { fileProblem, listStages, readOrReport, reportNames, requireFile } from './run-folder-scan.ts';
import { checkSequence, followChain } from './sequence.ts';
import {
	artifactPath,
	donePath,
	halfOf,
	isReview,
	rawReviewPath,
	reviewOf,
	type Stage,
	sameStage,
	stageName,
} from './stages.ts';
import { validateArtifact } from './validate-artifact.ts';
import { checkHashes, DECISIONS, LEDGER, readDecisionViews } from './validate-records.ts';
import type { Verdict } from './verdicts.ts';

export interface RunValidation {
	/** As it was given. */
	readonly folder: string;
	/** No problem is an error. */
	readonly valid: boolean;
	/** The Status of run.md, where it can be read. */
	readonly status?: RunFile['status'];
	/** Names of the done stages, in the order of the protocol. */
	readonly stages: string[];
	readonly problems: Problem[];
}

const MAX_TRANSCRIPT = 16 * 1024 * 1024;
const MAX_RECORDS = 64 * 1024 * 1024;

/** What has been read so far. */
interface Scan {
	/** The run folder without links. */
	readonly folder: string;
	readonly withoutState: boolean;
	readonly problems: Problem[];
	/** Bytes of artifacts and transcripts by path. */
	readonly files: Map<string, Uint8Array>;
	readonly verdicts: Map<string, Verdict>;
}

/**
 * All problems of the folder. Whatever is in it, or that it is no run folder at all, becomes a problem, not an error.
 * @param options `withoutState`: for a command that derives Workflow State and Status of run.md anew
 */
export async function validateRun(
	folder: string,
	options: { readonly withoutState?: boolean } = {},
): Promise<RunValidation> {
	const real = await realFolder(folder);
	if (real === undefined) {
		const problem = fileProblem('.', 'not-a-run-folder', 'no folder that can be read', 'a run folder');
		return { folder, valid: false, stages: [], problems: [problem] };
	}
	const problems: Problem[] = [];
	const withoutState = options.withoutState === true;
	const scan: Scan = { folder: real, withoutState, problems, files: new Map(), verdicts: new Map() };
	const runFile = await readRunFile(scan);
	const artifacts = await listStages(real, 'artifacts', '.md', problems);
	const state = await listStages(real, 'state', '.done', problems);
	reportNames('artifacts', artifacts.others, 'unknown-file', 'warning', problems);
	reportNames(
		'state',
		state.others.filter((name) => name.endsWith('.done')),
		'unknown-stage',
		'error',
		problems,
	);

	const done = state.stages.sort(inProtocolOrder);
	for (const stage of done) await checkDoneStage(scan, stage, runFile.run);
	for (const stage of artifacts.stages.filter((other) => !done.some((one) => sameStage(one, other)))) {
		const expected = `${donePath(stage)} beside it; see: ccc repair <folder> rerun|aside|adopt ${stageName(stage)}`;
		problems.push(
			fileProblem(artifactPath(stage), 'uncommitted-artifact', 'an artifact that was never committed', expected),
		);
	}
	await checkChain(scan, done, runFile);
	const status = runFile.run?.status;
	const stages = done.map(stageName);
	return { folder, valid: noErrors(problems), ...(status === undefined ? {} : { status }), stages, problems };
}

async function realFolder(folder: string): Promise<string | undefined> {
	try {
		const real = await realpath(folder);
		return (await stat(real)).isDirectory() ? real : undefined;
	} catch {
		return undefined;
	}
}

type ReadRun = Partial<ReturnType<typeof parseRunFile>>;

async function readRunFile({ folder, problems, withoutState }: Scan): Promise<ReadRun> {
	const bytes = await readOrReport(folder, 'run.md', { maxBytes: DEFAULT_MAX_BYTES, wanted: 'run.md' }, problems);
	const task = await readOrReport(folder, 'task.md', { maxBytes: DEFAULT_MAX_BYTES, wanted: 'task.md' }, problems);
	if (task && new TextDecoder().decode(task).trim() === '') {
		problems.push(fileProblem('task.md', 'empty-file', 'nothing', 'the task', 'warning'));
	}
	if (bytes === undefined) return {};
	const result = parseRunFile(bytes, 'run.md', { withoutState });
	problems.push(...result.problems);
	const baseline = result.run?.baseline;
	for (const file of baseline ? [baseline.statusFile, baseline.unstagedDiff, baseline.stagedDiff] : []) {
		await requireFile(folder, file, "the file that run.md names under '## Git Baseline'", problems);
	}
	return result;
}

async function checkDoneStage({ folder, problems, files, verdicts }: Scan, stage: Stage, run?: RunFile): Promise<void> {
	const done = await readOrReport(
		folder,
		donePath(stage),
		{ maxBytes: DEFAULT_MAX_BYTES, wanted: 'a .done file' },
		problems,
	);
	if (done) problems.push(...parseDone(done, donePath(stage), stage));
	const file = artifactPath(stage);
	const wanted = `the artifact that ${donePath(stage)} commits`;
	const bytes = await readOrReport(folder, file, { maxBytes: DEFAULT_MAX_BYTES, wanted }, problems);
	const raw = isReview(stage) ? await readInnerFile(folder, rawReviewPath(stage), MAX_TRANSCRIPT) : undefined;
	if (raw instanceof Uint8Array) files.set(rawReviewPath(stage), raw);
	if (bytes === undefined) return;
	files.set(file, bytes);
	const result = validateArtifact({
		stage,
		path: file,
		bytes,
		...(run === undefined ? {} : { runStartRef: run.baseline.ref }),
		...(raw === undefined ? {} : { raw }),
		openFindings: await openFindings(folder, stage),
	});
	problems.push(...result.problems);
	if (result.verdict) verdicts.set(stageName(stage), result.verdict);
}

/** What the review of the version before listed by id. */
async function openFindings(folder: string, stage: Stage): Promise<string[]> {
	if (isReview(stage) || stage.version === 0) return [];
	const review = reviewOf({ kind: halfOf(stage), version: stage.version - 1 });
	const bytes = await readInnerFile(folder, artifactPath(review), DEFAULT_MAX_BYTES);
	return bytes instanceof Uint8Array ? findingsOfArtifact(bytes).map(({ id }) => id) : [];
}

async function checkChain(
	{ folder, withoutState, problems, files, verdicts }: Scan,
	done: Stage[],
	{ run, lines }: ReadRun,
): Promise<void> {
	const record = { maxBytes: MAX_RECORDS, wanted: 'a record of this run', optional: true };
	const decided = await readOrReport(folder, DECISIONS, record, problems);
	const decisions = decided ? readDecisionViews(decided, problems) : [];
	const ledger = await readOrReport(folder, LEDGER, record, problems);
	if (ledger) checkHashes(ledger, done, files, problems);
	if (run === undefined) return;
	const sequence = { done, verdicts, rounds: run.rounds, decisions };
	for (const { stage, code, found, expected } of checkSequence(sequence)) {
		problems.push(fileProblem(`state/${stage}.done`, code, found, expected));
	}
	if (withoutState) return;
	for (const { key, found, expected } of compareRunFile(run, done, verdicts, followChain(sequence))) {
		const line = lines?.get(key) ?? 1;
		const shown = `${key}: ${found}`;
		problems.push({ file: 'run.md', line, column: 1, code: 'run-md-behind', found: shown, expected, level: 'error' });
	}
}

/** Planning before code, then by version, each version before its review. */
function inProtocolOrder(a: Stage, b: Stage): number {
	const half = (stage: Stage) => (halfOf(stage) === 'plan' ? 0 : 1);
	return half(a) - half(b) || a.version - b.version || Number(isReview(a)) - Number(isReview(b));
}
