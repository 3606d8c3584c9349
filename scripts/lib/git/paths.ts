/**
 * Paths inside a repository. To git they are bytes; here they are strings with forward slashes, relative to the root,
 * in which each byte that is not UTF-8 stands as one lone surrogate (U+DC80 to U+DCFF). No two names become one
 * string, and JSON keeps them.
 */
import path from 'node:path';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The string for a path's bytes. */
export function decodePath(bytes: Uint8Array): string {
	try {
		return decoder.decode(bytes);
	} catch {
		return decodeOddBytes(bytes);
	}
}

function decodeOddBytes(bytes: Uint8Array): string {
	let text = '';
	let position = 0;
	while (position < bytes.length) {
		const lead = bytes[position] ?? 0;
		const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
		try {
			text += decoder.decode(bytes.subarray(position, position + length));
			position += length;
		} catch {
			text += String.fromCharCode(0xdc00 + lead);
			position += 1;
		}
	}
	return text;
}

/** The bytes of a path: the inverse of `decodePath`. */
export function encodePath(text: string): Buffer {
	if (isPlainText(text)) return Buffer.from(text, 'utf8');
	return Buffer.concat(
		Array.from(text, (character) => {
			const code = character.charCodeAt(0);
			const isByte = character.length === 1 && code >= 0xdc80 && code <= 0xdcff;
			return isByte ? Buffer.of(code - 0xdc00) : Buffer.from(character, 'utf8');
		}),
	);
}

/** Whether the path can be written as UTF-8, and so be an argument of a command. */
export function isPlainText(text: string): boolean {
	return !/\p{Surrogate}/u.test(text);
}

/** What Node's file functions take for a path inside `root`. */
export function filePath(root: string, inside: string): string | Buffer {
	if (isPlainText(inside)) return path.join(root, inside);
	return Buffer.concat([Buffer.from(`${root}/`, 'utf8'), encodePath(inside)]);
}

/** A path for people and prompts: as it is, or as a JSON string where it could be misread (newline, quote, odd bytes). */
export function showPath(text: string): string {
	if (!/[\p{C}\p{Zl}\p{Zp}"\\]|^\s|\s$|^$/u.test(text)) return text;
	return JSON.stringify(text).replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
		Array.from({ length: character.length }, (_, index) => escapeUnit(character.charCodeAt(index))).join(''),
	);
}

function escapeUnit(unit: number): string {
	return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/** The fields of a `-z` output, still bytes. */
export function splitFields(output: Buffer): Buffer[] {
	const fields: Buffer[] = [];
	let start = 0;
	for (let end = output.indexOf(0); end !== -1; end = output.indexOf(0, start)) {
		fields.push(output.subarray(start, end));
		start = end + 1;
	}
	if (start < output.length) fields.push(output.subarray(start));
	return fields;
}

/** Paths for a `-z --stdin`. */
export function joinPaths(paths: readonly string[]): Buffer {
	return Buffer.concat(paths.flatMap((one) => [encodePath(one), Buffer.of(0)]));
}

/** Whether `text` is `folder` or lies in it. */
export function isWithin(text: string, folder: string): boolean {
	return text === folder || text.startsWith(`${folder}/`);
}

/** Whether `text` lies in one of `folders`. */
export function isWithinAny(text: string, folders: readonly string[]): boolean {
	return folders.some((folder) => isWithin(text, folder));
}
