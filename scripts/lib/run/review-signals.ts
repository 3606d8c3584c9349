/** The lines of a review that a machine acts on: `READY:` and `BLOCKED:`, outside fences, quotes and HTML blocks. */
import type { Nodes, Root } from 'mdast';

export interface SignalLine {
	readonly kind: 'ready' | 'blocked';
	readonly value: string;
	/** 1-based. */
	readonly line: number;
}

/** A whole line, bold at most; `Not READY: yes` and `I am READY: yes` are prose. */
const SIGNAL = /^(\*\*|__)?(READY|BLOCKED):(?:\1)?[ \t]*(.*?)(?:\*\*|__)?[ \t]*$/;

/**
 * Lines are looked for in paragraphs and headings at any list depth: a `READY:` line that follows a list without a
 * blank line belongs to the last item in Markdown, though its author meant it to stand alone.
 */
export function signalLines(root: Root, lines: readonly string[]): SignalLine[] {
	const found: SignalLine[] = [];
	const visit = (node: Nodes): void => {
		if (node.type === 'paragraph' || node.type === 'heading') {
			const { start, end } = node.position ?? { start: { line: 1, column: 1 }, end: { line: 0 } };
			for (let line = start.line; line <= end.line; line++) {
				const source = lines[line - 1] ?? '';
				const own = line === start.line ? source.slice(start.column - 1) : source;
				const match = SIGNAL.exec(own.trim().replace(/^#{1,6} +/, ''));
				if (match) found.push({ kind: match[2] === 'READY' ? 'ready' : 'blocked', value: match[3] ?? '', line });
			}
			return;
		}
		if (node.type === 'blockquote' || !('children' in node)) return;
		for (const child of node.children) visit(child);
	};
	visit(root);
	return found;
}
