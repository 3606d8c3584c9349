import { join } from 'node:path';
import type { Seen, StageWork } from './follow-packets.ts';
import type { Script, ToolCall } from './models/script.ts';

const STAGES = [0, 1, 2].flatMap((version) => [
	`plan_v${version}`,
	`plan_v${version}_review`,
	`code_v${version}`,
	`review_v${version}`,
]);

/**
 * The stages of a session of Claude Code, done as this companion would do them with what the session has read.
 * @param repo the repository, as the session names it
 */
export function workLike(companion: Script, repo: string): Readonly<Record<string, StageWork>> {
	const work: StageWork = {
		acts: (seen) => answer(companion, repo, seen).calls[seen.acted.length],
		text: (seen) => answer(companion, repo, seen).text,
	};
	return Object.fromEntries(STAGES.map((stage) => [stage, work]));
}

/** What the companion does in this stage, as far as it can be told from what is seen; in the end, what it says. */
function answer(companion: Script, repo: string, { packet, read, acted }: Seen): { calls: ToolCall[]; text: string } {
	const head = /current_head: (\w+)/.exec(packet.headings)?.[1];
	const failed = acted.some((text) => /^# fail [1-9]/m.test(text));
	const result = `${acted.join('\n')}\ntests ended with ${failed ? 1 : 0}\nHEAD is ${head}`;
	const prompt = [
		`CCC stage: ${packet.stage}`,
		// The skill says this to a session, the prompt to a companion.
		'Review only the artifacts',
		...read,
		packet.answer.replaceAll('; ', '\n'),
		packet.headings.replaceAll('"', '\n'),
	].join('\n\n');
	const calls: ToolCall[] = [];
	for (let step = 0; ; step += 1) {
		const toolResults = Array<string>(step).fill(result);
		const reply = companion({ stage: packet.stage, prompt, step, toolResults, tools: [], requestIndex: 0 });
		if ('then' in reply || (reply.kind !== 'tools' && reply.kind !== 'text')) {
			throw new Error(`no work for ${packet.stage}`);
		}
		if (reply.kind === 'text') return { calls, text: reply.text };
		calls.push(...reply.calls.flatMap((call) => inClaude(call, repo)));
		if (calls.length > acted.length) return { calls, text: '' };
	}
}

/** The same in Claude Code's tools. A user allows one command for the tests, not a line of several. */
function inClaude(call: ToolCall, repo: string): ToolCall[] {
	if ('shell' in call) return [{ shell: 'node --test' }];
	if (!('patch' in call)) return [call];
	const file_path = join(repo, /^\*\*\* Update File: (.*)$/m.exec(call.patch)?.[1] ?? '');
	const lines = (mark: string): string =>
		call.patch
			.split('\n')
			.filter((line) => line.startsWith(mark))
			.map((line) => line.slice(1))
			.join('\n');
	return [
		{ name: 'Read', input: { file_path } },
		{ name: 'Edit', input: { file_path, old_string: lines('-'), new_string: lines('+') } },
	];
}
