/** Command lines from settings, split without a shell: quotes mean what they mean in sh, nothing is ever expanded. */
import { CccError, EXIT } from './errors.ts';

/**
 * Splits a list of words. Whitespace separates; `'...'`, `"..."` and backslash quote as in POSIX sh.
 * @throws CccError `unclosed-quote` (exit 2), also for a backslash with nothing after it
 */
export function splitWords(text: string): string[] {
	return scan(text).words.map((word) => word.text);
}

/**
 * Splits one command into its argv, refusing what only a shell could carry out.
 * @throws CccError `shell-syntax` (exit 2) for an unquoted `| & ; < > $ backquote ( ) # * ?` or newline
 * and for a leading `NAME=value`; `no-command` (exit 2) for no word at all; `unclosed-quote` (exit 2). What is quoted, in either way, is taken literally.
 */
export function splitCommand(text: string): [string, ...string[]] {
	const { words, syntax } = scan(text);
	if (syntax !== undefined) throw shellSyntax(text, `an unquoted ${JSON.stringify(syntax)}`);
	const [first, ...rest] = words;
	if (first === undefined || first.text === '') {
		throw new CccError('no-command', 'There is no command', {
			found: shorten(JSON.stringify(text)),
			exitCode: EXIT.usage,
		});
	}
	if (first.assignment) throw shellSyntax(text, `the assignment ${JSON.stringify(shorten(first.text))}`);
	return [first.text, ...rest.map((word) => word.text)];
}

interface Word {
	text: string;
	/** `NAME=` in front, none of it quoted: sh would set a variable instead of starting a program. */
	assignment: boolean;
}

interface Scan {
	words: Word[];
	/** The first character a shell would have given a meaning of its own. */
	syntax: string | undefined;
}

const SHELL_SYNTAX = new Set('|&;<>$`()#*?');
const SPACE = new Set(' \t\n\r');
const ESCAPED_IN_DOUBLE_QUOTES = new Set('$`"\\\n');

function scan(text: string): Scan {
	const words: Word[] = [];
	let syntax: string | undefined;
	let current: Word | undefined;
	let unquotedPrefix = true;
	// A line end separates commands only where another one follows.
	let lineEnded = false;
	const add = (piece: string, quoted: boolean): void => {
		if (lineEnded && current === undefined) syntax ??= '\n';
		current ??= { text: '', assignment: false };
		if (quoted) unquotedPrefix = false;
		current.text += piece;
		if (unquotedPrefix && /^[A-Za-z_][A-Za-z0-9_]*=$/.test(current.text)) current.assignment = true;
	};
	const end = (): void => {
		if (current !== undefined) words.push(current);
		current = undefined;
		unquotedPrefix = true;
	};
	for (let at = 0; at < text.length; at += 1) {
		const char = text.charAt(at);
		if (char === "'") {
			const close = text.indexOf("'", at + 1);
			if (close === -1) throw unclosed(text, char, at);
			add(text.slice(at + 1, close), true);
			at = close;
		} else if (char === '"') {
			const part = doubleQuoted(text, at);
			add(part.text, true);
			at = part.close;
		} else if (char === '\\') {
			if (at + 1 === text.length) throw unclosed(text, char, at);
			at += 1;
			// A backslash before a newline continues the line in sh: neither stays.
			if (text.charAt(at) !== '\n') add(text.charAt(at), true);
		} else {
			if (SHELL_SYNTAX.has(char)) syntax ??= char;
			if (SPACE.has(char)) end();
			else add(char, false);
			if (char === '\n' || char === '\r') lineEnded = words.length > 0;
		}
	}
	end();
	return { words, syntax };
}

function doubleQuoted(text: string, open: number): { text: string; close: number } {
	let inside = '';
	for (let at = open + 1; at < text.length; at += 1) {
		const char = text.charAt(at);
		if (char === '"') return { text: inside, close: at };
		if (char === '\\' && ESCAPED_IN_DOUBLE_QUOTES.has(text.charAt(at + 1))) {
			at += 1;
			if (text.charAt(at) !== '\n') inside += text.charAt(at);
			continue;
		}
		inside += char;
	}
	throw unclosed(text, '"', open);
}

function unclosed(text: string, char: string, at: number): CccError {
	const what = char === '\\' ? 'A backslash has nothing after it' : 'A quote is not closed';
	return new CccError('unclosed-quote', `${what} (character ${at + 1})`, {
		expected: char === '\\' ? 'a character after the backslash' : `a closing ${char}`,
		found: shorten(text),
		next: `close the quote, or write \\${char} where the character itself is meant`,
		exitCode: EXIT.usage,
	});
}

function shellSyntax(text: string, found: string): CccError {
	return new CccError('shell-syntax', 'The command is started without a shell and cannot use shell syntax', {
		expected: 'a program and its arguments, special characters in quotes',
		found: `${found} in ${shorten(JSON.stringify(text))}`,
		next: `put it in a script, or write sh -c '...'`,
		exitCode: EXIT.usage,
	});
}

function shorten(text: string): string {
	return text.length <= 120 ? text : `${text.slice(0, 117)}...`;
}

/** A word for a command line that a person may paste into a shell. */
export function quoteWord(word: string): string {
	return /^[A-Za-z0-9_./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
