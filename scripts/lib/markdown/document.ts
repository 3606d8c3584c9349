/** The one Markdown reader: what a document's headings, sections and whole lines are, as remark's parser sees them. */
import type { Paragraph, Root, RootContent } from 'mdast';
import { toString as textOf } from 'mdast-util-to-string';
import { fenceClosesAt, isFence, readBlocks } from './blocks.ts';
import { type DocumentProblem, decodeText } from './decode.ts';

export type { DocumentProblem } from './decode.ts';

/** A heading that is a child of the document itself, not of a list or a quote. */
export interface Heading {
	/** The plain text. Emphasis, code and link marks stay in it, so that only unmarked text equals a name. */
	readonly title: string;
	readonly depth: number;
	/** 1-based, as are all lines and columns here. */
	readonly line: number;
	readonly column: number;
}

/** A heading of depth 1 or 2 and all up to the next one. */
export interface Section extends Heading {
	readonly nodes: readonly RootContent[];
	/** The first line after the heading. */
	readonly startLine: number;
	/** The last line of the section; less than `startLine` when the section has no line. */
	readonly endLine: number;
}

export interface Document {
	/** Decoded, without byte order mark, with LF line ends. */
	readonly text: string;
	readonly lines: readonly string[];
	readonly root: Root;
	readonly headings: readonly Heading[];
	readonly sections: readonly Section[];
	/** The line of a root-level code fence that nothing closes. */
	readonly unclosedFence?: number;
}

/** A source line without its trailing spaces, and where it starts. */
export interface WholeLine {
	readonly text: string;
	readonly line: number;
	readonly column: number;
}

/**
 * Reads a document, or says with one problem why it cannot be read. Size and nesting are bounded, so that any bytes are
 * answered in time; nothing is thrown.
 *
 * @param options.maxBytes the largest file that is looked at, 2 MiB unless told
 */
export function readDocument(
	bytes: Uint8Array,
	options: { maxBytes?: number } = {},
): { document: Document } | { problem: DocumentProblem } {
	const decoded = decodeText(bytes, options.maxBytes);
	if ('problem' in decoded) return decoded;
	const { text } = decoded;
	const lines = text.split('\n');
	try {
		const result = readBlocks(lines);
		if ('problem' in result) return { problem: { column: 1, ...result.problem } };
		return { document: documentOf(text, lines, result.blocks) };
	} catch (error) {
		const [code, expected] =
			error instanceof RangeError
				? (['too-nested', 'nesting that can be parsed'] as const)
				: (['unparseable', 'Markdown text'] as const);
		return { problem: { code, line: 1, column: 1, found: 'a document the parser gives up on', expected } };
	}
}

function documentOf(text: string, lines: readonly string[], blocks: RootContent[]): Document {
	const headings: Heading[] = [];
	const open: { heading: Heading; nodes: RootContent[]; startLine: number }[] = [];
	for (const node of blocks) {
		if (node.type === 'heading') {
			const { start, end } = node.position!;
			const heading = { title: textOf(node), depth: node.depth, line: start.line, column: start.column };
			headings.push(heading);
			if (node.depth <= 2) {
				open.push({ heading, nodes: [], startLine: end.line + 1 });
				continue;
			}
		}
		open.at(-1)?.nodes.push(node);
	}
	const sections = open.map(({ heading, nodes, startLine }, index): Section => {
		const next = open[index + 1];
		return { ...heading, nodes, startLine, endLine: next ? next.heading.line - 1 : lines.length };
	});
	const fence = unclosedFence(lines, blocks.at(-1));
	const root: Root = { type: 'root', children: blocks };
	return { text, lines, root, headings, sections, ...(fence === undefined ? {} : { unclosedFence: fence }) };
}

function unclosedFence(lines: readonly string[], last: RootContent | undefined): number | undefined {
	if (last === undefined) return undefined;
	const { line } = last.position!.start;
	if (!isFence(last, lines[line - 1]!)) return undefined;
	return fenceClosesAt(lines, line - 1) === undefined ? line : undefined;
}

/** The source text of a section, trimmed, without HTML comments. Comments inside code stay: there they are text. */
export function sectionText(document: Document, section: Section): string {
	const { lines } = document;
	const parts: string[] = [];
	let line = section.startLine;
	for (const [index, node] of section.nodes.entries()) {
		const { start, end } = node.position!;
		// A quote or list whose last line opens a fence ends a line late in the parser's eyes.
		const last = Math.min(end.line, (section.nodes[index + 1]?.position?.start.line ?? section.endLine + 1) - 1);
		for (; line < start.line; line++) parts.push(lines[line - 1]!);
		const source = lines.slice(start.line - 1, last).join('\n');
		parts.push(node.type === 'html' || node.type === 'paragraph' ? withoutComments(source, node.type) : source);
		line = last + 1;
	}
	for (; line <= section.endLine; line++) parts.push(lines[line - 1]!);
	return parts.join('\n').trim();
}

/** The source of an HTML block or a paragraph without its comments, in one pass. */
export function withoutComments(source: string, type: 'html' | 'paragraph'): string {
	let rest = '';
	let from = 0;
	for (;;) {
		const start = source.indexOf('<!--', from);
		if (start === -1) return rest + source.slice(from);
		const end = source.indexOf('-->', start + 2);
		// An HTML block's comment that nothing ends goes on to the end of the block; in a paragraph it is no comment.
		if (end === -1) return rest + (type === 'html' ? source.slice(from, start) : source.slice(from));
		rest += source.slice(from, start);
		from = end + 3;
	}
}

/** The source lines of root-level paragraphs: not those of lists, quotes, code, HTML or headings. */
export function wholeLines(document: Document, section: Section): WholeLine[] {
	return paragraphLines(document, section.nodes);
}

/** The same for the whole document, also before its first heading. */
export function allWholeLines(document: Document): WholeLine[] {
	return paragraphLines(document, document.root.children);
}

function paragraphLines({ lines }: Document, nodes: readonly RootContent[]): WholeLine[] {
	const isParagraph = (node: RootContent): node is Paragraph => node.type === 'paragraph';
	return nodes.filter(isParagraph).flatMap((node) => {
		const { start, end } = node.position!;
		return lines
			.slice(start.line - 1, end.line)
			.map((text, index) => ({ text: text.replace(/[ \t]+$/, ''), line: start.line + index, column: 1 }));
	});
}
