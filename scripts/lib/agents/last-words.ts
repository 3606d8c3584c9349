/** What an agent said, cut down to something that is safe and short enough to show. */

/** The longest text shown, in characters. */
const SHOWN = 600;

/** How far back an error is looked for: an error message longer than this is an answer, not an error. */
const ERROR_TAIL = 4000;

/** The end of the text on one line: no escape sequences, no control or direction characters, at most 600 characters. */
export function lastWords(text: string): string {
	const tail = text.slice(-20 * SHOWN);
	const plain = tail
		// Terminal sequences first, or their visible parts (`[31m`) would stay behind.
		.replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g, '')
		.replace(/(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g, '')
		.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
		.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
		.replace(/ {2,}/g, ' ')
		.trim();
	return [...plain].slice(-SHOWN).join('').trim();
}

/**
 * Codex's own error on stderr. Its stderr also holds the whole prompt and the output of every command, so only what
 * follows the last line that begins as an error counts; without one, the last three lines.
 */
export function codexError(stderr: string): string {
	const lines = stderr
		.slice(-ERROR_TAIL)
		.split(/\r?\n/)
		.filter((line) => line.trim() !== '');
	const start = lines.findLastIndex((line) => /^(?:ERROR|Error|error)\b/.test(line));
	return lines.slice(start === -1 ? -3 : start).join('\n');
}

/** Claude's own error: on stdout when the API or the login fails, on stderr when the command line is wrong. */
export function claudeError(stdout: string, stderr: string): string {
	return (stdout.trim() === '' ? stderr : stdout).slice(-ERROR_TAIL);
}

/** Codex tells the tokens of a run on stderr, the number on a line of its own and grouped by thousands. */
export function codexTokens(stderr: string): number | undefined {
	const found = [...stderr.slice(-ERROR_TAIL).matchAll(/^tokens used:?\s+([0-9][0-9,._]*)/gm)].at(-1)?.[1];
	return found === undefined ? undefined : Number(found.replace(/[,._]/g, ''));
}
