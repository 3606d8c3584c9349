/** The managed block in the bytes of a file: found, put in, taken out. Pure; bytes outside the block never change. */
import { CccError } from '../kit/errors.ts';
import { quoted } from '../markdown/quoted.ts';
import { BLOCK_VERSION } from './block-text.ts';
import { bytesOf, finalLineEnd, firstLineEnd, type Line, linesOf, textOf, textStart } from './lines.ts';
import { readOutline } from './outline.ts';

export interface ManagedBlock {
	/** Offsets in bytes: of the begin mark, and after the end mark, its line end not included. */
	readonly start: number;
	readonly end: number;
	/** 1-based line of the begin mark. */
	readonly line: number;
	/** The line end after the begin mark. */
	readonly lineEnd: string;
	/** From the begin mark to the end mark. */
	readonly text: string;
	/** Nothing but the block is in the file, as in one that we created. */
	readonly alone: boolean;
}

/** What might be meant as a mark, however it is spelled. */
const LOOKS_LIKE_MARK = /<!--[ \t]*ccc:(?:begin|end)(?![\w-])/;
const BEGIN_MARK = /^<!-- ccc:begin v([1-9][0-9]{0,3})(?: \([^()<>]*\))? -->$/;
const END_MARK = /^<!-- ccc:end -->$/;

interface Mark extends Line {
	readonly number: number;
	readonly version: number | undefined;
}

/**
 * Finds the one block of a file.
 * @param at the file's name, for messages
 * @throws CccError `broken-block` for marks that are not one begin and then one end, each a line of its own outside code,
 *   comments, quotes and lists; `newer-block` for a version this ccc does not know; `unreadable-markdown`
 */
export function findBlock(bytes: Buffer, at: string): ManagedBlock | undefined {
	const text = textOf(bytes);
	const lines = linesOf(text);
	if (!LOOKS_LIKE_MARK.test(text)) return undefined;
	const [begin, end] = onePair(readMarks(lines, rootHtmlLines(text, at), at), at);
	if ((begin.version ?? 0) > BLOCK_VERSION) {
		throw new CccError('newer-block', 'A newer ccc has written the managed block.', {
			at,
			line: begin.number,
			expected: `version ${BLOCK_VERSION} or older`,
			found: `version ${begin.version}`,
			next: 'update ccc',
		});
	}
	const { start } = begin;
	const stop = end.start + end.text.length;
	return {
		start,
		end: stop,
		line: begin.number,
		lineEnd: begin.end,
		text: text.slice(start, stop),
		alone: start === 0 && stop + end.end.length === text.length,
	};
}

/** The numbers of the lines that are an HTML block of the document itself, from their first character to their last. */
function rootHtmlLines(text: string, at: string): ReadonlySet<number> {
	const whole = readOutline(text, at).root.children.flatMap(({ type, position }) => {
		const { start, end } = position!;
		return type === 'html' && start.line === end.line && start.column === 1 ? [start.line] : [];
	});
	return new Set(whole);
}

function readMarks(lines: readonly Line[], atRoot: ReadonlySet<number>, at: string): Mark[] {
	return lines.flatMap((line, index): Mark[] => {
		if (!LOOKS_LIKE_MARK.test(line.text)) return [];
		const number = index + 1;
		const begin = BEGIN_MARK.exec(line.text);
		if ((begin === null && !END_MARK.test(line.text)) || !atRoot.has(number)) {
			throw broken('A mark of the managed block stands where it cannot be one.', at, number, {
				expected: 'a line of its own, spelled as ccc render does, outside code, comments, quotes and lists',
				found: quoted(line.text.trim(), 60),
			});
		}
		return [{ ...line, number, version: begin === null ? undefined : Number(begin[1]) }];
	});
}

function onePair(marks: readonly Mark[], at: string): [begin: Mark, end: Mark] {
	const [first, second, third] = marks as [Mark, ...(Mark | undefined)[]];
	if (first.version === undefined) {
		const reversed = second?.version !== undefined;
		throw broken(
			reversed ? 'The marks of the managed block are reversed.' : 'An end mark has no begin mark before it.',
			at,
			first.number,
			reversed ? { expected: 'ccc:begin first', found: `ccc:begin on line ${second.number}` } : {},
		);
	}
	if (second === undefined) throw broken('The managed block has no end mark.', at, first.number, {});
	const extra = second.version === undefined ? third : second;
	if (extra !== undefined) {
		throw broken(
			extra === second ? 'A managed block begins inside another.' : 'There is more than one managed block.',
			at,
			extra.number,
			{ expected: `only the block that begins on line ${first.number}` },
		);
	}
	return [first, second];
}

function broken(message: string, at: string, line: number, facts: { expected?: string; found?: string }): CccError {
	return new CccError('broken-block', message, {
		at,
		line,
		...facts,
		next: 'put the marks in order, or delete them with what stands between them; then run ccc render',
	});
}

/**
 * The file with this block: in place of the one it has, or after its last line. An added block is set off by one empty
 * line and ends as the file did, with a line end or without; `takeBlock` relies on that.
 * @param bytes undefined for a file that does not exist
 * @param lines of the block, ASCII
 * @throws CccError as `findBlock`, and `open-markdown` where the end of the file is inside code, a comment or raw HTML
 */
export function putBlock(bytes: Buffer | undefined, lines: readonly string[], at: string): Buffer {
	if (bytes === undefined) return bytesOf(`${lines.join('\n')}\n`);
	const block = findBlock(bytes, at);
	const text = textOf(bytes);
	if (block !== undefined) {
		return bytesOf(text.slice(0, block.start) + lines.join(block.lineEnd) + text.slice(block.end));
	}
	const lineEnd = linesOf(text).findLast(({ end }) => end !== '')?.end ?? '\n';
	const isEnded = text.length === textStart(text) || finalLineEnd(text) !== '';
	const added = isEnded ? lineEnd + lines.join(lineEnd) + lineEnd : lineEnd + lineEnd + lines.join(lineEnd);
	const result = bytesOf(text + added);
	refuseOpen(result, text, at);
	return result;
}

/** A block that a code fence or a comment swallows would not be found again. */
function refuseOpen(result: Buffer, text: string, at: string): void {
	try {
		findBlock(result, at);
	} catch (error) {
		if (!(error instanceof CccError) || error.code !== 'broken-block') throw error;
		const { unclosedFence, root } = readOutline(text, at);
		throw new CccError('open-markdown', 'Nothing closes what begins here, and the managed block would be part of it.', {
			at,
			line: unclosedFence ?? root.children.at(-1)?.position?.start.line ?? 1,
			expected: 'an end of the code fence, comment or raw HTML before the end of the file',
			next: 'close it, then run ccc render',
		});
	}
}

/**
 * The file without its block and without the line ends that came with it; undefined for a file that holds nothing else,
 * not even an empty line, which is one that we created.
 * @throws CccError as `findBlock`
 */
export function takeBlock(bytes: Buffer, at: string): Buffer | undefined {
	const block = findBlock(bytes, at);
	if (block === undefined) return bytes;
	if (block.alone) return undefined;
	const text = textOf(bytes);
	const after = text.slice(block.end);
	const own = firstLineEnd(after);
	let before = text.slice(0, block.start);
	const above = before.slice(0, before.length - finalLineEnd(before).length);
	if (above !== before && (above.length === textStart(text) || finalLineEnd(above) !== '')) {
		// The empty line above the block; without a line end after the block, the file had none after its last line.
		before = after === '' ? above.slice(0, above.length - finalLineEnd(above).length) : above;
	}
	return bytesOf(before + after.slice(own.length));
}
