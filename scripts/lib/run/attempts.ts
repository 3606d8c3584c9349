/**
 * Attempts at a stage: each is one companion call, `state/calls/<stage>.<n>/`, with a record beside it that says what
 * the call was for and how the repository looked before it. They outlive the coordinator that made them.
 */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Picture } from '../git/guard.ts';
import { makeFolder, writeFileAtomic } from '../kit/atomic-file.ts';
import { CccError } from '../kit/errors.ts';
import { readRecord } from './record-files.ts';
import { parseStage, type Stage, stageName } from './stages.ts';

const schema = z.object({
	version: z.literal(1),
	stage: z.string(),
	owner: z.enum(['claude', 'codex']),
	number: z.number().int().positive(),
	/**
	 * A correction asks once more for an answer whose form was wrong. `session`: no call, the session that coordinates
	 * does the stage itself, and the folder holds what it was given to read.
	 */
	purpose: z.enum(['first', 'correction', 'session']),
	/** ISO time; of attempts in a session, where no call tells. */
	startedAt: z.string().exactOptional(),
	/** What a session was given to read, relative to the run folder, and the file that lists it where that is long. */
	read: z.array(z.string()).exactOptional(),
	list: z.string().exactOptional(),
	/** The session that was given it. */
	sessionId: z.string().exactOptional(),
	/** For a session: all that it was given to read. */
	prompt: z.object({ sha256: z.string(), bytes: z.number() }),
	diff: z.object({ sha256: z.string(), bytes: z.number() }).exactOptional(),
	/** Repository root and excluded run folders, for the supervisor's picture at the end. */
	root: z.string(),
	exclude: z.array(z.string()),
	/** The repository before the call; coders are held to HEAD only. */
	before: z.custom<Picture>((value) => typeof value === 'object' && value !== null),
	/** In a session: the repository was changed meanwhile, and has to be restored first. */
	touched: z.literal(true).exactOptional(),
	/** How the attempt was used up; absent while its result is still to be looked at. */
	handled: z.string().exactOptional(),
	/** For an answer of the wrong form: what was wrong, for the correction. */
	problems: z.array(z.string()).exactOptional(),
});
export type Attempt = z.infer<typeof schema>;

export const callsFolder = (folder: string): string => path.join(folder, 'state', 'calls');
const baseName = (stage: string, number: number): string => `${stage}.${number}`;

/** The call folder of an attempt. */
export function callFolderOf(folder: string, attempt: Pick<Attempt, 'stage' | 'number'>): string {
	return path.join(callsFolder(folder), baseName(attempt.stage, attempt.number));
}

/** The attempt a call folder belongs to, for the supervisor. @throws CccError `bad-attempt` */
export async function attemptOfCall(callFolder: string): Promise<Attempt> {
	return parseAttempt(`${callFolder}.json`);
}

export async function writeAttempt(folder: string, attempt: Attempt): Promise<void> {
	await makeFolder(callsFolder(folder), 0o700);
	await writeFileAtomic(`${callFolderOf(folder, attempt)}.json`, `${JSON.stringify(attempt)}\n`, { mode: 0o600 });
}

/** The latest attempt at a stage. @throws CccError `bad-attempt` */
export async function latestAttempt(folder: string, stage: Stage): Promise<Attempt | undefined> {
	const number = await highestNumber(folder, stageName(stage), 'recorded');
	if (number === 0) return undefined;
	return parseAttempt(`${callFolderOf(folder, { stage: stageName(stage), number })}.json`);
}

/** A number nobody has used, not even a call folder that is there without a record. */
export async function nextAttemptNumber(folder: string, stage: Stage): Promise<number> {
	return (await highestNumber(folder, stageName(stage), 'any')) + 1;
}

async function highestNumber(folder: string, stage: string, which: 'recorded' | 'any'): Promise<number> {
	const names = await readdir(callsFolder(folder)).catch(() => []);
	const pattern = new RegExp(`^${stage}\\.([1-9][0-9]*)${which === 'recorded' ? '\\.json' : '(?:\\.json)?'}$`);
	return names.reduce((highest, name) => Math.max(highest, Number(pattern.exec(name)?.[1] ?? 0)), 0);
}

async function parseAttempt(file: string): Promise<Attempt> {
	try {
		return schema.parse(
			JSON.parse((await readRecord(path.dirname(file), path.basename(file)))?.toString('utf8') ?? ''),
		);
	} catch (cause) {
		throw new CccError('bad-attempt', 'This record of a companion call is damaged or of another version.', {
			at: file,
			next: 'repair the stage: ccc repair <folder> rerun <stage>',
			cause,
		});
	}
}

/** The latest attempt of each stage whose result nobody has looked at yet. */
export async function liveAttempts(folder: string): Promise<Attempt[]> {
	const names = await readdir(callsFolder(folder)).catch(() => []);
	const stages = new Set(names.map((name) => /^(.+)\.[1-9][0-9]*\.json$/.exec(name)?.[1]));
	const found: Attempt[] = [];
	for (const name of stages) {
		const stage = name === undefined ? undefined : parseStage(name);
		const attempt = stage && (await latestAttempt(folder, stage));
		if (attempt && attempt.handled === undefined) found.push(attempt);
	}
	return found;
}
