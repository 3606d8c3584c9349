import type { Nodes } from 'mdast';

/**
 * The last line (1-based) of a node of the tree. Where a fence or HTML block inside is not closed, the parser ends it
 * only behind the marker of the next list item, or at the first column of the line after.
 * @param next the sibling after it, for list items
 */
export function lastLineOf({ position }: Nodes, next?: Nodes): number {
	const { start, end } = position!;
	const line = end.column === 1 && end.line > start.line ? end.line - 1 : end.line;
	return next ? Math.min(line, next.position!.start.line - 1) : line;
}
