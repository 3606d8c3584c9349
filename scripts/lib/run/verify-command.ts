/** The user's own check of the result, run by the coordinator after each code stage, never by an agent. */
import path from 'node:path';
import { z } from 'zod';
import { readIfExists, writeFileAtomic } from '../kit/atomic-file.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { runProcess } from '../kit/run-process.ts';
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

const resultFile = (folder: string, stage: Stage): string =>
	path.join(folder, 'state', `${stageName(stage)}.verify.json`);

/** The result for a code stage, if the command ran after it. */
export async function readVerifyResult(folder: string, stage: Stage): Promise<VerifyResult | undefined> {
	const bytes = await readIfExists(resultFile(folder, stage));
	if (!bytes) return undefined;
	try {
		return schema.parse(JSON.parse(bytes.toString('utf8')));
	} catch {
		return undefined;
	}
}

/**
 * Runs the command from the repository root and keeps its result in the run folder.
 * @throws CccError `verify-unavailable` (exit 3) when the command cannot be started at all
 */
export async function runVerifyCommand(
	folder: string,
	stage: Stage,
	options: { command: string; root: string; env: Record<string, string>; timeoutMs: number; signal: AbortSignal },
): Promise<VerifyResult> {
	const ran = await runProcess({
		argv: splitCommand(options.command),
		cwd: options.root,
		env: options.env,
		timeoutMs: options.timeoutMs,
		maxBytes: 4 * 1024 * 1024,
		signal: options.signal,
	});
	if (ran.spawnError !== undefined) {
		throw new CccError('verify-unavailable', 'The verify command cannot be started.', {
			at: options.command,
			found: ran.spawnError,
			next: 'mend the command: ccc run resume <folder> verify="<command>"',
			exitCode: EXIT.blocked,
		});
	}
	const result: VerifyResult = {
		command: options.command,
		exitCode: ran.exitCode ?? null,
		timedOut: ran.timedOut,
		durationMs: Math.round(ran.durationMs),
		tail: tailOf([ran.stdout, ran.stderr].filter((text) => text !== '').join('\n')),
	};
	if (!ran.cancelled) await writeFileAtomic(resultFile(folder, stage), `${JSON.stringify(result)}\n`);
	return result;
}

/** What the reviewer is told. */
export function describeVerifyResult({ command, exitCode, timedOut, tail }: VerifyResult): string {
	const end = timedOut ? 'it did not end in time and was stopped' : `exit code ${exitCode ?? 'unknown'}`;
	return `command: ${command}\nresult: ${end}\nend of its output:\n${tail === '' ? '(no output)' : tail}`;
}

function tailOf(output: string): string {
	const clean = output.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
	const bytes = Buffer.from(clean);
	if (bytes.length <= TAIL_BYTES) return clean.trimEnd();
	// The cut may fall into a character; the decoder marks it, and the mark is dropped with the rest of that line.
	const tail = bytes.subarray(bytes.length - TAIL_BYTES).toString('utf8');
	return tail.slice(tail.indexOf('\n') + 1).trimEnd();
}
