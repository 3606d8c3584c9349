/** One output stream of a child that the child writes to a file itself: no pipe between the two, and yet bounded. */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type OutputTarget, outputFailed } from './output-capture.ts';

const LOOK_MS = 25;

/**
 * Makes `file` anew, for its owner only. The last `maxBytes` of the stream are kept: a file that has grown beyond that is
 * emptied, and what is written in the moment between is lost. The child appends, so it goes on at the new start. The file
 * stays when the target is closed.
 * @throws CccError `output-file` (exit 70) when the file cannot be made
 */
export async function openFileTarget(file: string, maxBytes: number): Promise<OutputTarget> {
	const fd = await makeFile(file);
	let looking: NodeJS.Timeout | undefined;
	let failure: unknown;
	let kept: Uint8Array = Buffer.alloc(0);
	let bytesBefore = 0;
	let seen = 0;
	const look = (): number => {
		const { size } = fstatSync(fd);
		const grown = Math.max(0, size - seen);
		seen = size;
		if (size > maxBytes) {
			kept = readEnd(fd, size, maxBytes);
			ftruncateSync(fd, 0);
			bytesBefore += size;
			seen = 0;
		}
		return grown;
	};
	return {
		stdio: fd,
		capture: (_stream, onChunk) => {
			looking = setInterval(() => {
				try {
					const grown = look();
					if (grown > 0) onChunk(grown);
				} catch (error) {
					failure = error;
					clearInterval(looking);
				}
			}, LOOK_MS);
			return {
				ended: Promise.resolve(),
				result: () => {
					const { size } = fstatSync(fd);
					const end = Buffer.concat([kept, readEnd(fd, size, maxBytes)]).subarray(-maxBytes);
					const bytes = bytesBefore + size;
					const truncated = bytes > end.length;
					return { text: decodeEnd(end, truncated), bytes, truncated };
				},
			};
		},
		close: async () => {
			clearInterval(looking);
			closeSync(fd);
			if (failure !== undefined) throw outputFailed(file, failure);
		},
	};
}

async function makeFile(file: string): Promise<number> {
	const { O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants;
	try {
		// Never written through what lies there: that may be a link to somewhere else.
		await rm(file, { force: true, recursive: true });
		return openSync(file, O_RDWR | O_APPEND | O_CREAT | O_EXCL, 0o600);
	} catch (error) {
		throw outputFailed(file, error);
	}
}

/** The last `most` bytes of a file of `size` bytes. */
function readEnd(fd: number, size: number, most: number): Uint8Array {
	const start = Math.max(0, size - most);
	const buffer = Buffer.alloc(size - start);
	let filled = 0;
	while (filled < buffer.length) {
		const count = readSync(fd, buffer, filled, buffer.length - filled, start + filled);
		if (count === 0) break;
		filled += count;
	}
	return buffer.subarray(0, filled);
}

/** Where the start was cut off, the rest of a character that the cut has gone through goes too. */
function decodeEnd(bytes: Uint8Array, isCut: boolean): string {
	let start = 0;
	while (isCut && start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
	return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start));
}
