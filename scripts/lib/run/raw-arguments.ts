/** The text a user types after `/ccc`, which no shell has split (protocol: Syntax). Pure. */
import { CccError, EXIT } from '../kit/errors.ts';
import { parseRounds, RUN_SYNTAX } from './arguments.ts';
import { isMode } from './modes.ts';

type Kind = 'double' | 'single';

/** Languages disagree on which side of a pair opens („x“, »x«, ”x”), so most characters do both. */
const OPENING = kinds({ double: '"“”„‟«»『＂', single: "'‘’‚‛‹›「＇" });
const CLOSING = kinds({ double: '"“”‟«»』＂', single: "'‘’‛‹›」＇" });

const VERIFY = 'verify=';
const MAX_BYTES = 1024 * 1024;
const EXAMPLE = {
	task: 'runs/one "Fix the failing test" auto',
	reason: 'cancel runs/one "No longer needed"',
	'output folder': '"my runs/one" "Fix the failing test"',
	'verify command': 'runs/one "Fix the failing test" verify="npm test"',
};
type Quoted = keyof typeof EXAMPLE;

/**
 * Splits raw text into the words `parseRunArguments` takes: `[folder, task, ...options]`,
 * `['resume', folder, ...options]` or `['cancel', folder, reason]`. What stands between quotes is literal.
 * Where text could be read in two ways, these rules decide:
 * - A quote opens at the start of a word and closes at the end of one, and closes its type only
 *   (double or single, ASCII or typographic alike). A quoted folder ends at the next closing quote.
 * - Trailing options are read from the end, as many as there are; the quote before them closes the task.
 *   So quotes inside the task, even with option words after them, belong to the task.
 * - A last `verify="..."` is an option if the task is closed before it, or if its value holds no quote of its type
 *   (then the task counts as unclosed, rather than as ending in `verify="...`). Otherwise it is text of the task.
 * - Before the task, `verify="..."` ends at the next closing quote of its type.
 *
 * A word that is no option is handed on for `parseRunArguments` to refuse by name; options beside a reason too.
 * @throws CccError (exit 2) `missing-argument` for blank text, `too-large` above 1 MiB, `missing-quotes` for a task
 * or reason without quotes, `unclosed-quote`, and `bad-folder` for a quoted folder that is called as a subcommand is
 */
export function splitRawArguments(text: string): string[] {
	const size = Buffer.byteLength(text);
	if (size > MAX_BYTES) {
		throw usage('too-large', 'The arguments are too long.', `at most ${MAX_BYTES} bytes`, `${size} bytes`, {
			next: 'put the details in a file of the repository, and name that file in the task',
		});
	}
	if (text.trim() === '') {
		throw usage('missing-argument', 'There are no arguments.', RUN_SYNTAX.join(' or '), '(nothing)', {
			next: `write for example: ${EXAMPLE.task}`,
		});
	}
	const first = readFolder(text, 0);
	if (first.text !== 'resume' && first.text !== 'cancel') return [first.text, ...readQuoted(text, first.end, 'task')];
	if (first.quoted) {
		throw usage('bad-folder', 'The output folder is called as a subcommand is.', `./${first.text}`, first.text);
	}
	if (text.slice(first.end).trim() === '') return [first.text];
	const folder = readFolder(text, first.end);
	const rest = first.text === 'resume' ? readOptions(text, folder.end) : readQuoted(text, folder.end, 'reason');
	return [first.text, folder.text, ...rest];
}

function readFolder(text: string, from: number): { text: string; end: number; quoted: boolean } {
	const start = skipBlanks(text, from, text.length);
	const kind = OPENING.get(text.charAt(start));
	if (kind === undefined) {
		const end = wordEnd(text, start, text.length);
		return { text: text.slice(start, end), end, quoted: false };
	}
	let close = start + 1;
	while (close < text.length && CLOSING.get(text.charAt(close)) !== kind) close += 1;
	if (!endsWord(text, close, text.length)) throw unclosed('output folder', text, start);
	return { text: text.slice(start + 1, close), end: close + 1, quoted: true };
}

/** The task or the reason, then the options around it. Without any text: the options alone. */
function readQuoted(text: string, from: number, name: 'task' | 'reason'): string[] {
	const before: string[] = [];
	const first = skipBlanks(text, from, text.length);
	let open = first;
	while (open < text.length && !OPENING.has(text.charAt(open))) {
		const word = readWord(text, open, text.length);
		before.push(word.text);
		open = skipBlanks(text, word.end, text.length);
	}
	const kind = OPENING.get(text.charAt(open));
	if (kind === undefined) {
		if (before.every(isOption)) return before;
		throw usage(
			'missing-quotes',
			`The ${name} must stand in quotes.`,
			`quotes around it: ${EXAMPLE[name]}`,
			excerpt(text, first),
		);
	}
	const tail = readTail(text, open + 1, kind);
	if (tail.close !== undefined) return [text.slice(open + 1, tail.close), ...before, ...tail.options];
	let close = tail.end - 1;
	while (close > open && !closesAt(text, close, kind, tail.end)) close -= 1;
	if (close === open) throw unclosed(name, text, open);
	return [text.slice(open + 1, close), ...before, ...readWords(text, close + 1, tail.end), ...tail.options];
}

function readOptions(text: string, from: number): string[] {
	const tail = readTail(text, from, undefined);
	return [...readWords(text, from, tail.end), ...tail.options];
}

interface Tail {
	readonly options: string[];
	/** Where the options begin, or the text that was closed before them ends. */
	readonly end: number;
	/** Index of the quote that closes the text; undefined where something else stands before the options. */
	readonly close?: number;
}

/**
 * Reads options from the end of the text down to `start`, in one pass.
 * @param kind type of the quote that has opened just before `start`, if one has
 */
