/**
 * Finds what a reviewer objects to, word for word, with its severity; untagged means major (protocol: Verdicts). Under a
 * heading for findings every block counts; elsewhere only what is tagged does.
 */
import type { Nodes, Root, RootContent } from 'mdast';
import { toString as textOf } from 'mdast-util-to-string';
import { FindingList, type Objections } from './finding-list.ts';
import {
	endsWithTag,
	isTagged,
	meansTag,
	reportsResolved,
	saysNothing,
	severityIn,
	severityOf,
	startsWithTag,
	titleKind,
	withoutLeadingTag,
} from './finding-tags.ts';
import { lastLineOf } from './last-line.ts';

export function plainText(node: Nodes): string {
	return textOf(node).trim();
}

/** @param skip 1-based lines that are signals, not text */
export function findingsIn(root: Root, lines: readonly string[], skip: ReadonlySet<number>): Objections {
	const found = new FindingList();
	const source = (node: Nodes, next?: Nodes): string => ownSource(node, next, lines, skip);
	const isTitle = (node: RootContent): boolean => node.type === 'heading' && !isRuledProse(node, lines);
	const titled = root.children.some((node) => isTitle(node) && titleKind(plainText(node)) !== 'other');
	// Without any heading for findings, a review that starts right away lists them.
	let section = { counts: !titled, explicit: false, depth: 0 };
	found.open(section.explicit);
	for (let index = 0; index < root.children.length; index++) {
		const node = root.children[index]!;
		if (node.type === 'heading' && isTitle(node)) {
			if (source(node) === '') continue;
			const title = plainText(node);
			const kind = titleKind(title);
			const isInner = section.explicit && node.depth > section.depth;
			const end = headedEnd(root.children, index);
			const body = root.children.slice(index + 1, end);
			if (startsWithTag(title) || kind === 'single' || (isInner && kind === 'other' && !isCategory(body))) {
				if (isInner) found.openInner();
				else found.open(false);
				if (startsWithTag(title) || !listsNothing(body, source)) {
					const text = [node, ...body].map((block) => source(block)).filter((block) => block !== '');
					found.add(severityOf([node, ...body]), withoutLeadingTag(text.join('\n\n')));
				}
				index = end - 1;
			} else if (isInner) found.openInner();
			else {
				section = { counts: kind === 'group', explicit: kind === 'group', depth: node.depth };
				found.open(section.explicit);
			}
		} else if (node.type === 'list') {
			const counts = section.counts || (!titled && node.children.some(isTagged));
			for (const [at, item] of node.children.entries()) {
				const text = source(item, node.children[at + 1]);
				const tagged = isTagged(item);
				if ((text === '' && !tagged) || saysNothing(withoutLeadingTag(text))) continue;
				if (!tagged && reportsResolved(text)) continue;
				if (tagged || counts) found.add(severityOf([item]), withoutLeadingTag(text));
			}
		} else if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'definition') {
			const text = source(node);
			// A line such as READY: ends what the finding before it has to say.
			if (text === '') found.endLast();
			const { untagged, tagged } = splitParagraph(text);
			takeText(found, untagged, section.counts);
			for (const group of tagged) {
				if (!saysNothing(withoutLeadingTag(group))) found.add(severityIn(group), withoutLeadingTag(group));
			}
		} else if (node.type === 'thematicBreak') found.endLast();
		else if (node.type !== 'html' || !/^\s*<!--/.test(source(node))) takeQuoted(found, source(node), section.counts);
	}
	found.open(false);
	return found;
}

/** Whether the blocks below a heading say, as text or as list items, that there is nothing, and one of them does. */
function listsNothing(body: readonly RootContent[], source: (node: Nodes) => string): boolean {
	const parts = body.flatMap((node): Nodes[] => (node.type === 'list' ? node.children : [node]));
	const texts = parts.map((part) => withoutLeadingTag(source(part))).filter((text) => text !== '');
	return texts.length > 0 && texts.every(saysNothing);
}

