/**
 * The record of one companion call: a folder of private files that survives whoever wrote them. Every file is written
 * once and atomically, but for the two transcripts, which grow, and the heartbeat, which is a modification time.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { readIfExists, writeFileAtomic } from '../kit/atomic-file.ts';
import { CccError, systemCode } from '../kit/errors.ts';
import type { ProcessIdentity } from '../kit/process-identity.ts';
import type { ProcessResult } from '../kit/run-process.ts';
import { type Outcome, outcomeSchema } from './outcome.ts';

const PRIVATE = 0o600;

const requestSchema = z.object({
	version: z.literal(1),
	/** Random; carried by every process of the call as CCC_CALL_ID. */
	id: z.string().regex(/^[0-9a-f]{32}$/),
	agent: z.enum(['claude', 'codex']),
	stage: z.string(),
	access: z.enum(['code', 'plan', 'review']),
	argv: z.tuple([z.string()], z.string()),
	cwd: z.string(),
	timeoutMs: z.number().int().positive(),
	promptSha256: z.string(),
	/** ISO time at which the coordinator asked for the call. */
	startedAt: z.iso.datetime(),
});
export type CallRequest = z.infer<typeof requestSchema>;

const resultSchema = z.object({
	version: z.literal(1),
	id: z.string(),
	outcome: outcomeSchema,
	exitCode: z.number().nullable(),
	signal: z.string().nullable(),
	timedOut: z.boolean(),
	/** Milliseconds the companion ran. */
	durationMs: z.number(),
	/** ISO time. */
	endedAt: z.iso.datetime(),
	/** Processes that outlived the companion and had to be killed. */
	leftovers: z.number(),
	stdoutBytes: z.number(),
	stderrBytes: z.number(),
	/** What `onEnd` of the supervisor returned, or why it could not. */
	after: z.unknown().optional(),
	afterError: z.string().exactOptional(),
});
export type CallResult = z.infer<typeof resultSchema>;

const identitySchema = z.object({
	bootId: z.string(),
	pidNamespace: z.string(),
	pid: z.number().int().positive(),
	startTime: z.string(),
	host: z.string(),
});

/** Absolute paths of the files of a call. */
export function callFiles(folder: string) {
	const file = (name: string) => path.join(folder, name);
	return {
		request: file('request.json'),
		prompt: file('prompt.md'),
		/** Its existence says that there is, or was, a supervisor. */
		claim: file('supervisor.claim'),
		/** Identity of the supervisor; its modification time is the heartbeat. */
		supervisor: file('supervisor.json'),
		/** What the supervisor itself had to say when it failed. */
		supervisorLog: file('supervisor.log'),
		/** Identity of the companion's first process. */
		companion: file('companion.json'),
		stdout: file('stdout.txt'),
		stderr: file('stderr.txt'),
		/** Codex's last message. */
		answer: file('answer.md'),
		/** Its existence asks the supervisor to stop. */
		stop: file('stop'),
		result: file('result.json'),
	};
}

/** The environment entry (`NAME=value`) that every process of the call carries. */
export function callMarker(id: string): { name: string; value: string; entry: string } {
	return { name: 'CCC_CALL_ID', value: id, entry: `CCC_CALL_ID=${id}` };
}

export const newCallId = (): string => randomBytes(16).toString('hex');

export async function writeRequest(folder: string, request: CallRequest, prompt: string): Promise<void> {
	await writePrivate(callFiles(folder).prompt, prompt);
	await writePrivate(callFiles(folder).request, json(request));
}

/** @throws CccError `bad-call-record` when the file is not what we write */
export const readRequest = (folder: string): Promise<CallRequest | undefined> =>
	readJson(callFiles(folder).request, requestSchema);

/** The record of how a call ended; without `ran` for one whose companion was never started. */
export function resultOf(request: CallRequest, outcome: Outcome, ran?: ProcessResult): CallResult {
	return {
		version: 1,
		id: request.id,
		outcome,
		exitCode: ran?.exitCode ?? null,
		signal: ran?.signal ?? null,
		timedOut: ran?.timedOut ?? false,
		durationMs: Math.round(ran?.durationMs ?? 0),
		endedAt: new Date().toISOString(),
		leftovers: ran?.leftovers ?? 0,
		stdoutBytes: ran?.stdoutBytes ?? 0,
		stderrBytes: ran?.stderrBytes ?? 0,
	};
}

