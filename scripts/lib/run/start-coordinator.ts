/** Starts the stage coordinator so that it outlives the command, the shell and the session that asked for it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../kit/atomic-file.ts';
import { CccError, EXIT, systemCode } from '../kit/errors.ts';
import { isStageUnderWay } from './stage-coordinator.ts';

/** A coordinator that is alive has taken the lock by then. */
const STARTUP_MS = 20_000;
/** In a folder of its own: what stands beside the records is compared around every companion call. */
const LOG = 'state/coordinator/output.log';
/**
 * Starts its arguments as nobody's child and reports their exit code: an agent that gives a command up ends all of its
 * descendants, in whatever session and process group they are.
 */
const AS_ORPHAN = '{ "$@" 3>&-; echo $? >&3; } &';

/**
 * Returns once a stage coordinator holds the lock of the run, or has ended.
 * @param argv starts it; the run folder is appended
 * @param env with what the caller is known by
 * @throws CccError `coordinator-not-started` (exit 5) with what it said
 */
export async function startCoordinator(
	folder: string,
	argv: readonly [string, ...string[]],
	env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
	const log = path.join(folder, LOG);
	const ended = await spawnOrphan([...argv, folder], folder, env, log);
	const began = performance.now();
	while (!(await isStageUnderWay(folder))) {
		const result = ended();
		if (result !== undefined) {
			// Another one is at work, or has been: what comes next tells.
			if (result === EXIT.ok || result === EXIT.otherCoordinator) return;
			throw await notStarted(log, `exit code ${result}`);
		}
		if (performance.now() - began > STARTUP_MS) throw await notStarted(log, 'nothing, for 20 seconds');
		await sleep(20);
	}
}

async function spawnOrphan(
	argv: readonly string[],
	cwd: string,
	env: Readonly<Record<string, string | undefined>>,
	logFile: string,
): Promise<() => number | string | undefined> {
	const log = await openLog(logFile);
	try {
		const child = spawn('sh', ['-c', AS_ORPHAN, 'sh', ...argv], {
			cwd,
			env: env as NodeJS.ProcessEnv,
			detached: true,
			stdio: ['ignore', log.fd, log.fd, 'pipe'],
		});
		let ended: number | string | undefined;
		let said = '';
		const status = child.stdio[3] as Socket;
		status.on('data', (chunk) => {
			said += chunk;
		});
		status.once('close', () => {
			ended = /^\d+\n$/.test(said) ? Number(said) : 'unknown';
		});
		await once(child, 'spawn');
		child.unref();
		status.unref();
		return () => ended;
	} catch (cause) {
		throw await notStarted(logFile, systemCode(cause) ?? 'unknown error');
	} finally {
		await log.close();
	}
}

/** A companion may have put a link there, and this process may write where that one may not. */
async function openLog(file: string): Promise<FileHandle> {
	const parent = path.dirname(file);
	const found = await lstat(parent).catch(() => undefined);
	if (found && !found.isDirectory()) await rm(parent, { force: true });
	await makeFolder(parent, 0o700);
	await rm(file, { recursive: true, force: true });
	const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
	return open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
}

async function notStarted(log: string, found: string): Promise<CccError> {
	const said = (await readFile(log, 'utf8').catch(() => '')).trim().slice(-600);
	return new CccError('coordinator-not-started', 'The process that has the stage done could not do its work.', {
		found: said === '' ? found : `${found}: ${said}`,
		next: 'run the same command again; if it fails again, check the installation of ccc',
		exitCode: EXIT.companion,
	});
}
