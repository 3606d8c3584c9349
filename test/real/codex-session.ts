import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, onTestFinished } from 'vitest';
import type { Agent } from '../../scripts/lib/agents/agent.ts';
import { runProcess } from '../../scripts/lib/kit/run-process.ts';
import {
	type CommandApproval,
	type Decision,
	startAppServer,
	type ThreadOptions,
	type TurnResult,
} from './app-server.ts';
import { codexHands, followPackets, type Seen, type StageWork } from './follow-packets.ts';
import type { Reply, Script, Turn } from './models/script.ts';
import { playedRun } from './played-run.ts';

const PACK = fileURLToPath(new URL('../../', import.meta.url));
const DEADLINE_MS = 90_000;
const SKILLS = ['ccc', 'ccc-plan', 'ccc-plan-review', 'ccc-code', 'ccc-code-review'] as const;
const CONTENT = ['dist', 'protocol', 'scripts/ccc.mjs', 'scripts/launch.mjs', 'skills'] as const;

/** A checkout of the suite's own: whoever builds meanwhile does not pull the bundle away under a session. */
const checkout = copyCheckout();
afterAll(async () => rm(await checkout, { recursive: true, force: true }));

async function copyCheckout(): Promise<string> {
	const copy = await realpath(await mkdtemp(join(tmpdir(), 'ccc-checkout-')));
	for (const name of CONTENT) await cp(join(PACK, name), join(copy, name), { recursive: true });
	return copy;
}

interface CodexBenchOptions {
	/** What an agent answers as a companion; a session of Codex does its own stages as Codex would there. */
	script: (agent: Agent, repo: string) => Script;
	/** How long the session's `call` waits, instead of its usual time. */
	waitSeconds?: number;
}

/** One command of a session: what it was, and what the model got to see of it. */
interface SeenCommand {
	command: string;
	output: string;
}

export type CodexBench = Awaited<ReturnType<typeof codexBench>>;

/** A sandbox as `playedRun` makes it, with our skills linked into the user's folder of skills. */
export async function codexBench({ script, waitSeconds }: CodexBenchOptions) {
	const sessions: Turn[] = [];
	const run = await playedRun((agent, repo) => {
		const companion = script(agent, repo);
		if (agent !== 'codex') return companion;
		const follow = followPackets(codexHands, workLike(companion), waitSeconds === undefined ? {} : { waitSeconds });
		return (turn) => {
			if (turn.skill === undefined) return companion(turn);
			sessions.push(turn);
			return follow(turn);
		};
	});
	const { env, repo, home } = run.sandbox;
	const skills = join(home, '.agents', 'skills');
	await mkdir(skills, { recursive: true });
	for (const name of SKILLS) await symlink(join(await checkout, 'skills', name), join(skills, name));
	const launcher = join(await checkout, 'skills', 'ccc', 'ccc.sh');
	/** On a server of its own; in the workspace-write sandbox and with questions, unless the options say otherwise. */
	const startThread = async (options: Partial<ThreadOptions> = {}) => {
		const server = await startAppServer(env, { cwd: repo });
		onTestFinished(() => server.kill());
		const usual = { cwd: repo, approvalPolicy: 'on-request', sandbox: 'workspace-write' } as const;
		const id = await server.startThread({ ...usual, ...options });
		return {
			server,
			prompt: (text: string, approve: Approve = () => 'accept') =>
				server.runTurn(id, text, { approve, timeoutMs: DEADLINE_MS }),
		};
	};
	return {
		run,
		/** The files of .git as they were before the run. */
		git: await run.gitFiles(),
		/** Every turn that Codex's model was asked for in a session, in order. */
		sessions,
		/** The last result of a tool that a session's model got to see. */
		lastResult: (): string => sessions.at(-1)?.toolResults.at(-1) ?? '',
		/** As Codex names it: links are resolved. */
		launcher,
		startThread,
		/** One prompt in a new thread of a new server. */
		async prompt(text: string, options: Partial<ThreadOptions> = {}, approve?: Approve): Promise<TurnResult> {
			const thread = await startThread(options);
			const turn = await thread.prompt(text, approve);
			await thread.server.close();
			return turn;
		},
		/** One prompt to `codex exec`, where nobody can be asked. */
		exec: (text: string, ...words: string[]) =>
			runProcess({
				argv: ['codex', 'exec', ...words, '--color', 'never', '-'],
				cwd: repo,
				env,
				stdin: text,
				timeoutMs: DEADLINE_MS,
			}),
		/** Lets every `call` of the skill's launcher run outside the sandbox, as a user's own rule does. */
		async allowCalls() {
			const rules = join(env.CODEX_HOME ?? '', 'rules');
			await mkdir(rules, { recursive: true });
			const pattern = JSON.stringify(['sh', launcher, 'call']);
			await writeFile(join(rules, 'ccc.rules'), `prefix_rule(pattern=${pattern}, decision="allow")\n`);
		},
	};
}

