/** Whether this process may open a socket that others connect to. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { systemCode } from './errors.ts';

/**
 * Tries to listen on 127.0.0.1, at a port nobody uses, for a moment. Only a refusal by the system counts: a sandbox without
 * a network answers so; other failures say nothing.
 */
export async function isListeningRefused(): Promise<boolean> {
	const server = createServer();
	try {
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		return false;
	} catch (error) {
		return ['EPERM', 'EACCES'].includes(systemCode(error) ?? '');
	} finally {
		server.close();
	}
}
