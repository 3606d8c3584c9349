/** What the commands of a session share on the command line's side. */
import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CccError, EXIT } from '../lib/kit/errors.ts';
import { type Caller, readCaller } from '../lib/run/caller.ts';
import type { Surroundings } from '../lib/run/coordinator.ts';
import { renderPacket } from '../lib/run/packet.ts';
import { forFolder } from '../lib/run/run-report.ts';
import { type SessionOutput, withCommands } from '../lib/run/session-output.ts';
import { readRunSettings } from '../lib/run/settings.ts';
import { withClosing } from './closing.ts';
import type { Invocation } from './invocation.ts';
import type { Output } from './outputs.ts';
import { closingLines, printJson, printText, printWarning } from './print.ts';

const launcher = (pack: string): [string, string] => [process.execPath, path.join(pack, 'scripts', 'ccc.mjs')];

export function callerOf({ env, cwd, pack }: Invocation): Caller {
	return readCaller(env, cwd, launcher(pack));
}

export function surroundingsOf({ env, cwd, pack }: Invocation): Surroundings {
	return {
		cwd,
		env,
		settings: readRunSettings(env),
		pack,
		supervisorArgv: [...launcher(pack), 'supervise'],
		now: () => new Date(),
		report: (event) => {
			if (event.kind === 'warning') printWarning(event.text);
		},
		signal: new AbortController().signal,
	};
}

export const coordinatorArgv = (pack: string): [string, ...string[]] => [...launcher(pack), 'coordinate'];

/** A run folder as it is shown: short where it lies below the current folder. */
export function shownFolder(given: string, cwd: string): string {
	const relative = path.relative(cwd, path.resolve(cwd, given));
	const isBelow = relative !== '' && relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative);
	return isBelow ? relative : given;
}

/** Does the work of a session command; commands in what it throws are spelled as this caller can run them. */
export function inSession(
	shown: string,
	invocation: Invocation,
	work: () => Promise<SessionOutput | undefined>,
): Promise<number> {
	const caller = callerOf(invocation);
	return withClosing(shown, invocation, async () => {
		try {
			const output = await work();
			// Nothing to say yet: the caller says that.
			if (!output) return EXIT.ok;
			printOutput(output, invocation.json);
			return output.report.exitCode;
		} catch (error) {
			if (!(error instanceof CccError) || error.facts.next === undefined) throw error;
			const next = withCommands(forFolder(error.facts.next, path.resolve(invocation.cwd, shown)), caller);
			throw new CccError(error.code, error.message, { ...error.facts, next });
		}
	});
}

function printOutput(output: SessionOutput, json: boolean): void {
	const { packet, report } = output;
	if (json) {
		printJson(packetOutput(output));
		return;
	}
	printText(renderPacket(packet));
	if (packet.owner !== 'user') return;
	printText('');
	printText(closingLines(report.folder, report.stageCompleted, report.nextAction));
}

function packetOutput({ packet, report }: SessionOutput): Output<'next'> {
	const { stage, owner, read, write, headings, answer, next } = packet;
	return {
		stage,
		owner,
		read: [...read],
		write,
		headings: [...headings],
		answer: [...answer],
		next,
		ccc_run: report.folder,
		stage_completed: report.stageCompleted,
		next_action: report.nextAction,
		status: report.status,
		exit_code: report.exitCode,
		code: report.code,
		reason: report.reason,
	};
}

const STDIN_MAX_BYTES = 1024 * 1024 + 1;
const STDIN_DEADLINE_MS = 30_000;

/**
 * All of standard input: what the user typed, which no shell has touched.
 * @throws CccError `no-input` (exit 2) at a terminal, or when it does not end; `not-utf-8` (exit 2)
 */
export async function readStdin(what: string): Promise<string> {
	const missing = (found: string): CccError =>
		new CccError('no-input', `${what} is missing.`, {
			expected: 'text on standard input',
			found,
			exitCode: EXIT.usage,
		});
	if (process.stdin.isTTY) throw missing('a terminal');
	const deadline = new AbortController();
	const late = sleep(STDIN_DEADLINE_MS, 'late' as const, { signal: deadline.signal }).catch(() => 'late' as const);
	const read = await Promise.race([readAll(), late]);
	deadline.abort();
	process.stdin.destroy();
	if (read === 'late') throw missing('standard input that does not end');
	if (read.length < STDIN_MAX_BYTES && !isUtf8(read)) {
		throw new CccError('not-utf-8', `${what} cannot be read.`, {
			expected: 'text in UTF-8',
			found: 'bytes that are not UTF-8',
			exitCode: EXIT.usage,
		});
	}
	return read.toString('utf8');
}

async function readAll(): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let bytes = 0;
	for await (const chunk of process.stdin) {
		chunks.push(chunk as Buffer);
		bytes += (chunk as Buffer).length;
		// Whoever reads it says that it is too long.
		if (bytes > STDIN_MAX_BYTES) break;
	}
	return Buffer.concat(chunks);
}