type Heading = Extract<RootContent, { type: 'heading' }>;

/** Code, quotations and HTML: their words belong to what is objected to, but a tag in them is not the reviewer's. */
function takeQuoted(found: FindingList, text: string, counts: boolean): void {
	if (text === '') return;
	if (found.hasLast) found.goOn(text, false);
	else if (counts) found.prose.push(text);
}

/** Text outside lists: a finding where a tag says so, what the finding before it goes on with, or prose. */
function takeText(found: FindingList, text: string, counts: boolean): void {
	if (text === '' || saysNothing(text)) return;
	const means = meansTag(text);
	if (found.hasLast && !endsWithTag(text)) found.goOn(text, means && severityIn(text) === 'major');
	else if (counts && (means || endsWithTag(text))) found.add(severityIn(text), text);
	else if (counts) found.prose.push(text);
}

/** A paragraph with a rule right below it, which Markdown takes for a heading. */
function isRuledProse(node: Heading, lines: readonly string[]): boolean {
	const { start, end } = node.position!;
	if (start.line === end.line || /^ {0,3}#/.test(lines[start.line - 1] ?? '')) return false;
	const title = plainText(node);
	return end.line > start.line + 1 || /[.!?,;]$/.test(title) || title.split(/\s+/).length > 3;
}

/** Whether the blocks below a heading are findings themselves, so that the heading only groups them. */
function isCategory(body: readonly RootContent[]): boolean {
	return body.some(isTagged) || body[0]?.type === 'heading';
}

/** A heading such as `### [major] Off by one` owns what follows, up to the next heading of its depth or higher. */
function headedEnd(nodes: readonly RootContent[], start: number): number {
	const heading = nodes[start];
	const depth = heading?.type === 'heading' ? heading.depth : 6;
	let end = start + 1;
	while (end < nodes.length) {
		const node = nodes[end]!;
		if (node.type === 'heading' && (node.depth <= depth || startsWithTag(plainText(node)))) break;
		end++;
	}
	return end;
}

/** Lines of a paragraph that begin with a tag each start a finding; the lines before the first one are prose. */
function splitParagraph(text: string): { untagged: string; tagged: string[] } {
	const untagged: string[] = [];
	const tagged: string[][] = [];
	for (const line of text.split('\n')) {
		if (startsWithTag(line)) tagged.push([line]);
		else (tagged.at(-1) ?? untagged).push(line);
	}
	return { untagged: untagged.join('\n').trim(), tagged: tagged.map((group) => group.join('\n').trim()) };
}

/** The source lines of a node, without its list marker and indentation and without the lines in `skip`. */
function ownSource(node: Nodes, next: Nodes | undefined, lines: readonly string[], skip: ReadonlySet<number>): string {
	const { start, end } = node.position ?? { start: { line: 1, column: 1 }, end: { line: 0 } };
	const marker =
		node.type === 'listItem'
			? /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]{0,4}/
			: node.type === 'heading'
				? /^[ \t]{0,3}(?:#{1,6}(?:[ \t]+|$))?/
				: /^[ \t]{0,3}/;
	const first = (lines[start.line - 1] ?? '').slice(start.column - 1);
	const offset = node.type === 'listItem' ? start.column - 1 + (marker.exec(first)?.[0].length ?? 0) : start.column - 1;
	const own: string[] = [];
	const isSetext = node.type === 'heading' && end.line > start.line;
	for (let line = start.line; line <= (isSetext ? end.line - 1 : lastLineOf(node, next)); line++) {
		if (skip.has(line)) continue;
		own.push(line === start.line ? first.replace(marker, '') : dedent(lines[line - 1] ?? '', offset));
	}
	return own.join('\n').trim();
}

/** Removes at most `columns` leading blanks; a line that is indented less (lazy continuation) keeps its text. */
function dedent(line: string, columns: number): string {
	const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
	return line.slice(Math.min(indent, columns));
}
