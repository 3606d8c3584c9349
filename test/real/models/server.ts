import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One received request: the body is read whole, and parsed where it is JSON. */
interface Received {
	method: string;
	/** Without the query. */
	path: string;
	body: unknown;
	bytes: number;
}

/** A server on 127.0.0.1 and a free port. `close` also ends the connections that are still open. */
interface LoopbackServer {
	url: string;
	close(): Promise<void>;
}

/**
 * Serves `handle` on loopback. When it throws (a script's failed expectation, most often), the client gets an error
 * that it does not retry, so that the message shows up in what the agent prints.
 */
export async function serveOnLoopback(
	handle: (request: Received, response: ServerResponse) => Promise<void>,
): Promise<LoopbackServer> {
	const server = createServer((request, response) => {
		receive(request)
			.then((received) => handle(received, response))
			.catch((error) => {
				if (response.headersSent) response.destroy();
				else sendJson(response, 400, { type: 'error', error: { type: 'invalid_request_error', message: `${error}` } });
			});
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(0, '127.0.0.1', resolve);
	});
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

/** Sends one JSON value. */
export function sendJson(
	response: ServerResponse,
	status: number,
	value: unknown,
	headers: Record<string, string> = {},
): void {
	response.writeHead(status, { 'content-type': 'application/json', ...headers });
	response.end(JSON.stringify(value));
}

/** Starts a stream of server-sent events and returns what sends one. */
export function startEvents(response: ServerResponse): (type: string, data: object) => void {
	response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
	return (type, data) => {
		response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
	};
}

/** Drops the connection once what was written has left, so that the client sees a beginning and no end. */
export async function cutConnection(response: ServerResponse): Promise<void> {
	await new Promise((resolve) => setTimeout(resolve, 50));
	response.destroy();
}

/** Headers of an error answer. */
export function retryHeaders(retryAfterSeconds: number | undefined): Record<string, string> {
	return retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
}

async function receive(request: IncomingMessage): Promise<Received> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	const raw = Buffer.concat(chunks);
	const path = (request.url ?? '/').split('?')[0] ?? '/';
	return { method: request.method ?? 'GET', path, body: parse(raw.toString('utf8')), bytes: raw.length };
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
