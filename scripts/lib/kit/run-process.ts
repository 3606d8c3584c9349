/** The one way a program is started: no shell, a deadline, bounded output, and nothing of it left running afterwards. */
import { stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import { CccError, EXIT, systemCode } from './errors.ts';
import { type CapturedOutput, type OutputTarget, openPipe } from './output-capture.ts';
import { openFileTarget } from './output-file.ts';
import { killTree, listTree, type ProcessEntry } from './process-tree.ts';
import { watchTree } from './tree-watch.ts';

export interface ProcessResult {
	/** Undefined when a signal ended it or it never ran. With `timedOut` or `cancelled` it means nothing. */
	exitCode: number | undefined;
	signal: string | undefined;
	timedOut: boolean;
	cancelled: boolean;
	/** Why it did not start: `ENOENT`, `EACCES`, `E2BIG`...; `ENOTDIR` when `cwd` is no folder that can be entered. */
	spawnError: string | undefined;
	/** Decoded as UTF-8, invalid bytes replaced; the first `maxBytes` of the stream, of `outputFiles` the last. */
	stdout: string;
	stderr: string;
	/** All that arrived, kept or not; of `outputFiles` a few may be missing each time a file was emptied. */
	stdoutBytes: number;
	stderrBytes: number;
	stdoutTruncated: boolean;
	stderrTruncated: boolean;
	durationMs: number;
	/** After an exit of its own: processes that outlived it and had to be killed. */
	leftovers: number;
}

export interface RunProcessOptions {
	/** The program (looked up in the PATH of `env` when it has no slash) and its arguments. */
	argv: readonly [string, ...string[]];
	cwd: string;
	/** The whole environment of the child; nothing is inherited. */
	env: Record<string, string>;
	/** Written and closed. Without it the child reads /dev/null. */
	stdin?: string | Uint8Array;
	/** After this the whole tree is killed. */
	timeoutMs: number;
	/** Kept of each stream, in memory and in its file; default 16 MiB. More is read and dropped. */
	maxBytes?: number;
	/** `NAME=value`, added to `env`: finds descendants that left the session and lost their parents. */
	marker?: string;
	/** Kills the whole tree, as the deadline does. */
	signal?: AbortSignal;
	/** Also copied there while running; two different files. */
	stdoutFile?: string;
	stderrFile?: string;
	/**
	 * Two files the child writes into by itself, in place of pipes to us: Node's pipes are sockets, and in Codex's sandbox
	 * a child that is Node too loses what it writes there. Made anew (0600) and left for the caller to remove. One that
	 * grows beyond `maxBytes` is emptied and the program goes on; what it writes between two looks (25 ms) comes on top.
	 */
	outputFiles?: { stdout: string; stderr: string };
	/** Called with the size of each piece of output, of either stream. */
	onActivity?: (bytes: number) => void;
	/** Awaited before anything is written to stdin. */
	onStarted?: (pid: number) => void | Promise<void>;
}

/**
 * Runs a program to its end. What the program does wrong is in the result and never thrown.
 * @throws CccError `output-file` (exit 70) when a file for the output cannot be written; whatever a callback
 * throws, after the tree has been killed
 */
export async function runProcess(options: RunProcessOptions): Promise<ProcessResult> {
	const began = performance.now();
	if (options.signal?.aborted === true) return notStarted(began, { cancelled: true });
	if (!(await isFolder(options.cwd))) return notStarted(began, { spawnError: 'ENOTDIR' });
	const targets: OutputTarget[] = [];
	try {
		const stdout = await openTarget(options, 'stdout');
		targets.push(stdout);
		const stderr = await openTarget(options, 'stderr');
		targets.push(stderr);
		return await runStarted(options, began, stdout, stderr);
	} finally {
		for (const target of targets) await target.close();
	}
}

function openTarget(options: RunProcessOptions, name: 'stdout' | 'stderr'): Promise<OutputTarget> {
	const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
	if (options.outputFiles !== undefined) return openFileTarget(options.outputFiles[name], maxBytes);
	return openPipe(options[`${name}File`], maxBytes);
}

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
/** How long descendants may take to follow their parent before they count as left behind. */
const SETTLE_MS = 100;
/** How long to wait for pipes (or an exit) that some unreachable process may hold open for ever. */
const LAST_WAIT_MS = 1000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

async function runStarted(
	options: RunProcessOptions,
	began: number,
	stdoutTarget: OutputTarget,
	stderrTarget: OutputTarget,
): Promise<ProcessResult> {
	const child = start(options, stdoutTarget, stderrTarget);
	if (typeof child === 'string') return notStarted(began, { spawnError: child });
	const { pid } = child;
	if (pid === undefined) return notStarted(began, { spawnError: (await child).code ?? 'UNKNOWN' });

	const root = { pid, ...(options.marker === undefined ? {} : { marker: options.marker }) };
	const watch = watchTree(root);
	const exit = new Promise<ExitStatus>((resolve) => {
		child.once('exit', (code, signal) => resolve({ exitCode: code ?? undefined, signal: signal ?? undefined }));
	});
	const stop = stopper(options);
	const onChunk = (bytes: number) => stop.guard(() => options.onActivity?.(bytes));
	const stdout = stdoutTarget.capture(child.stdout, onChunk);
	const stderr = stderrTarget.capture(child.stderr, onChunk);
	const fed = stop.guard(() => options.onStarted?.(pid)).then(() => feed(child.stdin, options.stdin));

	const ending = await Promise.race([exit.then(() => 'exit' as const), stop.stopped]);
	stop.dispose();
	watch.stop();
	const tree = { ...root, remembered: await watch.entries() };
	const leftovers = ending === 'exit' ? await killLeftovers(tree) : 0;
	if (ending !== 'exit') await killTree(tree);
	const status = (await within(exit)) ?? { exitCode: undefined, signal: undefined };
	await within(Promise.all([stdout.ended, stderr.ended, fed]));
	for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
	child.unref();
	const failure = stop.failure();
	if (failure !== undefined) throw failure.error;
	return {
		...status,
		timedOut: ending === 'timeout',
		cancelled: ending === 'abort',
		spawnError: undefined,
		...outputFacts(stdout.result(), stderr.result()),
		durationMs: Math.round(performance.now() - began),
		leftovers,
	};
}

interface ExitStatus {
	exitCode: number | undefined;
	signal: string | undefined;
}

/** Starts the child in a session of its own, so that no terminal and no signal to our group reaches it. */
function start(options: RunProcessOptions, stdout: OutputTarget, stderr: OutputTarget) {
	const [file, ...args] = options.argv;
	try {
		return execa(file, args, {
			cwd: options.cwd,
			env: withMarker(options.env, options.marker),
			extendEnv: false,
			detached: true,
			// Not a closed pipe: some programs (rg) would then search their input instead of the folder.
			stdin: options.stdin === undefined ? 'ignore' : 'pipe',
			// Any open descriptor is handed on; the types of execa end at 9.
			stdout: stdout.stdio as 'pipe' | 3,
			stderr: stderr.stdio as 'pipe' | 3,
			encoding: 'buffer',
			buffer: false,
			reject: false,
		});
	} catch (error) {
		// Text no program can be given, such as an argument with a NUL byte.
		if (error instanceof TypeError) return systemCode(error) ?? 'EINVAL';
		throw error;
	}
}

function withMarker(env: Record<string, string>, marker: string | undefined): Record<string, string> {
	if (marker === undefined) return env;
	const equals = marker.indexOf('=');
	if (equals < 1) {
		throw new CccError('bad-marker', 'A marker is an entry of an environment', {
			expected: 'NAME=value',
			found: JSON.stringify(marker),
			exitCode: EXIT.internal,
		});
	}
	return { ...env, [marker.slice(0, equals)]: marker.slice(equals + 1) };
}

/** Writes and closes stdin. A child that does not read it, or ends first, is no error. */
function feed(stdin: Writable | null, data: string | Uint8Array | undefined): void {
	stdin?.on('error', () => undefined);
	stdin?.end(data);
}

/** What ends a run from outside: its deadline, its signal, or a callback that threw. */
function stopper(options: RunProcessOptions) {
	let failure: { error: unknown } | undefined;
	let stop: (reason: 'timeout' | 'abort' | 'failed') => void = () => undefined;
	const stopped = new Promise<'timeout' | 'abort' | 'failed'>((resolve) => {
		stop = resolve;
	});
	const timer = setTimeout(() => stop('timeout'), Math.min(options.timeoutMs, LONGEST_TIMER_MS));
	const abort = () => stop('abort');
	options.signal?.addEventListener('abort', abort, { once: true });
	return {
		stopped,
		failure: () => failure,
		guard: async (call: () => void | Promise<void>): Promise<void> => {
			try {
				await call();
			} catch (error) {
				failure ??= { error };
				stop('failed');
			}
		},
		dispose: () => {
			clearTimeout(timer);
			options.signal?.removeEventListener('abort', abort);
		},
	};
}

/** Kills what an ended program left running. Descendants that are just ending themselves are not counted. */
async function killLeftovers(tree: { pid: number; marker?: string; remembered: ProcessEntry[] }): Promise<number> {
	if ((await listTree(tree, tree.remembered)).length === 0) return 0;
	await delay(SETTLE_MS);
	return (await killTree(tree)).killed.length;
}

function within<T>(promise: Promise<T>): Promise<T | undefined> {
	return Promise.race([promise, delay(LAST_WAIT_MS, undefined, { ref: false })]);
}

async function isFolder(folder: string): Promise<boolean> {
	try {
		return (await stat(folder)).isDirectory();
	} catch {
		return false;
	}
}

function outputFacts(stdout: CapturedOutput, stderr: CapturedOutput) {
	return {
		stdout: stdout.text,
		stderr: stderr.text,
		stdoutBytes: stdout.bytes,
		stderrBytes: stderr.bytes,
		stdoutTruncated: stdout.truncated,
		stderrTruncated: stderr.truncated,
	};
}

function notStarted(began: number, why: { spawnError?: string; cancelled?: boolean }): ProcessResult {
	const nothing: CapturedOutput = { text: '', bytes: 0, truncated: false };
	return {
		exitCode: undefined,
		signal: undefined,
		timedOut: false,
		cancelled: why.cancelled ?? false,
		spawnError: why.spawnError,
		...outputFacts(nothing, nothing),
		durationMs: Math.round(performance.now() - began),
		leftovers: 0,
	};
}
