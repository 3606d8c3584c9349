/** The user's own check of the result, run by the coordinator after each code stage, never by an agent. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { readIfExists, writeFileAtomic } from '../kit/atomic-file.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { killTree } from '../kit/process-tree.ts';
import { type ProcessResult, runProcess } from '../kit/run-process.ts';
import { splitCommand } from '../kit/words.ts';
import { type Stage, stageName } from './stages.ts';

const TAIL_BYTES = 4000;

const schema = z.object({
	command: z.string(),
	exitCode: z.number().nullable(),
	timedOut: z.boolean(),
	durationMs: z.number(),
	/** The last bytes of output, stdout before stderr, control characters removed. */
	tail: z.string(),
});
export type VerifyResult = z.infer<typeof schema>;

/** A result counts for the code it was got from, which `surfaceSha256` of the git outputs under review tells. */
const keptSchema = schema.extend({ surfaceSha256: z.string() });
type KeptResult = z.infer<typeof keptSchema>;

const resultFile = (folder: string, stage: Stage): string =>
	path.join(folder, 'state', `${stageName(stage)}.verify.json`);

export async function keepVerifyResult(folder: string, stage: Stage, result: KeptResult): Promise<void> {
	await writeFileAtomic(resultFile(folder, stage), `${JSON.stringify(result)}\n`);
}

/** The result for a code stage, if the command ran after it. */
export async function readVerifyResult(folder: string, stage: Stage): Promise<KeptResult | undefined> {
	const bytes = await readIfExists(resultFile(folder, stage));
	if (!bytes) return undefined;
	try {
		return keptSchema.parse(JSON.parse(bytes.toString('utf8')));
	} catch {
		return undefined;
	}
}

interface VerifyOptions {
	readonly command: string;
	readonly root: string;
	readonly env: Record<string, string>;
	readonly timeoutMs: number;
	readonly signal: AbortSignal;
}

/**
 * Runs the command from the repository root.
 * @param folder the run folder
 * @throws CccError `verify-unavailable` (exit 3) when the command cannot be started at all
 */
export async function runVerifyCommand(folder: string, options: VerifyOptions): Promise<VerifyResult> {
	const ran = await runMarked(folder, options);
	if (ran.spawnError !== undefined) {
		throw new CccError('verify-unavailable', 'The verify command cannot be started.', {
			at: options.command,
			found: ran.spawnError,
			next: 'mend the command: ccc run resume <folder> verify="<command>"',
			exitCode: EXIT.blocked,
		});
	}
	return {
		command: options.command,
		exitCode: ran.exitCode ?? null,
		timedOut: ran.timedOut,
		durationMs: Math.round(ran.durationMs),
		tail: tailOf([ran.stdout, ran.stderr].filter((text) => text !== '').join('\n')),
	};
}

const MARKER = 'CCC_VERIFY_ID';
const MAX_BYTES = 1024 * 1024;

/** Holds the mark that every process of a command carries which runs now, or whose coordinator died. */
const runningFile = (folder: string): string => path.join(folder, 'state', 'verify.running');

/**
 * The command writes here by itself: in Codex's sandbox, what a command that is Node writes to a pipe is lost. Files, not
 * anonymous ones, so that one can watch a long check.
 */
const outputFiles = (folder: string): { stdout: string; stderr: string } => ({
	stdout: path.join(folder, 'state', 'verify.stdout'),
	stderr: path.join(folder, 'state', 'verify.stderr'),
});

async function removeOutput(folder: string): Promise<void> {
	for (const file of Object.values(outputFiles(folder))) await rm(file, { force: true, recursive: true });
}

async function runMarked(folder: string, options: VerifyOptions): Promise<ProcessResult> {
	const marker = `${MARKER}=${randomBytes(16).toString('hex')}`;
	await writeFileAtomic(runningFile(folder), `${marker}\n`);
	const ran = await runProcess({
		argv: splitCommand(options.command),
		cwd: options.root,
		env: options.env,
		timeoutMs: options.timeoutMs,
		maxBytes: MAX_BYTES,
		marker,
		signal: options.signal,
		outputFiles: outputFiles(folder),
	});
	await removeOutput(folder);
	await rm(runningFile(folder), { force: true });
	return ran;
}

/**
 * Ends a verify command that outlived its coordinator, and removes what it has written; the caller holds the run's lock.
 * @throws CccError `verify-not-stopped` (exit 3)
 */
export async function reapVerifyCommand(folder: string): Promise<void> {
	const marker = (await readIfExists(runningFile(folder)))?.toString('utf8').trim();
	if (marker === undefined) return;
	if (new RegExp(`^${MARKER}=[0-9a-f]{32}$`).test(marker)) {
		const { survivors } = await killTree({ marker });
		if (survivors.length > 0) {
			throw new CccError('verify-not-stopped', 'A verify command of an earlier coordinator could not be ended.', {
				found: `pid ${survivors.join(', ')} is still running`,
				next: 'end it, then resume',
				exitCode: EXIT.blocked,
			});
		}
	}
	await removeOutput(folder);
	await rm(runningFile(folder), { force: true });
}

/** What the reviewer is told. */
export function describeVerifyResult({ command, exitCode, timedOut, tail }: VerifyResult): string {
	const end = timedOut ? 'it did not end in time and was stopped' : `exit code ${exitCode ?? 'unknown'}`;
	return `command: ${command}\nresult: ${end}\nend of its output:\n${tail === '' ? '(no output)' : tail}`;
}

function tailOf(output: string): string {
	const clean = output.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
	// Trimmed first: a newline at the very end must not be the one that the tail begins after.
	const bytes = Buffer.from(clean.trimEnd());
	if (bytes.length <= TAIL_BYTES) return bytes.toString('utf8');
	// The cut may fall into a character, which the decoder marks. The mark goes with the rest of its line, or alone.
	const tail = bytes.subarray(bytes.length - TAIL_BYTES).toString('utf8');
	return tail.slice(tail.indexOf('\n') + 1).replace(/^\uFFFD+/, '');
}