function readTail(text: string, start: number, kind: Kind | undefined): Tail {
	const verifies = verifyQuotes(text, start);
	const options: string[] = [];
	let otherwise: { close: number; count: number } | undefined;
	let end = trimBack(text, text.length, start);
	while (end > start) {
		const last = end - 1;
		const closing = CLOSING.get(text.charAt(last));
		const quote = closing === undefined ? undefined : lastBefore(verifies[closing], last);
		let begin: number;
		if (closing !== undefined && quote !== undefined) {
			begin = quote - VERIFY.length;
			if (closing === kind && holdsQuote(text, quote + 1, last, kind)) {
				otherwise = { close: last, count: options.length };
			}
			options.push(VERIFY + text.slice(quote + 1, last));
		} else {
			if (closing !== undefined && closing === kind) return { options: options.reverse(), end, close: last };
			begin = wordStart(text, end, start);
			const word = text.slice(begin, end);
			if (!isOption(word) || opensVerify(text, begin)) break;
			options.push(word);
		}
		end = trimBack(text, begin, start);
	}
	if (otherwise === undefined) return { options: options.reverse(), end };
	const { close, count } = otherwise;
	return { options: options.slice(0, count).reverse(), end: close + 1, close };
}

function readWords(text: string, from: number, end: number): string[] {
	const words: string[] = [];
	for (let at = skipBlanks(text, from, end); at < end; ) {
		const word = readWord(text, at, end);
		words.push(word.text);
		at = skipBlanks(text, word.end, end);
	}
	return words;
}

/** The word that starts at `start`; `verify="..."` is one word, without its quotes. */
function readWord(text: string, start: number, end: number): { text: string; end: number } {
	if (!opensVerify(text, start)) {
		const stop = wordEnd(text, start, end);
		return { text: text.slice(start, stop), end: stop };
	}
	const quote = start + VERIFY.length;
	const kind = OPENING.get(text.charAt(quote));
	for (let close = quote + 1; close < end; close += 1) {
		if (closesAt(text, close, kind, end)) return { text: VERIFY + text.slice(quote + 1, close), end: close + 1 };
	}
	throw unclosed('verify command', text, quote);
}

const opensVerify = (text: string, start: number): boolean =>
	text.startsWith(VERIFY, start) && OPENING.has(text.charAt(start + VERIFY.length));

/** The opening quotes of all `verify="..."` words after `start`, in order. */
function verifyQuotes(text: string, start: number): Record<Kind, number[]> {
	const found: Record<Kind, number[]> = { double: [], single: [] };
	for (let at = text.indexOf(VERIFY, start); at !== -1; at = text.indexOf(VERIFY, at + 1)) {
		const kind = OPENING.get(text.charAt(at + VERIFY.length));
		if (kind !== undefined && at > start && isBlank(text, at - 1)) found[kind].push(at + VERIFY.length);
	}
	return found;
}

/** Drops what stands at `limit` or after it, for good: callers only ever move towards the start. */
function lastBefore(positions: number[], limit: number): number | undefined {
	while ((positions.at(-1) ?? -1) >= limit) positions.pop();
	return positions.at(-1);
}

function holdsQuote(text: string, from: number, end: number, kind: Kind): boolean {
	for (let at = from; at < end; at += 1) {
		if (OPENING.get(text.charAt(at)) === kind || CLOSING.get(text.charAt(at)) === kind) return true;
	}
	return false;
}

/** Whether parseRunArguments would take the word for an option, well-formed or not. */
const isOption = (word: string): boolean =>
	isMode(word) || parseRounds(word) !== undefined || word.startsWith('plan-code=') || word.startsWith(VERIFY);

const isBlank = (text: string, at: number): boolean => /\s/.test(text.charAt(at));
const endsWord = (text: string, at: number, end: number): boolean =>
	at < end && (at + 1 === end || isBlank(text, at + 1));
const closesAt = (text: string, at: number, kind: Kind | undefined, end: number): boolean =>
	CLOSING.get(text.charAt(at)) === kind && endsWord(text, at, end);

function skipBlanks(text: string, from: number, end: number): number {
	let at = from;
	while (at < end && isBlank(text, at)) at += 1;
	return at;
}

function wordEnd(text: string, from: number, end: number): number {
	let at = from;
	while (at < end && !isBlank(text, at)) at += 1;
	return at;
}

function trimBack(text: string, from: number, start: number): number {
	let at = from;
	while (at > start && isBlank(text, at - 1)) at -= 1;
	return at;
}

function wordStart(text: string, from: number, start: number): number {
	let at = from;
	while (at > start && !isBlank(text, at - 1)) at -= 1;
	return at;
}

function kinds(quotes: Record<Kind, string>): ReadonlyMap<string, Kind> {
	const each = (kind: Kind) => [...quotes[kind]].map((quote): [string, Kind] => [quote, kind]);
	return new Map([...each('double'), ...each('single')]);
}

function unclosed(name: Quoted, text: string, open: number): CccError {
	const expected = `a closing quote of the same type at the end of a word: ${EXAMPLE[name]}`;
	const others = OPENING.get(text.charAt(open)) === 'single' ? 'double' : 'single';
	const next = `close the quote; if the text holds quotes of its own, put ${others} quotes around it`;
	return usage('unclosed-quote', `The quote before the ${name} is not closed.`, expected, excerpt(text, open), {
		next,
	});
}

function excerpt(text: string, from: number): string {
	const rest = text.slice(from, from + 81).trimEnd();
	return JSON.stringify(rest.length > 80 ? `${rest.slice(0, 77)}...` : rest);
}

function usage(code: string, message: string, expected: string, found: string, more: { next?: string } = {}): CccError {
	return new CccError(code, message, { expected, found, ...more, exitCode: EXIT.usage });
}
