/** A stage that the coordinating session does itself: what it is given, and how the repository looked before. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { confirmBaseline } from '../git/baseline.ts';
import { comparePictures, type Picture, takePicture } from '../git/guard.ts';
import { readHead } from '../git/repository.ts';
import { makeFolder, writeSynced } from '../kit/atomic-file.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { sha256 } from '../kit/sha256.ts';
import { quoteWord } from '../kit/words.ts';
import { moveDraftAside } from './aside.ts';
import { type Attempt, callFolderOf, latestAttempt, nextAttemptNumber, writeAttempt } from './attempts.ts';
import type { Coordinator } from './coordinator.ts';
import { confirmUntouched } from './guard-attempt.ts';
import { stageFacts } from './stage-facts.ts';
import { stageForm } from './stage-form.ts';
import { artifactPath, halfOf, isReview, ownerOf, reviewedBy, reviewOf, type Stage, stageName } from './stages.ts';
import type { RunState } from './truth.ts';
import { verifiedSurface } from './verified-surface.ts';

/** Files of the attempt's folder. Nobody looks at them before the attempt is recorded, or ever if that does not happen. */
const GIT_OUTPUTS = 'git-outputs.md';
const DIRECTION = 'direction.md';
const LIST = 'read.txt';
/** What the paths and the headings of a packet may take; where they take more, it names one file that lists the others. */
const ROOM_BYTES = 1300;

/** The attempt the session works on, if it was prepared. */
async function sessionAttempt(folder: string, stage: Stage): Promise<Attempt | undefined> {
	const latest = await latestAttempt(folder, stage);
	return latest?.purpose === 'session' && latest.handled === undefined ? latest : undefined;
}

/**
 * Prepares what the session reads (for a code review the git outputs, after the verify command) and takes the guard's
 * first picture. An attempt that is prepared already stays, unless the repository is another one by now.
 * @throws CccError `repository-changed` (exit 3) while a change that blocked the run is not undone, and the errors of the
 *   git room and of the verify command
 */
export async function prepareSessionAttempt(
	by: Coordinator,
	state: RunState,
	stage: Stage,
	sessionId: string | undefined,
): Promise<Attempt> {
	const { folder, relative, repository } = by.place;
	await confirmBaseline(repository, state.run.baseline);
	const prepared = await sessionAttempt(folder, stage);
	if (prepared && (await stillHolds(by, stage, prepared, sessionId))) return prepared;
	const number = await nextAttemptNumber(folder, stage);
	const own = callFolderOf(folder, { stage: stageName(stage), number });
	await makeFolder(own, 0o700);
	const diff = stage.kind === 'review' ? await writeGitOutputs(by, state, stage, own) : undefined;
	const { direction } = await stageFacts(folder, state, stage);
	if (direction !== undefined) await writeSynced(path.join(own, DIRECTION), `${direction}\n`);
	const read = readingList(state, stage, { own, folder, direction: direction !== undefined });
	const list = await listOf(read, own, roomFor(state, stage, folder));
	const exclude = [relative];
	const attempt: Attempt = {
		version: 1,
		stage: stageName(stage),
		owner: ownerOf(stage, state.run.planCode),
		number,
		purpose: 'session',
		startedAt: by.now().toISOString(),
		...(sessionId === undefined ? {} : { sessionId }),
		read: read.map((file) => path.relative(folder, file)),
		...(list === undefined ? {} : { list: path.relative(folder, list) }),
		prompt: await measure(read),
		...(diff === undefined ? {} : { diff }),
		root: repository.root,
		exclude,
		before: await pictureFor(by, stage, exclude),
	};
	await by.lock.assertHeld();
	await writeAttempt(folder, attempt);
	return attempt;
}

/**
 * Between two sessions nobody reviews: what was changed is the user's, and a review of it begins anew. What changes while
 * one session is at it has to be undone instead.
 */
async function stillHolds(
	by: Coordinator,
	stage: Stage,
	prepared: Attempt,
	sessionId: string | undefined,
): Promise<boolean> {
	const { folder } = by.place;
	const now = await pictureFor(by, stage, prepared.exclude);
	if (prepared.touched || prepared.sessionId === sessionId) {
		await holdToGuard(folder, prepared, now);
		if (!prepared.touched) return true;
		const { touched, ...restored } = prepared;
		await writeAttempt(folder, restored);
		return true;
	}
	if (comparePictures(prepared.before, now).length === 0) return true;
	await moveDraftAside(folder, stage);
	await writeAttempt(folder, { ...prepared, handled: 'stale' });
	return false;
}

