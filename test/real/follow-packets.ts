import type { Agent } from '../../scripts/lib/agents/agent.ts';
import { quoteWord, splitWords } from '../../scripts/lib/kit/words.ts';
import { type Script, say, type ToolCall, type Turn, use } from './models/script.ts';

/** What one command of a session came to. */
interface CommandResult {
	output: string;
	/** Undefined while it runs, and when the agent did not let it run: `output` then says why. */
	exitCode?: number;
	/** It still runs, and this is how to ask for it again. */
	running?: number;
}

/** What differs between the agents: how their tools are called, and how these say what happened. */
export interface SessionHands {
	agent: Agent;
	/** The folder of the skill that the user called, and the words after its name. Throws where there is no skill. */
	invocation(turn: Turn): { skillFolder: string; words: string };
	/** @param outside asks to run the command outside the agent's sandbox */
	run(command: string, outside?: { justification: string; prefixRule?: readonly string[] }): ToolCall;
	result(text: string): CommandResult;
	/** Asks again for a command that still runs; agents whose tools wait for the end have none. */
	wait?(running: number): ToolCall;
	read(path: string): ToolCall;
	/** The file's text in the result of `read`. */
	contents(text: string): string;
	write(path: string, text: string): ToolCall;
	/** Whether the result of `write` says that it was done. */
	isWritten(text: string): boolean;
}

/** The lines of a packet; lists are empty and `write` and `next` undefined where the line says `none`. */
export interface ReceivedPacket {
	stage: string;
	owner: string;
	read: string[];
	write: string | undefined;
	headings: string;
	answer: string;
	next: string | undefined;
}

/** What the session knows when it writes the file of a stage. */
export interface Seen {
	packet: ReceivedPacket;
	/** The texts of READ, in its order; Claude Code does not show again what the session has read before. */
	read: readonly string[];
	/** What the stage's own tool calls returned. */
	acted: readonly string[];
}

/** How the session does one stage. */
export interface StageWork {
	/** Edits and commands before the file is written, one after the other: a list, or each by what is seen so far. */
	acts?: readonly ToolCall[] | ((seen: Seen) => ToolCall | undefined);
	/** The file, whole. */
	text: string | ((seen: Seen) => string);
}

interface FollowOptions {
	/** How long `call` waits, instead of its usual time. */
	waitSeconds?: number;
}

/**
 * The model of a session that has read the skill: begins with the user's words and follows packets until one has no
 * command to run or is for the user, then answers with the last output. Stops and answers in the same way when a command
 * fails, or when the agent does not let it run. A command that may not run in a sandbox is asked for as its output says,
 * once. It remembers nothing: each turn is worked out anew from the tool results so far.
 * @param work how the session's own stages are done, by their name; a stage that is missing fails the request
 */
export function followPackets(
	hands: SessionHands,
	work: Readonly<Record<string, StageWork>>,
	options: FollowOptions = {},
): Script {
	return (turn) => {
		const session = follow(hands, work, options, turn);
		let step = session.next();
		for (const result of turn.toolResults) {
			if (step.done) throw new Error('a tool result came after the last call');
			step = session.next(result);
		}
		return step.done ? say(step.value) : use(step.value);
	};
}

/** Yields tool calls and is given their results; what it returns is the final answer. */
type Session<T> = Generator<ToolCall, T, string>;

function* follow(
	hands: SessionHands,
	work: Readonly<Record<string, StageWork>>,
	options: FollowOptions,
	turn: Turn,
): Session<string> {
	const { skillFolder, words } = hands.invocation(turn);
	const only = /\/ccc-([\w-]+)$/.exec(skillFolder)?.[1];
	let command = beginCommand(skillFolder, hands.agent, only, words);
	for (;;) {
		const wait =
			options.waitSeconds !== undefined && / call \S+$/.test(command) ? ` --wait ${options.waitSeconds}` : '';
		let result = yield* run(hands, `${command}${wait}`);
		if (result.exitCode === 5 && result.output.includes('escalated permissions')) {
			const { named, ...outside } = readEscalation(result.output);
			result = yield* run(hands, `${named}${wait}`, outside);
		}
		if (result.exitCode !== 0) return result.output;
		const packet = parsePacket(result.output);
		if (packet === undefined && result.output.includes('still running')) continue;
		if (packet?.next === undefined || packet.owner === 'user') return result.output;
		// A stage's own skill does no other stage.
		if (only !== undefined && / (?:submit|call) /.test(command)) return result.output;
		if (packet.owner === hands.agent) yield* perform(hands, work, packet);
		command = packet.next;
	}
}

function* run(
	hands: SessionHands,
	command: string,
	outside?: Parameters<SessionHands['run']>[1],
): Session<CommandResult> {
	let result = hands.result(yield hands.run(command, outside));
	let output = result.output;
	while (result.running !== undefined && hands.wait) {
		result = hands.result(yield hands.wait(result.running));
		output += result.output;
	}
	return { ...result, output };
}

function* perform(
	hands: SessionHands,
	work: Readonly<Record<string, StageWork>>,
	packet: ReceivedPacket,
): Session<void> {
	const todo = work[packet.stage];
	if (todo === undefined) throw new Error(`no work for stage ${packet.stage}`);
	if (packet.write === undefined) throw new Error(`the packet of ${packet.stage} names no file to write`);
	const read: string[] = [];
	for (const path of packet.read) read.push(hands.contents(yield hands.read(path)));
	const acted: string[] = [];
	const { acts = [] } = todo;
	const actNext = () => (typeof acts === 'function' ? acts({ packet, read, acted }) : acts[acted.length]);
	for (let call = actNext(); call !== undefined; call = actNext()) {
		acted.push('shell' in call ? (yield* run(hands, call.shell)).output : yield call);
	}
	const text = typeof todo.text === 'string' ? todo.text : todo.text({ packet, read, acted });
	yield* write(hands, packet.write, text);
}

