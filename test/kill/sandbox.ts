/** A repository, a copy of the built pack and quick fake companions, for runs that get killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeRepository } from '../support/git-repository.ts';
import { processesWith } from './processes.ts';

const PACK = path.resolve(import.meta.dirname, '../..');
const FAKES = path.join(PACK, 'test', 'fakes');

export interface Ended {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly stdout: string;
	readonly stderr: string;
}

export interface Command {
	readonly child: ChildProcess;
	readonly pid: number;
	readonly ended: Promise<Ended>;
	/** Sends SIGKILL; false when the process had ended before. */
	kill(): boolean;
}

export type KillSandbox = Awaited<ReturnType<typeof makeKillSandbox>>;

/** `dispose` ends what still runs in it and removes it. */
export async function makeKillSandbox() {
	const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'ccc kill é ')));
	const pack = path.join(root, 'pack');
	for (const name of ['home', 'tmp', 'pack']) mkdirSync(path.join(root, name));
	// The suite's own copy: whoever builds meanwhile does not pull the bundle away under a run.
	for (const name of ['dist', 'protocol', 'scripts/ccc.mjs', 'scripts/launch.mjs']) {
		cpSync(path.join(PACK, name), path.join(pack, name), { recursive: true });
	}
	const repository = await makeRepository({ folder: path.join(root, 'repo') });
	repository.write('value.txt', 'value\n');
	repository.commit();
	const env = {
		PATH: `${path.dirname(process.execPath)}:${process.env.PATH ?? ''}`,
		HOME: path.join(root, 'home'),
		TMPDIR: path.join(root, 'tmp'),
		CCC_CLAUDE_BIN: path.join(FAKES, 'quick-companion.mjs'),
		CCC_CODEX_BIN: path.join(FAKES, 'quick-companion.mjs'),
	};
	const verify = `verify=node ${JSON.stringify(path.join(FAKES, 'quick-verify.mjs'))}`;

	/** @param input what it finds on standard input */
	const start = (words: readonly string[], extra: Readonly<Record<string, string>> = {}, input?: string): Command => {
		const child = spawn(process.execPath, [path.join(pack, 'scripts', 'ccc.mjs'), ...words], {
			cwd: repository.root,
			env: { ...env, ...extra },
			stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
		});
		// A command that is killed early reads nothing.
		child.stdin?.on('error', () => {}).end(input);
		return { child, pid: child.pid!, ended: whenEnded(child), kill: () => killAlive(child) };
	};
	/** A command line in a shell, as an agent's tool runs it; `kill` ends the shell with all that is in its group. */
	const startLine = (line: string, extra: Readonly<Record<string, string>>): Command => {
		const child = spawn('/bin/sh', ['-c', line], {
			cwd: repository.root,
			env: { ...env, ...extra },
			stdio: ['ignore', 'pipe', 'pipe'],
			detached: true,
		});
		const pid = child.pid!;
		return { child, pid, ended: whenEnded(child), kill: () => isAlive(child) && killPid(-pid) };
	};
	const runAt = (name: string): string => path.join(repository.root, '.ccc', 'runs', name);
	return {
		root,
		repository,
		start,
		startLine,
		/** The option that names the verify command, for a command line. */
		verify,
		runAt,
		/** Words that start the run, or resume it once its folder exists. */
		wordsFor: (run: string): string[] =>
			existsSync(run) ? ['run', 'resume', run] : ['run', run, 'Change the value', 'p1-c1', verify],
		execute: (words: readonly string[], extra?: Readonly<Record<string, string>>): Promise<Ended> =>
			start(words, extra).ended,
		running: () => processesWith(root),
		/** The working tree as it was before the first run. */
		restore: (): void => {
			repository.write('value.txt', 'value\n');
			rmSync(path.join(repository.root, 'added.txt'), { force: true });
		},
		/** Path and content of every file below .git, as one hash. */
		gitState: (): string => hashTree(path.join(repository.root, '.git')),
		dispose: (): void => {
			for (const { pid } of processesWith(root)) killPid(pid);
			rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
		},
	};
}

function whenEnded(child: ChildProcess): Promise<Ended> {
	const text = { stdout: '', stderr: '' };
	child.stdout?.on('data', (chunk) => {
		text.stdout += chunk;
	});
	child.stderr?.on('data', (chunk) => {
		text.stderr += chunk;
	});
	return new Promise((resolve, reject) => {
		child.once('error', reject);
		child.once('close', (code, signal) => resolve({ code, signal, ...text }));
	});
}

const isAlive = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

function killAlive(child: ChildProcess): boolean {
	return isAlive(child) && child.kill('SIGKILL');
}

/** False when there is no such process. */
export function killPid(pid: number): boolean {
	try {
		return process.kill(pid, 'SIGKILL');
	} catch {
		return false;
	}
}

function hashTree(folder: string): string {
	const hash = createHash('sha256');
	for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).sort(byPath)) {
		const file = path.join(entry.parentPath, entry.name);
		hash.update(`${file}\0`);
		if (entry.isFile()) hash.update(readFileSync(file));
	}
	return hash.digest('hex');
}

function byPath(a: { parentPath: string; name: string }, b: { parentPath: string; name: string }): number {
	return path.join(a.parentPath, a.name) < path.join(b.parentPath, b.name) ? -1 : 1;
}
