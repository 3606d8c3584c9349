/** Untrusted text in run.md: written so that no heading, fence, key or nesting can come out of it, and read back. */

/** A line that would open lists or quotes inside the quote; a backslash in front keeps it text. */
const OPENS_CONTAINER = /^\\*[ \t]*(?:[-+*>]|\d{1,9}[.)])/;
const ESCAPED = /^\\+[ \t]*(?:[-+*>]|\d{1,9}[.)])/;

/** The text as run.md can hold it: LF line ends, no NUL, no lone surrogate. What `renderQuoted` keeps. */
export function cleanText(text: string): string {
	return text.replace(/\r\n?/g, '\n').replace(/\0|\p{Cs}/gu, '\uFFFD');
}

/** The text as block quote lines, without a newline at the end. */
export function renderQuoted(text: string): string {
	const lines = cleanText(text).split('\n');
	return lines.map((line) => (line === '' ? '>' : `> ${OPENS_CONTAINER.test(line) ? '\\' : ''}${line}`)).join('\n');
}

/** The text of block quote lines as `renderQuoted` writes them; undefined when a line is no quote line. */
export function parseQuoted(lines: readonly string[]): string | undefined {
	if (lines.length === 0 || !lines.every((line) => line === '>' || line.startsWith('> '))) return undefined;
	return lines
		.map((line) => line.slice(2))
		.map((line) => (ESCAPED.test(line) ? line.slice(1) : line))
		.join('\n');
}

/** A value for one line: as it is when nothing in it could be misread, else as a JSON string. */
export function renderValue(value: string): string {
	return /^[^"\s](?:.*\S)?$/.test(value) && !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|\s#/u.test(value)
		? value
		: JSON.stringify(value);
}

/** What `renderValue` wrote. A value of another hand is taken as it is, without a trailing ` # comment`. */
export function parseValue(value: string): string {
	if (value.startsWith('"')) {
		try {
			const parsed: unknown = JSON.parse(value);
			if (typeof parsed === 'string') return parsed;
		} catch {
			return value;
		}
	}
	return value.replace(/[ \t]#.*$/, '').trimEnd();
}
