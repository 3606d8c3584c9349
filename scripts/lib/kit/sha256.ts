import { createHash } from 'node:crypto';

/** Lower-case hex SHA-256 of the bytes (strings as UTF-8). */
export function sha256(data: string | Uint8Array): string {
	return createHash('sha256').update(data).digest('hex');
}