/**
 * One prompt in a new thread; Codex is ended like in a crash when its model has seen this many commands of ccc and is about
 * to run the next one.
 */
export async function killBetween(bench: CodexBench, text: string, commands: number): Promise<'killed' | 'ended'> {
	let begun = 0;
	let reached = () => {};
	const isReached = new Promise<void>((resolve) => {
		reached = resolve;
	});
	bench.run.play(async (turn, usual) => {
		const reply = await usual();
		if (turn.skill === undefined || reply.kind !== 'tools') return reply;
		// The same command outside the sandbox is no other command.
		if (reply.calls.some((call) => 'shell' in call && !call.escalate && call.shell.includes('/ccc.sh'))) begun += 1;
		if (begun <= commands) return reply;
		reached();
		return { kind: 'hang' };
	});
	const thread = await bench.startThread();
	const turn = thread.prompt(text);
	const first = await Promise.race([isReached.then(() => 'killed' as const), turn.then(() => 'ended' as const)]);
	turn.catch(() => undefined);
	await thread.server.kill();
	return first;
}

/** What one prompt put before the model that is ours, in bytes. */
export function bytesOfCcc(sessions: readonly Turn[], turn: TurnResult): { skill: number; commands: number } {
	const outputs = cccCommands(turn).map(({ output }) => Buffer.byteLength(output));
	return {
		skill: Buffer.byteLength(sessions.at(-1)?.skill ?? ''),
		commands: outputs.reduce((sum, bytes) => sum + bytes, 0),
	};
}

type Approve = (asked: CommandApproval) => Decision;

/** The commands of a turn that are ccc's, with what each printed. */
export function cccCommands({ items }: TurnResult): SeenCommand[] {
	return items
		.filter(({ type, command = '' }) => type === 'commandExecution' && command.includes('/ccc.sh'))
		.map(({ command = '', aggregatedOutput }) => ({ command, output: aggregatedOutput ?? '' }));
}

/** What Codex said last. */
export const lastWords = ({ items }: TurnResult): string =>
	items.findLast(({ type }) => type === 'agentMessage')?.text ?? '';

const STAGES = ['plan', 'review', 'code'].flatMap((kind) =>
	[0, 1].flatMap((version) => [`${kind}_v${version}`, ...(kind === 'plan' ? [`plan_v${version}_review`] : [])]),
);

/** The stages of a session, done as this companion would do them with what the session has read. */
function workLike(companion: Script): Readonly<Record<string, StageWork>> {
	const play = ({ packet, read, acted }: Seen): Reply => {
		const prompt = [
			`CCC stage: ${packet.stage}`,
			// The skill says this to a session, the prompt to a companion.
			'Review only the artifacts',
			...read,
			packet.answer.replaceAll('; ', '\n'),
			packet.headings.replaceAll('"', '\n'),
		].join('\n\n');
		const turn = { stage: packet.stage, prompt, step: acted.length, toolResults: acted, tools: [], requestIndex: 0 };
		return companion(turn) as Reply;
	};
	const work: StageWork = {
		acts(seen) {
			const reply = play(seen);
			return reply.kind === 'tools' ? reply.calls[0] : undefined;
		},
		text(seen) {
			const reply = play(seen);
			if (reply.kind !== 'text') throw new Error(`no text for ${seen.packet.stage}`);
			return reply.text;
		},
	};
	return Object.fromEntries(STAGES.map((stage) => [stage, work]));
}
