/** From the bytes of a file to text that can be parsed: UTF-8, no byte order mark, LF only. */
import { isUtf8 } from 'node:buffer';

export interface DocumentProblem {
	readonly code: 'not-utf8' | 'nul-byte' | 'too-large' | 'too-nested' | 'unparseable';
	/** 1-based, in the file as it is on disk. */
	readonly line: number;
	readonly column: number;
	readonly found: string;
	readonly expected: string;
}

export const DEFAULT_MAX_BYTES = 2 * 1024 * 1024;

/**
 * Decodes strictly: no surrogates, no overlong forms, no NUL. A byte order mark is dropped, CRLF and CR become LF, so
 * that line numbers stay those of the file in every spelling.
 *
 * @param maxBytes the largest file that is looked at
 */
export function decodeText(
	bytes: Uint8Array,
	maxBytes: number = DEFAULT_MAX_BYTES,
): { text: string } | { problem: DocumentProblem } {
	if (bytes.length > maxBytes) {
		const problem = { found: `${bytes.length} bytes`, expected: `at most ${maxBytes} bytes` };
		return { problem: { code: 'too-large', line: 1, column: 1, ...problem } };
	}
	if (!isUtf8(bytes)) {
		const offset = invalidOffset(bytes);
		const found = `the byte 0x${bytes[offset]!.toString(16).toUpperCase().padStart(2, '0')} that is not UTF-8`;
		return { problem: { code: 'not-utf8', ...placeOf(bytes, offset), found, expected: 'valid UTF-8 text' } };
	}
	const nul = bytes.indexOf(0);
	if (nul !== -1) {
		return {
			problem: { code: 'nul-byte', ...placeOf(bytes, nul), found: 'a NUL byte', expected: 'text without NUL bytes' },
		};
	}
	return { text: new TextDecoder('utf-8').decode(bytes).replace(/\r\n?/g, '\n') };
}

/** Where the first sequence starts that no UTF-8 text holds. Only called when there is one. */
function invalidOffset(bytes: Uint8Array): number {
	let low = 0;
	let high = bytes.length;
	// A prefix is valid up to a sequence cut at its end; so search for the last prefix that is valid when cut at a
	// character boundary.
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (isUtf8(bytes.subarray(0, boundaryBefore(bytes, middle)))) low = middle;
		else high = middle - 1;
	}
	return boundaryBefore(bytes, low);
}

/** The start of the character that byte `end - 1` belongs to when that character is cut there, else `end`. */
function boundaryBefore(bytes: Uint8Array, end: number): number {
	for (let back = 1; back <= 4 && back <= end; back++) {
		const byte = bytes[end - back]!;
		if ((byte & 0xc0) === 0x80) continue;
		const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
		return length > back ? end - back : end;
	}
	return end;
}

function placeOf(bytes: Uint8Array, offset: number): { line: number; column: number } {
	const before = new TextDecoder('utf-8').decode(bytes.subarray(0, offset));
	const lines = before.split(/\r\n?|\n/);
	return { line: lines.length, column: lines.at(-1)!.length + 1 };
}