export const writeResult = (folder: string, result: CallResult): Promise<void> =>
	writePrivate(callFiles(folder).result, json(result));

/** @throws CccError `bad-call-record` */
export const readResult = (folder: string): Promise<CallResult | undefined> =>
	readJson(callFiles(folder).result, resultSchema);

export const writeCompanion = (folder: string, identity: ProcessIdentity): Promise<void> =>
	writePrivate(callFiles(folder).companion, json(identity));

/** @throws CccError `bad-call-record` */
export const readCompanion = (folder: string): Promise<ProcessIdentity | undefined> =>
	readJson(callFiles(folder).companion, identitySchema);

/**
 * Makes `identity` the one supervisor the call will ever have; false when there has been one already. Creating the claim
 * decides; the identity follows as a whole, so that no reader meets half of it.
 */
export async function claimSupervisor(folder: string, identity: ProcessIdentity): Promise<boolean> {
	const files = callFiles(folder);
	try {
		await writeFile(files.claim, '', { flag: 'wx', mode: PRIVATE });
	} catch (error) {
		if (systemCode(error) === 'EEXIST') return false;
		throw error;
	}
	await writePrivate(files.supervisor, json(identity));
	return true;
}

/** The supervisor and the age of its heartbeat in milliseconds. @throws CccError `bad-call-record` */
export async function readSupervisor(
	folder: string,
): Promise<{ identity: ProcessIdentity; heartbeatAgeMs: number } | undefined> {
	const { supervisor } = callFiles(folder);
	const identity = await readJson(supervisor, identitySchema);
	if (identity === undefined) return undefined;
	// The absolute value: a clock set back must not make a dead supervisor look fresh for hours.
	return { identity, heartbeatAgeMs: Math.abs(Date.now() - (await stat(supervisor)).mtimeMs) };
}

export async function beatSupervisor(folder: string): Promise<void> {
	const now = new Date();
	await utimes(callFiles(folder).supervisor, now, now);
}

export const requestStop = (folder: string): Promise<void> => writePrivate(callFiles(folder).stop, '');

export const stopRequested = async (folder: string): Promise<boolean> =>
	(await readIfExists(callFiles(folder).stop)) !== undefined;

/**
 * At most `maxBytes` of Codex's last message. A link is no answer: whatever the agent could write to in the run folder
 * must not make us read something else.
 */
export async function readAnswer(
	folder: string,
	maxBytes: number,
): Promise<{ text: string; truncated: boolean } | undefined> {
	let handle: FileHandle | undefined;
	try {
		handle = await open(callFiles(folder).answer, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
		const { size } = await handle.stat();
		const buffer = Buffer.alloc(Math.min(size, maxBytes));
		const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
		return { text: buffer.toString('utf8', 0, bytesRead), truncated: size > maxBytes };
	} catch (error) {
		if (['ENOENT', 'ELOOP', 'EISDIR', 'ENXIO'].includes(systemCode(error) ?? '')) return undefined;
		throw error;
	} finally {
		await handle?.close();
	}
}

/** Epoch milliseconds of the last output of the companion, 0 before the first. */
export async function lastOutputAt(folder: string): Promise<number> {
	const files = callFiles(folder);
	const times = await Promise.all([files.stdout, files.stderr].map(outputTime));
	return Math.max(...times);
}

async function outputTime(file: string): Promise<number> {
	try {
		const { size, mtimeMs } = await stat(file);
		return size > 0 ? mtimeMs : 0;
	} catch (error) {
		if (systemCode(error) === 'ENOENT') return 0;
		throw error;
	}
}

async function writePrivate(file: string, data: string): Promise<void> {
	await writeFileAtomic(file, data, { mode: PRIVATE });
}

const json = (value: unknown): string => `${JSON.stringify(value, null, '\t')}\n`;

async function readJson<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
	const bytes = await readIfExists(file);
	if (bytes === undefined) return undefined;
	try {
		return schema.parse(JSON.parse(bytes.toString('utf8')));
	} catch (cause) {
		throw new CccError('bad-call-record', 'This record of a companion call is damaged or of another version', {
			at: file,
			next: 'Move the folder of this call aside and run the stage again.',
			cause,
		});
	}
}
