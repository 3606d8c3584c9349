/** A file as text with one character for each byte, so that offsets are those of the file and no byte is ever lost. */

export interface Line {
	/** Offset of the first character. */
	readonly start: number;
	/** Without its line end. */
	readonly text: string;
	/** `\n`, `\r\n`, `\r`, or nothing at the end of the file. */
	readonly end: string;
}

/** UTF-8's byte order mark, read byte by byte. */
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

export function textOf(bytes: Buffer): string {
	return bytes.toString('latin1');
}

export function bytesOf(text: string): Buffer {
	return Buffer.from(text, 'latin1');
}

/** The offset where the text proper begins: after a byte order mark. */
export function textStart(text: string): number {
	return text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
}

/** The lines from the start of the text proper on. */
export function linesOf(text: string): Line[] {
	const lines: Line[] = [];
	const pattern = /([^\r\n]*)(\r\n|\r|\n|$)/y;
	for (let at = textStart(text); at < text.length; at = pattern.lastIndex) {
		pattern.lastIndex = at;
		const [, line = '', end = ''] = pattern.exec(text) ?? [];
		lines.push({ start: at, text: line, end });
	}
	return lines;
}

/** The line end a text stops with, or nothing. */
export function finalLineEnd(text: string): string {
	return /(?:\r\n|\r|\n)$/.exec(text.slice(-2))?.[0] ?? '';
}

/** The line end a text begins with, or nothing. */
export function firstLineEnd(text: string): string {
	return /^(?:\r\n|\r|\n)/.exec(text)?.[0] ?? '';
}