/** Holds an attempt to the guard; what was changed has to be undone from then on, whoever goes on. */
export async function holdToGuard(folder: string, attempt: Attempt, now: Picture): Promise<void> {
	try {
		confirmUntouched(attempt, now);
	} catch (error) {
		await writeAttempt(folder, { ...attempt, touched: true });
		throw error;
	}
}

/** A reviewer must leave the repository as it is; whoever plans or codes is held to HEAD: all else is reviewed later. */
export async function pictureFor(
	{ place: { repository } }: Pick<Coordinator, 'place'>,
	stage: Stage,
	exclude: readonly string[],
): Promise<Picture> {
	if (isReview(stage)) return takePicture(repository, exclude);
	return { head: (await readHead(repository)) ?? null, headRef: null, entries: {} };
}

/** Bytes for READ: the folder stands in WRITE and NEXT too. */
function roomFor({ run: { baseline } }: RunState, stage: Stage, folder: string): number {
	const form = stageForm(stage, { baseline, answers: true }).join('; ');
	return ROOM_BYTES - Buffer.byteLength(form) - 2 * Buffer.byteLength(quoteWord(folder));
}

/** All that the session is given. */
async function measure(read: readonly string[]): Promise<Attempt['prompt']> {
	const given = Buffer.concat(await Promise.all(read.map((file) => readFile(file))));
	return { sha256: sha256(given), bytes: given.length };
}

/** @throws CccError `read-changed` (exit 3): a verdict is bound to what was read */
export async function confirmRead(folder: string, { stage, read = [], prompt }: Attempt): Promise<void> {
	const now = await measure(read.map((file) => path.join(folder, file))).catch(() => undefined);
	if (now?.sha256 === prompt.sha256) return;
	throw new CccError('read-changed', 'What this stage was given to read is not what it was.', {
		at: stage,
		expected: `the files of the packet as they were: ${read.join(', ')}`,
		next: `put them back, or do the stage anew: ccc repair <folder> rerun ${stage}`,
		exitCode: EXIT.blocked,
	});
}

async function listOf(read: readonly string[], own: string, room: number): Promise<string | undefined> {
	if (Buffer.byteLength(read.map(quoteWord).join(' ')) <= room) return undefined;
	const list = path.join(own, LIST);
	await writeSynced(list, `Read each of these files:\n${read.join('\n')}\n`);
	return list;
}

async function writeGitOutputs(
	by: Coordinator,
	state: RunState,
	review: Stage,
	own: string,
): Promise<NonNullable<Attempt['diff']>> {
	const { surface, verification } = await verifiedSurface(by, state, reviewedBy(review));
	const verified = verification === undefined ? '' : `# Verification run by the coordinator\n\n${verification}\n\n`;
	await writeSynced(path.join(own, GIT_OUTPUTS), `${verified}# Git outputs\n\n${surface.text.trimEnd()}\n`);
	return { sha256: surface.sha256, bytes: surface.bytes };
}

/** Absolute paths of what the stage is about, the task first. */
function readingList(
	state: RunState,
	stage: Stage,
	{ own, folder, direction }: { own: string; folder: string; direction: boolean },
): string[] {
	const at = (of: Stage): string[] => (state.done.has(stageName(of)) ? [path.join(folder, artifactPath(of))] : []);
	const previous = stage.version - 1;
	const half = halfOf(stage);
	const work = isReview(stage) ? reviewedBy(stage) : { kind: half, version: previous };
	return [
		path.join(folder, 'task.md'),
		...(half === 'code' ? lastPlanFiles(state, stage).flatMap(at) : []),
		...at(work),
		...(stage.version > 0 ? at({ kind: reviewOf(stage).kind, version: previous }) : []),
		...(stage.kind === 'review' ? [path.join(own, GIT_OUTPUTS)] : []),
		...(direction ? [path.join(own, DIRECTION)] : []),
	];
}

/** The plan in force; the first coder also gets what its review said. */
function lastPlanFiles(state: RunState, stage: Stage): Stage[] {
	for (let version = 99; version >= 0; version--) {
		const plan: Stage = { kind: 'plan', version };
		if (!state.done.has(stageName(plan))) continue;
		return stage.kind === 'code' && stage.version === 0 ? [plan, reviewOf(plan)] : [plan];
	}
	return [];
}
