/**
 * Root blocks of a Markdown text by remark's parser, without inline syntax, in bounded time.
 *
 * The parser's cost grows with the square of the blocks it holds, and deep nesting can stop it for seconds. So the text
 * goes in piece by piece: a block that has been followed by another one is final, and parsing goes on from the first
 * line of the last block. Only one block that is both large and full of structure cannot be cut; that one is refused
 * before it is parsed.
 */
import type { List, RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';

/** Without these, a heading's text is what is written, so that `**Summary**` is not `Summary`. Escapes still count. */
const NO_INLINES = {
	disable: {
		null: [
			'attention',
			'autolink',
			'codeText',
			'hardBreakEscape',
			'htmlText',
			'labelEnd',
			'labelStartImage',
			'labelStartLink',
		],
	},
};

const PIECE = 2 * 1024;
const MAX_MARKERS = 32;
const MAX_ALL_MARKERS = 100_000;
/** Lists deepen by two columns or more a level; each line costs a step for each level it is in. */
const MAX_INDENT = 100;
/** Lines that open or close blocks within one list, quote or HTML block. */
const MAX_STRUCTURE = 2000;
/** Blocks of the whole text: some 100 microseconds each. */
const MAX_BLOCKS = 40_000;
const MAX_LINES = 100_000;
/** A longer line of dashes or stars counts as nesting, though it is a thematic break. */
const MAX_RULE = 1000;

const MARKER = /[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$))/y;
const INDENTED_MARKER = new RegExp(`^[ \\t]{${MAX_INDENT},}(?:>|(?:[-+*]|\\d{1,9}[.)])[ \\t])`);
const RULE = /^[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,})$/;
/** Starts a new root block whatever stands before it, unless that is an open fence or HTML. */
const HARD_START = /^(?:#{1,6}(?:[ \t]|$)|[-+*] [^ \t])/;
const STRUCTURE = /^[ \t>]*(?:[-+*=#<`~[]|\d{1,9}[.)]|$)/;

export interface BlockProblem {
	readonly code: 'too-nested' | 'too-large';
	/** 1-based. */
	readonly line: number;
	readonly found: string;
	readonly expected: string;
}

/** @returns the root blocks with positions in the whole text; neighbouring lists may be parts of one list */
export function readBlocks(lines: readonly string[]): { blocks: RootContent[] } | { problem: BlockProblem } {
	const refused = refuse(lines);
	if (refused) return { problem: refused };
	const blocks: RootContent[] = [];
	let count = 0;
	let start = 0;
	let offset = 0;
	let size = PIECE;
	let fenceEnd: number | undefined;
	while (start < lines.length) {
		const end = fenceEnd ?? endOfPiece(lines, start, size);
		if (fenceEnd === undefined && size > PIECE && structureOf(lines, start, end) > MAX_STRUCTURE) {
			const expected = `at most ${MAX_STRUCTURE} lines that open or close blocks in one list, quote or HTML block`;
			return { problem: { code: 'too-nested', line: start + 1, found: 'a larger one', expected } };
		}
		// With its last line end: the parser takes some lines otherwise when they end the text.
		const source = lines.slice(start, end).join('\n') + (end < lines.length ? '\n' : '');
		const piece = fromMarkdown(source, { extensions: [NO_INLINES] }).children;
		const kept =
			end === lines.length || isClosed(piece.at(-1), lines, start, end)
				? piece.length
				: closedPart(piece, lines, start);
		const next = kept === piece.length ? end : start + piece[kept]!.position!.start.line - 1;
		for (const block of piece.slice(0, kept)) {
			count += moveDown(block, start, offset);
			blocks.push(block);
		}
		if (count > MAX_BLOCKS) {
			const problem = {
				found: 'more blocks',
				expected: `at most ${MAX_BLOCKS} paragraphs, list items and other blocks`,
			};
			return { problem: { code: 'too-large', line: next + 1, ...problem } };
		}
		fenceEnd = undefined;
		const open = piece[kept];
		if (open !== undefined && isFence(open, lines[next]!)) fenceEnd = fenceClosesAt(lines, next) ?? lines.length;
		size = next === start ? size * 2 : PIECE;
		for (; start < next; start++) offset += lines[start]!.length + 1;
	}
	return { blocks };
}

function refuse(lines: readonly string[]): BlockProblem | undefined {
	if (lines.length > MAX_LINES) {
		return { code: 'too-large', line: 1, found: `${lines.length} lines`, expected: `at most ${MAX_LINES} lines` };
	}
	const deep = lines.findIndex((line) => INDENTED_MARKER.test(line));
	if (deep !== -1) {
		const expected = `list and quote markers within ${MAX_INDENT} columns`;
		return { code: 'too-nested', line: deep + 1, found: 'deeper nesting', expected };
	}
	const isRule = (line: string) => line.length <= MAX_RULE && RULE.test(line);
	let all = 0;
	for (const [index, line] of lines.entries()) {
		const markers = countMarkers(line);
		all += markers;
		const crowded = markers > MAX_MARKERS && !isRule(line);
		if (!crowded && all <= MAX_ALL_MARKERS) continue;
		const expected = crowded
			? `at most ${MAX_MARKERS} list and quote markers on a line`
			: `at most ${MAX_ALL_MARKERS} of them`;
		return {
			code: 'too-nested',
			line: index + 1,
			found: crowded ? 'deeper nesting' : 'more list and quote markers',
			expected,
		};
	}
	return undefined;
}

function countMarkers(line: string): number {
	let count = 0;
	MARKER.lastIndex = 0;
	while (count <= MAX_MARKERS && MARKER.test(line)) count++;
	return count;
}

/** The first line after `size` units where a cut is likely to hold. */
function endOfPiece(lines: readonly string[], start: number, size: number): number {
	let end = start;
	for (let units = 0; end < lines.length && units < size; end++) units += lines[end]!.length + 1;
	const late = Math.min(lines.length, end + (end - start));
	for (let line = end; line < late; line++) if (HARD_START.test(lines[line]!)) return line;
	return end;
}

function structureOf(lines: readonly string[], start: number, end: number): number {
	let count = 0;
	for (let line = start; line < end; line++) {
		const quoteOpens = lines[line]!.startsWith('>') && !lines[line - 1]?.startsWith('>');
		if (quoteOpens || STRUCTURE.test(lines[line]!)) count++;
	}
	return count;
}

/** Whether nothing from line `end` on can belong to the last block of the piece. */
function isClosed(last: RootContent | undefined, lines: readonly string[], start: number, end: number): boolean {
	if (last === undefined || last.type === 'heading' || last.type === 'thematicBreak') return true;
	const first = start + last.position!.start.line - 1;
	if (isFence(last, lines[first]!)) return fenceClosesAt(lines, first, end) !== undefined;
	return last.type !== 'html' && HARD_START.test(lines[end]!);
}

/**
 * How many blocks are final: all before the last one from which parsing can go on as if the text began there. The
 * parser remembers more than the block before: after indented code, for one, it takes no empty list item.
 */
function closedPart(piece: readonly RootContent[], lines: readonly string[], start: number): number {
	for (let index = piece.length - 1; index > 0; index--) {
		const first = start + piece[index]!.position!.start.line - 1;
		const before = piece[index - 1]!;
		const ended = isLeaf(before, lines[start + before.position!.start.line - 1]!);
		const apart = lines[first - 1]!.trim() === '' && before.type !== 'code';
		if (ended || apart || HARD_START.test(lines[first]!) || isLeaf(piece[index]!, lines[first]!)) return index;
	}
	return 0;
}

/** A block that ends by itself and starts whatever stands before it. */
function isLeaf(block: RootContent, firstLine: string): boolean {
	return block.type === 'heading' || block.type === 'thematicBreak' || isFence(block, firstLine);
}

const FENCE_OPEN = /^ {0,3}(`{3,}|~{3,})/;

export function isFence(block: RootContent, firstLine: string): boolean {
	return block.type === 'code' && FENCE_OPEN.test(firstLine);
}

/** The index after the line that closes the fence opened at `first`; undefined when it stays open up to `end`. */
export function fenceClosesAt(lines: readonly string[], first: number, end = lines.length): number | undefined {
	const marker = FENCE_OPEN.exec(lines[first]!)![1]!;
	const close = new RegExp(`^ {0,3}${marker[0]}{${marker.length},}[ \\t]*$`);
	for (let line = first + 1; line < end; line++) if (close.test(lines[line]!)) return line + 1;
	return undefined;
}

/**
 * Moves the positions of the block and of all in it, by lines and by UTF-16 units.
 *
 * @returns how many blocks it is, those in it included
 */
function moveDown(block: RootContent, lines: number, offset: number): number {
	let count = 0;
	const open: RootContent[] = [block];
	for (let node = open.pop(); node !== undefined; node = open.pop()) {
		if (node.type !== 'text') count++;
		for (const point of [node.position!.start, node.position!.end]) {
			point.line += lines;
			if (point.offset !== undefined) point.offset += offset;
		}
		if ('children' in node) open.push(...(node as List).children);
	}
	return count;
}
