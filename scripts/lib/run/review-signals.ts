/** The lines of a review that a machine acts on: `READY:` and `BLOCKED:`, outside fences, quotes and HTML. */
import type { Nodes, Root } from 'mdast';
import { startsWithTag } from './finding-tags.ts';

export interface SignalLine {
	readonly kind: 'ready' | 'blocked';
	readonly value: string;
	/** What its paragraph goes on to say in the lines after it, in one line; mostly nothing. */
	readonly rest: string;
	/** It is the first line of a list item. */
	readonly isItem: boolean;
	/** 1-based, of the signal and of the last line of `rest`. */
	readonly line: number;
	readonly endLine: number;
}

/** A whole line, bold at most; `Not READY: yes` and `I am READY: yes` are prose. */
const SIGNAL = /^(\*\*|__|)(READY|Ready|ready|BLOCKED)(\1:|:\1|:)[ \t]*(.*)$/s;

/**
 * Lines are looked for in paragraphs and headings. A `READY:` line that follows a list without a blank line belongs to
 * the last item in Markdown, though its author meant it to stand alone; what is indented into an item is the item's.
 */
export function signalLines(root: Root, lines: readonly string[]): SignalLine[] {
	const found: SignalLine[] = [];
	const visit = (node: Nodes, inItem: boolean, leads: boolean): void => {
		if (node.type === 'paragraph' || node.type === 'heading') found.push(...signalsOf(node, lines, inItem, leads));
		else if (node.type === 'listItem') {
			for (const [index, child] of node.children.entries()) visit(child, true, index === 0);
		} else if (node.type !== 'blockquote' && 'children' in node) {
			for (const child of node.children) visit(child, inItem, true);
		}
	};
	visit(root, false, true);
	return found;
}

/** @param leads whether the first line of the node can be a signal: not that of a later paragraph of a list item */
function signalsOf(node: Nodes, lines: readonly string[], inItem: boolean, leads: boolean): SignalLine[] {
	const { start, end } = node.position!;
	const isSetext = node.type === 'heading' && end.line > start.line;
	const own = lines.slice(start.line - 1, isSetext ? end.line - 1 : end.line);
	own[0] = (own[0] ?? '').slice(start.column - 1);
	const maxIndent = inItem ? start.column - 2 : 3;
	let spans: ReadonlySet<number> | undefined;
	const signals: { kind: SignalLine['kind']; value: string; rest: string[]; isItem: boolean; line: number }[] = [];
	let open = false;
	for (const [index, source] of own.entries()) {
		const text = source.trim().replace(/^#{1,6} +/, '');
		const signal = (index === 0 ? leads : indentOf(source) <= maxIndent) ? readSignal(text) : undefined;
		if (signal && index > 0) spans ??= linesInsideSpans(own);
		if (signal && !spans?.has(index)) {
			signals.push({ ...signal, rest: [], isItem: inItem && index === 0, line: start.line + index });
			open = true;
		} else if (startsWithTag(text)) open = false;
		else if (open) signals.at(-1)!.rest.push(text);
	}
	return signals.map((signal) => ({
		...signal,
		rest: signal.rest.join(' '),
		endLine: signal.line + signal.rest.length,
	}));
}

function readSignal(text: string): Pick<SignalLine, 'kind' | 'value'> | undefined {
	const match = SIGNAL.exec(text);
	if (!match) return undefined;
	const [, marks = '', word, colon, value = ''] = match;
	const own = marks !== '' && colon === ':' && value.endsWith(marks) ? value.slice(0, -marks.length).trim() : value;
	if (word === 'BLOCKED') return { kind: 'blocked', value: own };
	if (word === 'READY') return { kind: 'ready', value: own.replace(/^(\*\*|__)(.*)\1$/, '$2') };
	// In other letter case it is not the line that was asked for, but it must not stand beside one unnoticed.
	return /^[*_]*(?:yes|no)\b/i.test(own) ? { kind: 'ready', value: `${own} (spelled '${word}:')` } : undefined;
}

function indentOf(line: string): number {
	let columns = 0;
	for (const char of line) {
		if (char === ' ') columns += 1;
		else if (char === '\t') columns += 4 - (columns % 4);
		else break;
	}
	return columns;
}

/** Indexes of the lines of a paragraph that begin inside an HTML comment or a code span. */
function linesInsideSpans(own: readonly string[]): Set<number> {
	const text = own.join('\n');
	const inside = new Set<number>();
	const lastEnd = text.lastIndexOf('-->');
	const runs = new Map<string, number[]>();
	for (const { 0: run, index } of text.matchAll(/`+/g)) {
		const known = runs.get(run);
		if (known) known.push(index);
		else runs.set(run, [index]);
	}
	const cursors = new Map<string, number>();
	const closeOf = (run: string, after: number): number | undefined => {
		const positions = runs.get(run) ?? [];
		let cursor = cursors.get(run) ?? 0;
		while (cursor < positions.length && positions[cursor]! <= after) cursor++;
		cursors.set(run, cursor);
		return positions[cursor];
	};
	let from = 0;
	let line = 0;
	let nextLine = (own[0] ?? '').length + 1;
	for (const { 0: mark, index } of text.matchAll(/\\.|<!--|`+/gs)) {
		if (index < from || mark.startsWith('\\')) continue;
		const isComment = mark === '<!--';
		const close = isComment ? (index < lastEnd ? text.indexOf('-->', index + 2) : undefined) : closeOf(mark, index);
		if (close === undefined) continue;
		from = close + (isComment ? 3 : mark.length);
		for (; nextLine <= close; nextLine += (own[line] ?? '').length + 1) {
			line += 1;
			if (nextLine > index) inside.add(line);
		}
	}
	return inside;
}
