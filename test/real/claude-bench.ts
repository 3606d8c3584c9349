import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { Agent } from '../../scripts/lib/agents/agent.ts';
import { workLike } from './claude-work.ts';
import { claudeHands, followPackets, type SessionHands } from './follow-packets.ts';
import type { Script, Turn } from './models/script.ts';
import { type PlayedRun, playedRun } from './played-run.ts';

const PACK = fileURLToPath(new URL('../../', import.meta.url));
const DEADLINE_MS = 90_000;
const SKILLS = ['ccc', 'ccc-plan', 'ccc-plan-review', 'ccc-code', 'ccc-code-review'] as const;
const PROGRAM = ['dist', 'protocol', 'scripts/ccc.mjs', 'scripts/launch.mjs'] as const;

/** `linked`: links into a checkout. `copied`: the skills as the installer leaves them, the program inside `ccc`. */
type Installation = 'linked' | 'copied';

/** A checkout of the suite's own: whoever builds meanwhile does not pull the bundle away under a session. */
const checkout = copyCheckout();
afterAll(async () => rm(await checkout, { recursive: true, force: true }));

async function copyCheckout(): Promise<string> {
	const copy = await realpath(await mkdtemp(join(tmpdir(), 'ccc-checkout-')));
	for (const name of [...PROGRAM, 'skills']) await cp(join(PACK, name), join(copy, name), { recursive: true });
	return copy;
}

/** How a session of Claude Code ended. */
interface SessionEnd {
	readonly code: number | null;
	readonly sessionId: string;
	/** The last words. */
	readonly said: string;
	/** Tool calls that the user would have been asked about. */
	readonly denials: readonly unknown[];
	/** Whatever was printed, for the message of a failed expectation. */
	readonly all: string;
}

interface RunningSession {
	readonly ended: Promise<SessionEnd>;
	/** SIGKILL for Claude Code alone: what its tools have started lives on. */
	kill(): Promise<void>;
}

export type ClaudeBench = Awaited<ReturnType<typeof claudeBench>>;

interface BenchOptions {
	installation?: Installation;
	env?: Record<string, string>;
	/** The name of the folder for Claude Code's settings and skills. */
	configFolder?: string;
	/** The repository, where it is not the sandbox's own. */
	repoName?: string;
}

/**
 * A sandbox as `playedRun` makes it, with our skills in Claude Code's folder of skills.
 * @param script what an agent answers as a companion; a session of Claude does its own stages as Claude would there
 */
export async function claudeBench(
	script: (agent: Agent, repo: string) => Script,
	{ installation = 'copied', env = {}, configFolder, repoName = 'repo' }: BenchOptions = {},
) {
	const turns: Turn[] = [];
	let hands = patientHands;
	const run = await playedRun((agent, sandboxRepo) => {
		const repo = join(sandboxRepo, '..', repoName);
		const companion = script(agent, repo);
		if (agent === 'codex') return companion;
		return (turn) => {
			turns.push(turn);
			return followPackets(hands, workLike(companion, repo))(turn);
		};
	}, env);
	const { sandbox } = run;
	if (configFolder !== undefined) sandbox.env.CLAUDE_CONFIG_DIR = join(sandbox.root, configFolder);
	const config = sandbox.env.CLAUDE_CONFIG_DIR ?? '';
	await installSkills(await checkout, join(config, 'skills'), installation);
	const start = (prompt: string, options: SessionOptions = {}): RunningSession => {
		hands = options.hands ?? patientHands;
		return startClaude(run, prompt, options);
	};
	return {
		run,
		/** Claude Code's folder of settings. */
		config,
		/** The files of .git as they were before the run. */
		git: await run.gitFiles(),
		/** Every turn that a session's model was asked for, in order. */
		turns,
		/** Starts Claude Code with one prompt. */
		start,
		/** Runs Claude Code with one prompt to its end. */
		session: (prompt: string, options?: SessionOptions): Promise<SessionEnd> => start(prompt, options).ended,
	};
}

interface SessionOptions {
	readonly cwd?: string;
	/** Words for Claude Code's command line. */
	readonly words?: readonly string[];
	/** Instead of those that do as the skill says. */
	readonly hands?: SessionHands;
}

