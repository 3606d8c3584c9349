/** Where a heading stands that a reader would take for a section and the document does not. */
import type { Nodes, RootContent } from 'mdast';
import { toString as textOf } from 'mdast-util-to-string';
import { isFence } from './blocks.ts';
import type { Document } from './document.ts';
import { describeLookAlike, looksLike } from './look-alike.ts';

export interface Misplaced {
	readonly line: number;
	readonly column: number;
	/** What it is and why it does not count, to follow the word "found". */
	readonly found: string;
}

/**
 * The most telling place where the heading `title` of `depth` nearly is: look-alike letters, another level, inside a
 * list, a quote, code or HTML, swallowed by an unclosed fence, or not written as a heading.
 */
export function findMisplaced(document: Document, title: string, depth: 1 | 2): Misplaced | undefined {
	for (const heading of document.headings) {
		const at = { line: heading.line, column: heading.column };
		if (heading.depth === depth && looksLike(heading.title, title)) {
			return { ...at, found: describeLookAlike(heading.title, title) };
		}
	}
	for (const heading of document.headings) {
		if (heading.title !== title || heading.depth === depth) continue;
		return { line: heading.line, column: heading.column, found: `'${title}' as a heading of level ${heading.depth}` };
	}
	const open: { node: Nodes; inside: string | undefined }[] = document.root.children
		.map((node) => ({ node, inside: undefined }))
		.reverse();
	for (let next = open.pop(); next !== undefined; next = open.pop()) {
		const hit = hitIn(document, next.node, next.inside, title, depth);
		if (hit) return hit;
		if ('children' in next.node) {
			const inside = containerOf(next.node) ?? next.inside;
			for (const node of [...next.node.children].reverse()) open.push({ node, inside });
		}
	}
	return undefined;
}

function containerOf(node: Nodes): string | undefined {
	if (node.type === 'blockquote') return 'a block quote';
	return node.type === 'list' ? 'a list' : undefined;
}

function hitIn(
	document: Document,
	node: Nodes,
	inside: string | undefined,
	title: string,
	depth: number,
): Misplaced | undefined {
	const { start, end } = node.position!;
	const shown = `'${'#'.repeat(depth)} ${title}'`;
	if (node.type === 'heading') {
		const matches = inside !== undefined && textOf(node) === title;
		return matches ? { line: start.line, column: start.column, found: `${shown} inside ${inside}` } : undefined;
	}
	if (node.type !== 'code' && node.type !== 'html' && node.type !== 'paragraph') return undefined;
	for (let line = start.line; line <= end.line; line++) {
		const source = document.lines[line - 1]!;
		const column = source.search(/[^\s>]/) + 1;
		const text = source.slice(column - 1).trimEnd();
		if (node.type === 'paragraph') {
			const inline = /^(?:\\?#{1,6}\s*)?(.*?)\s*#*:?$/u.exec(text)?.[1] ?? '';
			const marked = text !== inline || looksLike(inline, title);
			const titled = inline === title || looksLike(inline, title);
			if (inside === undefined && marked && titled) return { line, column, found: `'${text}', which is no heading` };
			continue;
		}
		const heading = /^(#{1,2})[ \t]+(.*?)(?:[ \t]+#+)?$/.exec(text);
		if (heading === null || heading[1]!.length !== depth || heading[2] !== title) continue;
		return { line, column, found: `${shown} inside ${blockOf(document, node, start.line)}` };
	}
	return undefined;
}

function blockOf({ lines, unclosedFence }: Document, node: RootContent | Nodes, line: number): string {
	if (node.type === 'html') return `HTML or a comment that starts on line ${line}`;
	if (line === unclosedFence) return `an unclosed code fence opened on line ${line}`;
	return isFence(node as RootContent, lines[line - 1]!) || !/^(?: {4}|\t)/.test(lines[line - 1]!)
		? `a code fence opened on line ${line}`
		: 'indented code';
}
