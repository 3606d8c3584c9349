import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import {
	type PlayedModel,
	type RecordedRequest,
	type Reply,
	type Script,
	type ShellCall,
	stageOf,
	type ToolCall,
	type Turn,
} from './script.ts';
import { cutConnection, retryHeaders, sendJson, serveOnLoopback, startEvents } from './server.ts';

interface InputItem {
	type: string;
	role?: string;
	content?: { type: string; text?: string }[];
	output?: unknown;
}
interface Tool {
	type: string;
	name?: string;
}
interface ResponsesRequest {
	input: InputItem[];
	tools?: Tool[];
}

const USAGE = {
	input_tokens: 100,
	input_tokens_details: { cached_tokens: 40 },
	output_tokens: 10,
	output_tokens_details: { reasoning_tokens: 0 },
	total_tokens: 110,
};

/**
 * Plays the model of Codex: OpenAI's Responses API on loopback, streamed. The script is asked for each turn of a
 * prompt; the list of models is answered here. The provider's base address is the returned `url` with `/v1`.
 */
export async function startOpenAiModel(script: Script): Promise<PlayedModel> {
	const requests: RecordedRequest[] = [];
	let asked = 0;
	const server = await serveOnLoopback(async (received, response) => {
		const record: RecordedRequest = { ...received };
		requests.push(record);
		// No list of models either: with an empty one Codex would forget what its built-in models can do.
		if (received.method !== 'POST' || received.path !== '/v1/responses') {
			sendJson(response, 404, { error: { message: `no ${received.path} here`, type: 'invalid_request_error' } });
			return;
		}
		const body = received.body as ResponsesRequest;
		record.turn = readTurn(body, asked++);
		await answer(response, body.tools ?? [], await script(record.turn));
	});
	return { url: server.url, requests, close: server.close };
}

function readTurn(body: ResponsesRequest, requestIndex: number): Turn {
	const said = body.input.map(userText);
	const at = said.findLastIndex((text) => text !== undefined && !isSkill(text));
	const prompt = said[at] ?? '';
	const skill = said.slice(at + 1).find((text) => text !== undefined);
	const results = body.input
		.slice(at + 1)
		.filter((item) => item.type.endsWith('_output'))
		.map((item) => (typeof item.output === 'string' ? item.output : JSON.stringify(item.output)));
	return {
		stage: stageOf(prompt),
		prompt,
		...(skill === undefined ? {} : { skill }),
		step: results.length,
		toolResults: results,
		tools: (body.tools ?? []).map(nameOf),
		requestIndex,
	};
}

function userText(item: InputItem): string | undefined {
	if (item.type !== 'message' || item.role !== 'user') return undefined;
	return item.content?.findLast((part) => part.type === 'input_text')?.text ?? '';
}

/** A skill named in the prompt follows it as a message of its own in the user's name. */
function isSkill(text: string): boolean {
	return text.startsWith('<skill>\n') && text.trimEnd().endsWith('</skill>');
}

function nameOf(tool: Tool): string {
	return tool.name ?? tool.type;
}

async function answer(response: ServerResponse, tools: readonly Tool[], reply: Reply): Promise<void> {
	if (reply.kind === 'hang') return;
	if (reply.kind === 'error') {
		const error = {
			message: reply.message ?? `played error ${reply.status}`,
			type: reply.type ?? 'server_error',
			code: reply.type ?? null,
		};
		sendJson(response, reply.status, { error }, retryHeaders(reply.retryAfterSeconds));
		return;
	}
	const items = itemsOf(reply, tools);
	const id = `resp_${randomUUID()}`;
	const send = startEvents(response);
	send('response.created', { response: { id, object: 'response', status: 'in_progress', output: [] } });
	for (const [index, item] of items.entries()) {
		if (item.type === 'message') {
			send('response.output_item.added', {
				output_index: index,
				item: { ...item, status: 'in_progress', content: [] },
			});
			send('response.output_text.delta', {
				item_id: item.id,
				output_index: index,
				content_index: 0,
				delta: item.content[0]?.text,
			});
		}
		if (reply.kind === 'cut') {
			await cutConnection(response);
			return;
		}
		send('response.output_item.done', { output_index: index, item });
	}
	send('response.completed', {
		response: { id, object: 'response', status: 'completed', output: [], usage: USAGE },
	});
	response.end();
}

type AnswerItem =
	| {
			type: 'message';
			id: string;
			role: 'assistant';
			status: string;
			content: { type: 'output_text'; text: string; annotations: [] }[];
	  }
	| { type: 'function_call'; id: string; call_id: string; name: string; arguments: string; status: string }
	| { type: 'custom_tool_call'; id: string; call_id: string; name: string; input: string; status: string };

function itemsOf(reply: Reply, tools: readonly Tool[]): AnswerItem[] {
	switch (reply.kind) {
		case 'text':
		case 'cut':
			return [message(reply.text)];
		case 'tools': {
			const text = reply.text === undefined ? [] : [message(reply.text)];
			return [...text, ...reply.calls.map((call) => toolCall(call, tools))];
		}
		default:
			return [];
	}
}

function message(text: string): AnswerItem {
	return {
		type: 'message',
		id: `msg_${randomUUID()}`,
		role: 'assistant',
		status: 'completed',
		content: [{ type: 'output_text', text, annotations: [] }],
	};
}

function toolCall(call: ToolCall, tools: readonly Tool[]): AnswerItem {
	if ('shell' in call) return shellCall(call, tools);
	if ('name' in call) return functionCall(call.name, call.input);
	// Only models that Codex knows get the patch tool; the others call it as a command.
	const patch = tools.find((tool) => tool.name === 'apply_patch');
	if (patch?.type === 'function') return functionCall('apply_patch', { input: call.patch });
	if (patch === undefined) {
		return shellCall({ shell: `apply_patch <<'END_OF_PATCH'\n${call.patch}\nEND_OF_PATCH` }, tools);
	}
	return {
		type: 'custom_tool_call',
		id: `ctc_${randomUUID()}`,
		call_id: `call_${randomUUID()}`,
		name: 'apply_patch',
		input: call.patch,
		status: 'completed',
	};
}

/** A command through whichever shell tool this Codex offers. */
function shellCall({ shell: command, escalate }: ShellCall, tools: readonly Tool[]): AnswerItem {
	const names = tools.map(nameOf);
	const outside = escalate && {
		sandbox_permissions: 'require_escalated',
		justification: escalate.justification,
		...(escalate.prefixRule ? { prefix_rule: escalate.prefixRule } : {}),
	};
	if (names.includes('exec_command')) {
		return functionCall('exec_command', { cmd: command, yield_time_ms: 10_000, ...outside });
	}
	if (names.includes('shell_command')) return functionCall('shell_command', { command, ...outside });
	if (names.includes('shell')) return functionCall('shell', { command: ['bash', '-lc', command] });
	throw new Error(`no shell tool among: ${names.join(', ')}`);
}

function functionCall(name: string, input: Record<string, unknown>): AnswerItem {
	return {
		type: 'function_call',
		id: `fc_${randomUUID()}`,
		call_id: `call_${randomUUID()}`,
		name,
		arguments: JSON.stringify(input),
		status: 'completed',
	};
}
