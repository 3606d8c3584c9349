import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { onTestFinished } from 'vitest';
import { killTree, listTree } from '../../scripts/lib/kit/process-tree.ts';
import { makeRepository, type TestRepository } from './git-repository.ts';
import { tempFolder } from './temp-folder.ts';

const PACK = path.resolve(import.meta.dirname, '../..');
export const LAUNCHER = path.join(PACK, 'scripts', 'ccc.mjs');
const AGENT = path.join(PACK, 'test', 'fakes', 'scripted-agent.mjs');
const DEADLINE_MS = 60_000;

/** What the scripted agent does when a stage reaches it; see test/fakes/scripted-agent.mjs. */
interface Step {
	readonly answer?: string;
	readonly shell?: string;
	readonly stderr?: string;
	readonly stdout?: string;
	readonly exit?: number;
	readonly hang?: boolean;
	readonly orphan?: boolean;
	readonly noFile?: boolean;
}

export type Scenario = Readonly<Record<string, Step | readonly Step[]>>;

interface AgentCall {
	readonly who: string;
	readonly stage: string;
	readonly argv: readonly string[];
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	readonly prompt: string;
}

interface Ran {
	readonly code: number | undefined;
	readonly stdout: string;
	readonly stderr: string;
}

interface CccOptions {
	readonly cwd?: string;
	readonly env?: Readonly<Record<string, string>>;
	/** Standard input; none when left out. */
	readonly input?: string | Uint8Array;
	/** Program and words before the subcommand. */
	readonly command?: readonly [string, ...string[]];
	readonly uid?: number;
}

interface SandboxOptions {
	/** A repository made by the test; otherwise one with a commit of `a.txt`. */
	readonly repository?: TestRepository;
	/** The run folder, relative to the repository. */
	readonly run?: string;
}

/**
 * A repository, a home of its own, and fake `claude` and `codex`; gone when the current test has ended, with every
 * process that was started in it.
 */
export async function makeSandbox(scenario: Scenario = {}, options: SandboxOptions = {}) {
	const root = await tempFolder();
	const bin = path.join(root, 'bin');
	const home = path.join(root, 'home');
	for (const folder of [bin, home]) mkdirSync(folder);
	for (const name of ['claude', 'codex']) symlinkSync(AGENT, path.join(bin, name));
	const repository = options.repository ?? (await seededRepository(path.join(root, 'repo')));
	const run = path.join(repository.root, options.run ?? '.ccc/runs/x');
	const id = randomBytes(8).toString('hex');
	const marker = `CCC_TEST_SANDBOX=${id}`;
	const env: Record<string, string> = {
		PATH: process.env.PATH ?? '',
		HOME: home,
		LANG: 'C.UTF-8',
		CCC_TEST_SANDBOX: id,
		CCC_CLAUDE_BIN: path.join(bin, 'claude'),
		CCC_CODEX_BIN: path.join(bin, 'codex'),
	};
	onTestFinished(async () => {
		await killTree({ marker, graceMs: 0 });
	});
	const play = (next: Scenario): void => writeFileSync(path.join(bin, 'scenario.json'), JSON.stringify(next));
	play(scenario);
	const inRun = (name: string): string => path.join(run, name);

	return {
		root,
		bin,
		home,
		env,
		repository,
		run,
		play,
		ccc: async (words: readonly string[], over: CccOptions = {}): Promise<Ran> => {
			const [file, ...before] = over.command ?? [process.execPath, LAUNCHER];
			const ran = await execa(file, [...before, ...words], {
				cwd: over.cwd ?? repository.root,
				env: { ...env, ...over.env },
				extendEnv: false,
				...(over.input === undefined ? { stdin: 'ignore' } : { input: over.input }),
				reject: false,
				stripFinalNewline: false,
				timeout: DEADLINE_MS,
				...(over.uid === undefined ? {} : { uid: over.uid, gid: over.uid }),
			});
			return { code: ran.exitCode, stdout: ran.stdout, stderr: ran.stderr };
		},
		/** The same, without waiting for its end. */
		start: (words: readonly string[]): { kill: (signal: 'SIGKILL' | 'SIGINT') => void } =>
			spawn(process.execPath, [LAUNCHER, ...words], { cwd: repository.root, env, stdio: 'ignore' }),
		/** Calls of the companions, in order. */
		calls: (): AgentCall[] => {
			const log = path.join(bin, 'calls.jsonl');
			if (!existsSync(log)) return [];
			// The last line may be being written.
			return readFileSync(log, 'utf8')
				.split('\n')
				.slice(0, -1)
				.map((line) => JSON.parse(line) as AgentCall);
		},
		/** A file of the run folder; '' when it is not there. */
		read: (name: string): string => (existsSync(inRun(name)) ? readFileSync(inRun(name), 'utf8') : ''),
		write: (name: string, text: string | Uint8Array): void => writeFileSync(inRun(name), text),
		has: (name: string): boolean => existsSync(inRun(name)),
		/** Names of the stages with a `.done`, sorted. */
		done: (): string[] => namesIn(inRun('state'), '.done'),
		status: (): string | undefined => {
			if (!existsSync(inRun('run.md'))) return undefined;
			return /\n## Status\n\n(\w+)\n/.exec(readFileSync(inRun('run.md'), 'utf8'))?.[1];
		},
		/** Processes of this sandbox that still run. */
		running: async (): Promise<number[]> => (await listTree({ pid: 0, marker })).map(({ pid }) => pid),
	};
}

export type Sandbox = Awaited<ReturnType<typeof makeSandbox>>;

function namesIn(folder: string, extension: string): string[] {
	if (!existsSync(folder)) return [];
	const names = readdirSync(folder).filter((name) => name.endsWith(extension));
	return names.map((name) => name.slice(0, -extension.length)).sort();
}

async function seededRepository(folder: string): Promise<TestRepository> {
	const repository = await makeRepository({ folder });
	repository.write('a.txt', 'one\n');
	repository.write('tool.sh', 'echo tool\n');
	chmodSync(path.join(folder, 'tool.sh'), 0o644);
	repository.commit();
	return repository;
}
