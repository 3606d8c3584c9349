/** The process beside a companion: it has the deadline, kills the whole tree, and records everything in the call folder. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { CccError, EXIT, systemCode } from '../kit/errors.ts';
import { identityOf, ownIdentity } from '../kit/process-identity.ts';
import { type ProcessResult, runProcess } from '../kit/run-process.ts';
import { sha256 } from '../kit/sha256.ts';
import {
	beatSupervisor,
	type CallRequest,
	type CallResult,
	callFiles,
	callMarker,
	claimSupervisor,
	readAnswer,
	readRequest,
	readResult,
	resultOf,
	stopRequested,
	writeCompanion,
	writeResult,
} from './call-folder.ts';
import { companionEnvironment } from './environment.ts';
import { lastWords } from './last-words.ts';
import { classify, type Outcome, STOPPED } from './outcome.ts';

export interface SuperviseOptions {
	env: Record<string, string | undefined>;
	/** Called the moment the companion has ended, before result.json; its value is stored there as `after`. */
	onEnd?: () => Promise<unknown>;
}

const MAX_BYTES = 16 * 1024 * 1024;
const HEARTBEAT_MS = 2000;
const STOP_POLL_MS = 250;

/**
 * Runs the call that `folder` asks for and returns when its result is written; the outcome is in the record, not in an
 * exception. SIGTERM, SIGINT and the stop file end the call as stopped.
 * @throws CccError `no-call`, `call-supervised` (exit 4) when the call has or had a supervisor; anything that kept the
 * result from being written
 */
export async function superviseCall(folder: string, options: SuperviseOptions): Promise<void> {
	const request = await readRequest(folder);
	if (request === undefined) throw new CccError('no-call', 'There is no companion call here', { at: folder });
	const stop = new AbortController();
	// Before the claim: from then on a signal means this call, and must not just end this process.
	const release = watch(folder, stop);
	try {
		if (!(await claimSupervisor(folder, await ownIdentity())) || (await readResult(folder)) !== undefined) {
			throw alreadySupervised(folder);
		}
		await carryOut(folder, request, options, stop.signal);
	} finally {
		release();
	}
}

/** Whatever goes wrong is recorded as the call's end, so that nobody waits for it. */
async function carryOut(
	folder: string,
	request: CallRequest,
	options: SuperviseOptions,
	signal: AbortSignal,
): Promise<void> {
	try {
		await writeResult(folder, await run(folder, request, options, signal));
	} catch (error) {
		await writeResult(folder, resultOf(request, supervisorFailed(error)));
		throw error;
	}
}

async function run(
	folder: string,
	request: CallRequest,
	options: SuperviseOptions,
	signal: AbortSignal,
): Promise<CallResult> {
	// After the claim, so that whoever stops the call either sees the claim or is seen here.
	if (signal.aborted || (await stopRequested(folder))) return resultOf(request, STOPPED);
	const prompt = await readFile(callFiles(folder).prompt);
	if (sha256(prompt) !== request.promptSha256) {
		throw new CccError('prompt-changed', 'The prompt is not the one that was recorded', {
			at: callFiles(folder).prompt,
		});
	}
	if (!(await isFolder(request.cwd))) {
		throw new CccError('no-folder', 'The repository root is gone', { at: request.cwd });
	}
	const ran = await runCompanion(folder, request, prompt, options.env, signal);
	const after = await takeAfter(options.onEnd);
	const answer = request.agent === 'codex' ? await readAnswer(folder, MAX_BYTES) : undefined;
	const outcome = classify(
		request.agent,
		{ ...ran, bin: request.argv[0], timeoutMs: request.timeoutMs, outputTruncated: answer?.truncated ?? false },
		answer?.text,
	);
	return { ...resultOf(request, outcome, ran), ...after };
}

async function runCompanion(
	folder: string,
	request: CallRequest,
	prompt: Uint8Array,
	env: Record<string, string | undefined>,
	signal: AbortSignal,
): Promise<ProcessResult> {
	const files = callFiles(folder);
	const marker = callMarker(request.id);
	for (const file of [files.stdout, files.stderr]) await writeFile(file, '', { mode: 0o600 });
	return runProcess({
		argv: request.argv,
		cwd: request.cwd,
		env: companionEnvironment(env, { [marker.name]: marker.value }, request.agent),
		stdin: prompt,
		timeoutMs: request.timeoutMs,
		maxBytes: MAX_BYTES,
		marker: marker.entry,
		signal,
		stdoutFile: files.stdout,
		stderrFile: files.stderr,
		onStarted: async (pid) => {
			const identity = await identityOf(pid);
			if (identity !== undefined) await writeCompanion(folder, identity);
		},
	});
}

async function takeAfter(onEnd: SuperviseOptions['onEnd']): Promise<Pick<CallResult, 'after' | 'afterError'>> {
	if (onEnd === undefined) return {};
	try {
		return { after: await onEnd() };
	} catch (error) {
		return { afterError: lastWords(error instanceof Error ? error.message : String(error)) };
	}
}

/** Keeps the heartbeat going and turns signals and the stop file into an abort; returns what undoes it. */
function watch(folder: string, stop: AbortController): () => void {
	const abort = (): void => stop.abort();
	let beatAt = performance.now();
	const look = async (): Promise<void> => {
		try {
			if (await stopRequested(folder)) abort();
			if (performance.now() - beatAt < HEARTBEAT_MS) return;
			beatAt = performance.now();
			await beatSupervisor(folder);
		} catch (error) {
			// The record was deleted under us: nobody can ever read this call's end.
			if (systemCode(error) === 'ENOENT') abort();
		}
	};
	const timer = setInterval(look, STOP_POLL_MS);
	process.on('SIGTERM', abort);
	process.on('SIGINT', abort);
	return () => {
		clearInterval(timer);
		process.off('SIGTERM', abort);
		process.off('SIGINT', abort);
	};
}

async function isFolder(folder: string): Promise<boolean> {
	try {
		return (await stat(folder)).isDirectory();
	} catch {
		return false;
	}
}

function alreadySupervised(folder: string): CccError {
	return new CccError('call-supervised', 'This call has had its supervisor', {
		at: folder,
		next: 'Resume the run: it waits for the call or starts a new one.',
		exitCode: EXIT.otherCoordinator,
	});
}

function supervisorFailed(error: unknown): Outcome {
	const message = error instanceof Error ? error.message : String(error);
	const at = error instanceof CccError && error.facts.at !== undefined ? `${error.facts.at}: ` : '';
	return {
		kind: 'failed',
		lastWords: lastWords(`${at}${message}`),
		nextStep: 'The call could not be carried out: correct what it names, then resume the run.',
	};
}
