import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, vi } from 'vitest';
import type { Agent } from '../../scripts/lib/agents/agent.ts';
import { type RealSandbox, realSandbox } from './harness.ts';
import { startAnthropicModel } from './models/anthropic.ts';
import { startOpenAiModel } from './models/openai.ts';
import type { Reply, Script, Turn } from './models/script.ts';
import { FILES } from './played-change.ts';

const PACK = fileURLToPath(new URL('../../', import.meta.url));
const DEADLINE_MS = 90_000;

/** The suite's own copy of the pack: whoever builds meanwhile does not pull the bundle away under a run. */
const pack = copyPack();
afterAll(async () => rm(await pack, { recursive: true, force: true }));

async function copyPack(): Promise<string> {
	const copy = await realpath(await mkdtemp(join(tmpdir(), 'ccc-pack-')));
	for (const name of ['dist', 'protocol', 'scripts/ccc.mjs', 'scripts/launch.mjs']) {
		await cp(join(PACK, name), join(copy, name), { recursive: true });
	}
	return copy;
}

/** A command that was started. */
interface Command {
	/** What it printed so far. */
	readonly said: { stdout: string; stderr: string };
	readonly ended: Promise<Ended>;
	/** Sends SIGKILL to this one process and waits for its end; returns the signal that ended it. */
	kill(): Promise<NodeJS.Signals | null>;
}

export interface Ended {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
	/** Both, for the message of a failed expectation. */
	readonly all: string;
}

/** What a test wants played in place of the usual answer; `usual` gives that. */
export type Instead = (turn: Turn, usual: () => Reply | Promise<Reply>, agent: Agent) => Reply | Promise<Reply>;

export type PlayedRun = Awaited<ReturnType<typeof playedRun>>;

/**
 * A sandbox with the broken repository, both real agents with played models, and a run folder's path. When the test has
 * ended, all is removed, and the test fails where a process was left or something beside the models was reached for.
 * @param script what each agent's model plays
 * @param env added to the environment of the agents and of ccc
 */
export async function playedRun(script: (agent: Agent, repo: string) => Script, env: Record<string, string> = {}) {
	const turns: { agent: Agent; turn: Turn }[] = [];
	let instead: Instead = (_, usual) => usual();
	let sandbox: RealSandbox | undefined;
	const ask =
		(agent: Agent): Script =>
		(turn) => {
			turns.push({ agent, turn });
			return instead(turn, () => script(agent, sandbox?.repo ?? '')(turn), agent);
		};
	const anthropic = await startAnthropicModel(ask('claude'));
	onTestFinished(() => anthropic.close());
	const openAi = await startOpenAiModel(ask('codex'));
	onTestFinished(() => openAi.close());
	const box = await realSandbox({ anthropicUrl: anthropic.url, openAiUrl: openAi.url, files: FILES, env });
	sandbox = box;
	onTestFinished(async () => {
		try {
			await vi.waitFor(async () => expect(await box.processes()).toEqual([]), 2000);
			expect(box.outsideAttempts).toEqual([]);
		} finally {
			await box.cleanup();
		}
	});
	// Refreshes git's index, so that nobody has to do it during the run.
	await box.git('status');
	const ccc = join(await pack, 'scripts', 'ccc.mjs');
	const folder = join(box.repo, '.ccc', 'runs', 'played');

	const start = (...words: readonly string[]): Command => startIn(box, [ccc, ...words]);
	return {
		sandbox: box,
		/** The run folder. */
		folder,
		/** Every turn either model was asked for, in order. */
		turns,
		/** How often a prompt of this stage was sent to a model; retries count too. */
		asked: (stage: string): number => turns.filter(({ turn }) => turn.stage === stage && turn.step === 0).length,
		/** From now on the models play this; without one, the usual. */
		play: (next: Instead = (_, usual) => usual()): void => {
			instead = next;
		},
		/** Starts ccc. */
		start,
		/** Runs ccc to its end. */
		ccc: (...words: readonly string[]): Promise<Ended> => start(...words).ended,
		/** Runs the tests of the repository; their exit code. */
		nodeTest: async (): Promise<number | null> => (await startIn(box, ['--test']).ended).code,
		/** A file of the run. */
		read: (name: string): Promise<string> => readFile(join(folder, name), 'utf8'),
		/** Names of the stages with a `.done`, sorted. */
		done: async (): Promise<string[]> => {
			const names = await readdir(join(folder, 'state'));
			return names
				.filter((name) => name.endsWith('.done'))
				.map((name) => name.slice(0, -'.done'.length))
				.sort();
		},
		/** What `run.md` says under Status. */
		status: async (): Promise<string | undefined> =>
			/^## Status\n+(\w+)\n/m.exec(await readFile(join(folder, 'run.md'), 'utf8'))?.[1],
		/** The verdict in a review's artifact. */
		verdict: async (stage: string): Promise<string | undefined> =>
			/^VERDICT: (.*)$/m.exec(await readFile(join(folder, 'artifacts', `${stage}.md`), 'utf8'))?.[1],
		/** Every file below .git with the hash of its content: a run has no business there at all. */
		gitFiles: () => hashFiles(join(box.repo, '.git')),
	};
}

/** Starts Node in the repository of a sandbox, with a deadline. */
function startIn(sandbox: RealSandbox, words: readonly string[]): Command {
	const child = spawn(process.execPath, words, {
		cwd: sandbox.repo,
		env: sandbox.env,
		stdio: ['ignore', 'pipe', 'pipe'],
		timeout: DEADLINE_MS,
	});
	const said = { stdout: '', stderr: '' };
	child.stdout.on('data', (chunk) => {
		said.stdout += chunk;
	});
	child.stderr.on('data', (chunk) => {
		said.stderr += chunk;
	});
	const ended = whenEnded(child, said);
	return {
		said,
		ended,
		kill: async () => {
			child.kill('SIGKILL');
			await ended;
			return child.signalCode;
		},
	};
}

function whenEnded(child: ChildProcess, said: { stdout: string; stderr: string }): Promise<Ended> {
	return new Promise((resolve, reject) => {
		child.once('error', reject);
		child.once('close', (code) => resolve({ code, ...said, all: `${said.stdout}\n${said.stderr}` }));
	});
}

async function hashFiles(folder: string): Promise<Record<string, string>> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
	const hashes = await Promise.all(files.map(async (file) => [file, hash(await readFile(file))] as const));
	return Object.fromEntries(hashes);
}

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