async function installSkills(from: string, skills: string, installation: Installation): Promise<void> {
	await mkdir(skills, { recursive: true });
	for (const name of SKILLS) {
		if (installation === 'linked') await symlink(join(from, 'skills', name), join(skills, name));
		else await cp(join(from, 'skills', name), join(skills, name), { recursive: true });
	}
	if (installation === 'linked') return;
	for (const name of PROGRAM) await cp(join(from, name), join(skills, 'ccc', name), { recursive: true });
}

function startClaude({ sandbox }: PlayedRun, prompt: string, options: SessionOptions): RunningSession {
	const child = spawn('claude', ['-p', '--output-format', 'json', ...(options.words ?? [])], {
		cwd: options.cwd ?? sandbox.repo,
		env: sandbox.env,
		stdio: ['pipe', 'pipe', 'pipe'],
		timeout: DEADLINE_MS,
	});
	child.stdin.on('error', () => {});
	child.stdin.end(prompt);
	const ended = whenEnded(child);
	return {
		ended,
		kill: async () => {
			child.kill('SIGKILL');
			await ended;
		},
	};
}

function whenEnded(child: ChildProcess): Promise<SessionEnd> {
	let stdout = '';
	let stderr = '';
	child.stdout?.on('data', (chunk) => {
		stdout += chunk;
	});
	child.stderr?.on('data', (chunk) => {
		stderr += chunk;
	});
	return new Promise((resolve, reject) => {
		child.once('error', reject);
		child.once('close', (code) => {
			const result = readResult(stdout);
			resolve({
				code,
				sessionId: result.session_id ?? '',
				said: result.result ?? '',
				denials: result.permission_denials ?? [],
				all: `${stdout}\n${stderr}`,
			});
		});
	});
}

interface ResultLine {
	session_id?: string;
	result?: string;
	permission_denials?: unknown[];
}

/** A killed session prints none. */
function readResult(stdout: string): ResultLine {
	try {
		return JSON.parse(stdout) as ResultLine;
	} catch {
		return {};
	}
}

/** Runs commands as the skill says: with the longest time limit the tool has. */
export const patientHands: SessionHands = {
	...claudeHands,
	run: (command, outside) => ({
		name: 'Bash',
		input: {
			command,
			description: outside?.justification ?? 'Run a command',
			timeout: 600_000,
			...(outside ? { dangerouslyDisableSandbox: true } : {}),
		},
	}),
};

/** Those of a session that was asked to run one command, and goes on from there. */
export function handsFrom(command: string): SessionHands {
	return {
		...patientHands,
		invocation: () => ({ skillFolder: '', words: '' }),
		run: (next, outside) => patientHands.run(next.startsWith('sh "/ccc.sh" begin ') ? command : next, outside),
	};
}

/** What the commands of ccc have printed in this session: packets, as opposed to files that it read. */
export function cccOutputs(turn: Turn | undefined): string[] {
	return (turn?.toolResults ?? []).filter((text) => /^STAGE: /m.test(text));
}

/**
 * One prompt in a new session; Claude Code is killed when its model has seen this many outputs of ccc and is about to run
 * the next command.
 */
export async function killBetween(bench: ClaudeBench, prompt: string, commands: number): Promise<'killed' | 'ended'> {
	const reached = gate();
	bench.run.play(async (turn, usual, agent) => {
		const reply = await usual();
		if (agent !== 'claude' || reply.kind !== 'tools') return reply;
		const isCommand = reply.calls.some((call) => 'name' in call && call.name === 'Bash');
		if (!isCommand || cccOutputs(turn).length < commands) return reply;
		reached.open();
		return { kind: 'hang' };
	});
	const session = bench.start(prompt);
	const first = await Promise.race([
		reached.passed.then(() => 'killed' as const),
		session.ended.then(() => 'ended' as const),
	]);
	await session.kill();
	return first;
}

/** Something to wait for. */
export function gate(): { passed: Promise<void>; open(): void } {
	let open = () => {};
	const passed = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { passed, open };
}
