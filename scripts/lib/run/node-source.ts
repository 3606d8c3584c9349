/** The source of a block, as its author wrote it. */
import type { Nodes } from 'mdast';
import { lastLineOf } from './last-line.ts';

/**
 * The lines of a block without its list marker, heading marks and indentation, trimmed.
 * @param next the sibling after a list item
 * @param skip 1-based lines that are left out
 */
export function sourceOf(
	node: Nodes,
	next: Nodes | undefined,
	lines: readonly string[],
	skip: ReadonlySet<number>,
): string {
	const { start, end } = node.position!;
	const marker = MARKERS[node.type] ?? /^[ \t]{0,3}/;
	const first = (lines[start.line - 1] ?? '').slice(start.column - 1);
	const offset = node.type === 'listItem' ? start.column - 1 + (marker.exec(first)?.[0].length ?? 0) : start.column - 1;
	const isSetext = node.type === 'heading' && end.line > start.line;
	const own: string[] = [];
	for (let line = start.line; line <= (isSetext ? end.line - 1 : lastLineOf(node, next)); line++) {
		if (skip.has(line)) continue;
		own.push(line === start.line ? first.replace(marker, '') : dedent(lines[line - 1] ?? '', offset));
	}
	return own.join('\n').trim();
}

const MARKERS: Partial<Record<Nodes['type'], RegExp>> = {
	listItem: /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]{0,4}/,
	heading: /^[ \t]{0,3}(?:#{1,6}(?:[ \t]+|$))?/,
};

/** Removes at most `columns` leading blanks; a line that is indented less (lazy continuation) keeps its text. */
function dedent(line: string, columns: number): string {
	const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
	return line.slice(Math.min(indent, columns));
}
