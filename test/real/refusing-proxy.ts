import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that lets nothing through and remembers what was asked for. */
interface RefusingProxy {
	url: string;
	/** `host:port` or address of every request, in order. */
	readonly attempts: readonly string[];
	close(): Promise<void>;
}

/** The agents are told to use this proxy: what they try to reach beside their model is refused, and shows. */
export async function startRefusingProxy(): Promise<RefusingProxy> {
	const attempts: string[] = [];
	const server = createServer((request, response) => {
		attempts.push(request.url ?? '');
		response.writeHead(403).end();
	});
	server.on('connect', (request, socket) => {
		attempts.push(request.url ?? '');
		socket.on('error', () => socket.destroy());
		socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		attempts,
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}