function* write(hands: SessionHands, path: string, text: string): Session<void> {
	if (hands.isWritten(yield hands.write(path, text))) return;
	// A session that ended in the middle of the stage may have left the file, and some tools write over nothing unread.
	yield hands.read(path);
	const result = yield hands.write(path, text);
	if (!hands.isWritten(result)) throw new Error(`${path} was not written: ${result}`);
}

/** The first command: the user's words go in through a here-document, so that no shell ever looks at them. */
function beginCommand(skillFolder: string, agent: Agent, only: string | undefined, words: string): string {
	let mark = 'END_OF_CCC_ARGUMENTS';
	while (words.split('\n').includes(mark)) mark += '_';
	const begin = `begin --session ${agent}${only === undefined ? '' : ` --stage ${only}`}`;
	return `sh "${skillFolder}/ccc.sh" ${begin} <<'${mark}'\n${words}\n${mark}`;
}

/** What an output says about running a command outside the sandbox: which, why, and the rule that would cover its like. */
function readEscalation(output: string): { named: string; justification: string; prefixRule?: string[] } {
	const [, how = '', named, justification] =
		/with escalated permissions(.*):\n\s*(\S.*)\n\s*reason to give: (.*)$/m.exec(output) ?? [];
	if (named === undefined || justification === undefined) throw new Error(`no command to escalate in: ${output}`);
	const rule = /prefix_rule: (\[.*?\])/.exec(how)?.[1];
	return { named, justification, ...(rule === undefined ? {} : { prefixRule: JSON.parse(rule) as string[] }) };
}

/** Reads the packet in an output, if there is one. */
export function parsePacket(output: string): ReceivedPacket | undefined {
	const line = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(output)?.[1]?.trim();
	const given = (key: string) => {
		const value = line(key);
		return value === 'none' ? undefined : value;
	};
	const stage = line('STAGE');
	if (stage === undefined) return undefined;
	const [write] = splitWords(given('WRITE') ?? '');
	return {
		stage,
		owner: line('OWNER') ?? '',
		read: splitWords(given('READ') ?? ''),
		write,
		headings: given('HEADINGS') ?? '',
		answer: given('ANSWER') ?? '',
		next: given('NEXT'),
	};
}

/** Codex: commands run in the background after a while, and files are written as patches. */
export const codexHands: SessionHands = {
	agent: 'codex',
	invocation({ prompt, skill }) {
		const file = /^<path>(.*)\/SKILL\.md<\/path>$/m.exec(skill ?? '')?.[1];
		if (file === undefined) throw new Error(`expected a skill beside the prompt ${prompt}`);
		return { skillFolder: file, words: prompt.replace(/^\$[\w:-]+[ \n]/, '') };
	},
	run: (shell, outside) => ({ shell, ...(outside ? { escalate: outside } : {}) }),
	result(text) {
		const [, head = '', output = ''] = /^((?:.+\n)*?)Output:\n([\s\S]*)$/.exec(text) ?? [];
		const running = /^Process running with session ID (\d+)$/m.exec(head)?.[1];
		const code = /^(?:Process exited with code|Exit code:) (-?\d+)$/m.exec(head)?.[1];
		if (running !== undefined) return { output, running: Number(running) };
		return code === undefined ? { output: text } : { output, exitCode: Number(code) };
	},
	wait: (running) => ({ name: 'write_stdin', input: { session_id: running, chars: '', yield_time_ms: 60_000 } }),
	read: (path) => ({ shell: `cat ${quoteWord(path)}` }),
	contents: (text) => codexHands.result(text).output,
	write(path, text) {
		const lines = text.replace(/\n$/, '').split('\n');
		return { patch: `*** Begin Patch\n*** Add File: ${path}\n+${lines.join('\n+')}\n*** End Patch\n` };
	},
	isWritten: (text) => text.includes('Success. Updated the following files'),
};

/** Claude Code: its Bash tool waits for the end, and files have tools of their own. */
export const claudeHands: SessionHands = {
	agent: 'claude',
	invocation({ prompt }) {
		const skillFolder = /^Base directory for this skill: (.*)$/m.exec(prompt)?.[1];
		if (skillFolder === undefined) throw new Error(`expected a skill in the prompt ${prompt}`);
		return { skillFolder, words: /^ARGUMENTS: ([\s\S]*)$/m.exec(prompt)?.[1] ?? '' };
	},
	run: (command, outside) =>
		outside
			? { name: 'Bash', input: { command, description: outside.justification, dangerouslyDisableSandbox: true } }
			: { shell: command },
	result(text) {
		const [, code, output] = /^Exit code (\d+)\n?([\s\S]*)$/.exec(text) ?? [];
		return code === undefined ? { output: text, exitCode: 0 } : { output: output ?? '', exitCode: Number(code) };
	},
	read: (path) => ({ name: 'Read', input: { file_path: path } }),
	contents: (text) => text.replace(/^ *\d+\t/gm, ''),
	write: (path, text) => ({ name: 'Write', input: { file_path: path, content: text } }),
	isWritten: (text) => /^(?:File created successfully|The file .* has been updated)/.test(text),
};
