/** Companion calls as the coordinator sees them: it starts a supervisor and from then on only looks at files. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CccError, EXIT, systemCode } from '../kit/errors.ts';
import { sha256 } from '../kit/sha256.ts';
import type { Agent } from './agent.ts';
import { type CallResult, callFiles, newCallId, readResult, writeRequest } from './call-folder.ts';
import { type CallActivity, callState } from './call-state.ts';
import { type Access, companionArgv } from './command-line.ts';
import type { AgentConfig } from './config.ts';

export type { CallResult } from './call-folder.ts';
export { callState } from './call-state.ts';
export { reapCall, stopCall } from './stop-call.ts';

export interface StartCallOptions {
	/** The call folder: must not exist, its parent must. */
	folder: string;
	agent: Agent;
	stage: string;
	access: Access;
	prompt: string;
	/** The repository root. */
	cwd: string;
	config: AgentConfig;
	/** Handed to the supervisor as its environment and never written down: it may hold secrets. */
	env: Record<string, string | undefined>;
	/** Starts the supervisor; the absolute call folder is appended as the last word. */
	supervisorArgv: readonly [string, ...string[]];
}

export interface WaitOptions {
	/** Ends the waiting, not the call. */
	signal?: AbortSignal;
	/** Milliseconds between two looks for the result, default 100. */
	pollMs?: number;
	/** Called about twice a second while the call runs. */
	onActivity?: (activity: CallActivity) => void;
	/** Milliseconds to wait at most, counted from now. */
	deadlineMs?: number;
}

/** How often more than the result is looked at while waiting: on some systems that costs a process. */
const LOOK_MS = 500;

/**
 * Records the call and starts its supervisor, which lives on when the caller ends (protocol: Agent Calls).
 * @throws CccError `call-exists` for a folder that is there already, `supervisor-not-started` (exit 5)
 */
export async function startCall(options: StartCallOptions): Promise<void> {
	const folder = path.resolve(options.folder);
	await makeCallFolder(folder);
	const { agent, stage, access, config, cwd, prompt } = options;
	await writeRequest(
		folder,
		{
			version: 1,
			id: newCallId(),
			agent,
			stage,
			access,
			argv: companionArgv(agent, access, config, callFiles(folder).answer),
			cwd,
			timeoutMs: config.timeoutMs,
			promptSha256: sha256(prompt),
			startedAt: new Date().toISOString(),
		},
		prompt,
	);
	await startSupervisor(folder, options);
}

async function makeCallFolder(folder: string): Promise<void> {
	try {
		await mkdir(folder, { mode: 0o700 });
	} catch (cause) {
		if (systemCode(cause) !== 'EEXIST') throw cause;
		throw new CccError('call-exists', 'This folder belongs to an earlier call', { at: folder, cause });
	}
}

/** Its output goes to a file, never to a pipe that would break when this process ends. */
async function startSupervisor(folder: string, options: StartCallOptions): Promise<void> {
	const [command, ...args] = options.supervisorArgv;
	const log = await open(callFiles(folder).supervisorLog, 'a', 0o600);
	try {
		const child = spawn(command, [...args, folder], {
			cwd: path.dirname(folder),
			env: options.env as NodeJS.ProcessEnv,
			detached: true,
			stdio: ['ignore', log.fd, log.fd],
		});
		await once(child, 'spawn');
		child.unref();
	} catch (cause) {
		throw new CccError('supervisor-not-started', 'The process that supervises a companion call could not be started', {
			found: `${JSON.stringify(command)}: ${systemCode(cause) ?? 'unknown error'}`,
			next: 'Check the installation of ccc, then resume the run.',
			exitCode: EXIT.companion,
			cause,
		});
	} finally {
		await log.close();
	}
}

/**
 * Waits for a call, whoever started it. `still-running` when the time is up or the signal came; the call goes on.
 * @throws CccError `no-call` when the folder holds none, `bad-call-record`
 */
export async function waitForCall(
	folder: string,
	options: WaitOptions = {},
): Promise<CallResult | 'lost' | 'still-running'> {
	const { signal, pollMs = 100, onActivity, deadlineMs = Number.POSITIVE_INFINITY } = options;
	const began = performance.now();
	let lookedAt = Number.NEGATIVE_INFINITY;
	for (;;) {
		const now = performance.now();
		if (now - lookedAt >= LOOK_MS) {
			lookedAt = now;
			const call = await callState(folder);
			if (call.state === 'ended') return call.result;
			if (call.state === 'lost') return 'lost';
			if (call.state === 'none') throw new CccError('no-call', 'There is no companion call here', { at: folder });
			onActivity?.({ startedAt: call.startedAt, lastActivityAt: call.lastActivityAt });
		} else {
			const result = await readResult(folder);
			if (result !== undefined) return result;
		}
		const left = deadlineMs - (performance.now() - began);
		if (left <= 0 || signal?.aborted) return 'still-running';
		await pause(Math.min(pollMs, left), signal);
	}
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
	try {
		await sleep(ms, undefined, signal === undefined ? {} : { signal });
	} catch (error) {
		if (!signal?.aborted) throw error;
	}
}
