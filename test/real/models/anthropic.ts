import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import {
	type PlayedModel,
	type RecordedRequest,
	type Reply,
	type Script,
	stageOf,
	type ToolCall,
	type Turn,
} from './script.ts';
import { cutConnection, retryHeaders, sendJson, serveOnLoopback, startEvents } from './server.ts';

interface Block {
	type: string;
	text?: string;
	content?: string | Block[];
}
interface Message {
	role: string;
	content: string | Block[];
}
interface MessagesRequest {
	model: string;
	stream?: boolean;
	system?: string | Block[];
	messages: Message[];
	tools?: { name: string }[];
}
type AnswerBlock =
	| { type: 'text'; text: string }
	| { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> };

const ERROR_TYPES: Record<number, string> = {
	400: 'invalid_request_error',
	401: 'authentication_error',
	403: 'permission_error',
	404: 'not_found_error',
	429: 'rate_limit_error',
	529: 'overloaded_error',
};

/**
 * Plays the model of Claude Code: Anthropic's Messages API on loopback, streamed or whole. The script is asked for
 * each turn of a prompt; the probe of the host, token counts and session titles are answered here.
 */
export async function startAnthropicModel(script: Script): Promise<PlayedModel> {
	const requests: RecordedRequest[] = [];
	let asked = 0;
	const server = await serveOnLoopback(async (received, response) => {
		const record: RecordedRequest = { ...received };
		requests.push(record);
		if (received.method === 'HEAD') {
			response.writeHead(200).end();
		} else if (received.path === '/v1/messages/count_tokens') {
			sendJson(response, 200, { input_tokens: Math.ceil(received.bytes / 4) });
		} else if (received.path !== '/v1/messages') {
			sendError(response, { kind: 'error', status: 404, message: `no ${received.path} here` });
		} else {
			const body = received.body as MessagesRequest;
			if (asksForTitle(body)) {
				await answer(response, body, { kind: 'text', text: '{"title":"A short session"}' });
				return;
			}
			record.turn = readTurn(body, asked++);
			await answer(response, body, await script(record.turn));
		}
	});
	return { url: server.url, requests, close: server.close };
}

/** Claude Code names sessions with its small model, without tools; that is no turn of a companion. */
function asksForTitle(body: MessagesRequest): boolean {
	return body.model.includes('haiku') && !body.tools?.length && /\btitle\b/i.test(textOf(body.system ?? ''));
}

function readTurn(body: MessagesRequest, requestIndex: number): Turn {
	const { messages } = body;
	let at = messages.length - 1;
	let prompt: string | undefined;
	for (; at >= 0 && prompt === undefined; at--) {
		const message = messages[at];
		if (message?.role === 'user') prompt = promptIn(message.content);
	}
	const results = messages
		.slice(at + 1)
		.flatMap((message) => (typeof message.content === 'string' ? [] : message.content))
		.filter((block) => block.type === 'tool_result')
		.map((block) => textOf(block.content ?? ''));
	return {
		stage: stageOf(prompt ?? ''),
		prompt: prompt ?? '',
		step: results.length,
		toolResults: results,
		tools: (body.tools ?? []).map((tool) => tool.name),
		requestIndex,
	};
}

/** The user's own words in a message, as opposed to tool results and the reminders that the client puts beside them. */
function promptIn(content: string | Block[]): string | undefined {
	if (typeof content === 'string') return content;
	if (content.some((block) => block.type === 'tool_result')) return undefined;
	return content.findLast((block) => block.type === 'text' && !block.text?.startsWith('<system-reminder>'))?.text;
}

function textOf(content: string | Block[]): string {
	if (typeof content === 'string') return content;
	return content.map((block) => block.text ?? '').join('\n');
}

async function answer(response: ServerResponse, body: MessagesRequest, reply: Reply): Promise<void> {
	if (reply.kind === 'hang') return;
	if (reply.kind === 'error') {
		sendError(response, reply);
		return;
	}
	const blocks = blocksOf(reply);
	const message = {
		id: `msg_${randomUUID()}`,
		type: 'message',
		role: 'assistant',
		model: body.model,
		content: [] as AnswerBlock[],
		stop_reason: null as string | null,
		stop_sequence: null,
		usage: { input_tokens: 10, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
	};
	const stop = blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn';
	if (!body.stream) {
		if (reply.kind === 'cut') {
			response.writeHead(200, { 'content-type': 'application/json', 'content-length': '9999' }).write('{"id":');
			await cutConnection(response);
			return;
		}
		sendJson(response, 200, { ...message, content: blocks, stop_reason: stop });
		return;
	}
	const send = startEvents(response);
	send('message_start', { message });
	for (const [index, block] of blocks.entries()) {
		if (block.type === 'text') {
			send('content_block_start', { index, content_block: { type: 'text', text: '' } });
			send('content_block_delta', { index, delta: { type: 'text_delta', text: block.text } });
		} else {
			send('content_block_start', { index, content_block: { ...block, input: {} } });
			send('content_block_delta', {
				index,
				delta: { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
			});
		}
		if (reply.kind === 'cut') {
			await cutConnection(response);
			return;
		}
		send('content_block_stop', { index });
	}
	send('message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 20 } });
	send('message_stop', {});
	response.end();
}

function blocksOf(reply: Reply): AnswerBlock[] {
	switch (reply.kind) {
		case 'text':
		case 'cut':
			return [{ type: 'text', text: reply.text }];
		case 'tools': {
			const text: AnswerBlock[] = reply.text === undefined ? [] : [{ type: 'text', text: reply.text }];
			return [...text, ...reply.calls.map(toolUse)];
		}
		default:
			return [];
	}
}

function toolUse(call: ToolCall): AnswerBlock {
	const id = `toolu_${randomUUID().replaceAll('-', '')}`;
	if ('patch' in call) throw new Error('Claude Code has no patch tool; use Edit or Write');
	if ('shell' in call) {
		return { type: 'tool_use', id, name: 'Bash', input: { command: call.shell, description: 'Run a command' } };
	}
	return { type: 'tool_use', id, name: call.name, input: call.input };
}

function sendError(response: ServerResponse, reply: Reply & { kind: 'error' }): void {
	const type = reply.type ?? ERROR_TYPES[reply.status] ?? 'api_error';
	const message = reply.message ?? `played error ${reply.status}`;
	sendJson(response, reply.status, { type: 'error', error: { type, message } }, retryHeaders(reply.retryAfterSeconds));
}
