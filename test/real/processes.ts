import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface RunningProcess {
	pid: number;
	command: string;
}

/**
 * Processes that carry `mark` in their command line or, where the system shows it, in their environment. Every process
 * of a sandbox inherits the sandbox's path, so none can hide by leaving its parent, group or session.
 */
export async function processesWith(mark: string): Promise<RunningProcess[]> {
	const all = existsSync('/proc/self/environ') ? await fromProc(mark) : await fromPs(mark);
	return all.filter(({ pid }) => pid !== process.pid);
}

/** Kills them until none is left; throws when some survive two seconds of that. */
export async function killProcessesWith(mark: string): Promise<void> {
	for (let round = 0; round < 40; round++) {
		const found = await processesWith(mark);
		if (found.length === 0) return;
		for (const { pid } of found) {
			try {
				process.kill(pid, 'SIGKILL');
			} catch {
				// It ended by itself since it was listed.
			}
		}
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
	throw new Error(`still running: ${JSON.stringify(await processesWith(mark))}`);
}

async function fromProc(mark: string): Promise<RunningProcess[]> {
	const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
	const found = await Promise.all(
		pids.map(async (pid) => {
			const [command, environment] = await Promise.all([readProc(pid, 'cmdline'), readProc(pid, 'environ')]);
			if (!command.includes(mark) && !environment.includes(mark)) return undefined;
			return { pid: Number(pid), command: command.replaceAll('\0', ' ').trim() };
		}),
	);
	return found.filter((entry) => entry !== undefined);
}

async function readProc(pid: string, file: string): Promise<string> {
	try {
		return await readFile(`/proc/${pid}/${file}`, 'utf8');
	} catch {
		return '';
	}
}

async function fromPs(mark: string): Promise<RunningProcess[]> {
	const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,command=']);
	return stdout
		.split('\n')
		.filter((line) => line.includes(mark))
		.map((line) => ({ pid: Number.parseInt(line, 10), command: line.trim().replace(/^\d+\s+/, '') }));
}
