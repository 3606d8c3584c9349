/**
 * Finds what a reviewer objects to, word for word, with its severity; untagged means major (protocol: Verdicts). Each
 * list item is a finding, but for untagged ones under titles such as `Questions`. What is no finding stays beside them.
 */
import type { Nodes, Root, RootContent } from 'mdast';
import { toString as textOf } from 'mdast-util-to-string';
import { withoutComments } from '../markdown/document.ts';
import { FindingList, type ReviewFinding, type Words } from './finding-list.ts';
import {
	endsWithTag,
	isRow,
	isTagged,
	saysNothing,
	saysResolved,
	severityIn,
	severityMeant,
	severityOf,
	startsWithTag,
	withoutLeadingTag,
} from './finding-tags.ts';
import { titleKind } from './finding-titles.ts';
import { sourceOf } from './node-source.ts';

type Source = (node: Nodes, next?: Nodes) => string;
type Of<T extends RootContent['type']> = Extract<RootContent, { type: T }>;

/** Titles that say nothing of their own. */
const PLAIN_TITLE = /^(?:(?:plan |code )?review(?: v\d+)?|findings)$/i;
/** Of a paragraph that serves as a heading: deeper than any. */
const PARAGRAPH_DEPTH = 7;

/** @param skip 1-based lines that are signals, not text */
export function findingsIn(
	root: Root,
	lines: readonly string[],
	skip: ReadonlySet<number>,
): { findings: readonly ReviewFinding[]; words: readonly Words[] } {
	const found = new FindingList();
	const source: Source = (node, next) => sourceOf(node, next, lines, skip);
	for (let index = 0; index < root.children.length; index++) {
		const node = root.children[index]!;
		const text = node.type === 'list' ? '' : source(node);
		if (node.type === 'list') takeList(found, node, source);
		// A line such as READY: ends what the finding before it has to say.
		else if (text === '' || node.type === 'thematicBreak') found.endLast();
		else if (node.type === 'heading' && !isRuledProse(node, lines)) {
			index = takeHeading(found, root.children, index, source) - 1;
		} else if (node.type === 'paragraph' && isParagraphTitle(text)) {
			found.close(PARAGRAPH_DEPTH);
			found.open(titleKind(text), PARAGRAPH_DEPTH);
			found.note(text);
		} else if (node.type === 'code' || node.type === 'blockquote') takeQuoted(found, text);
		// A comment that nothing ends hides nothing.
		else takeLines(found, node.type === 'html' ? withoutComments(text, 'paragraph').trim() : text);
	}
	found.close(0);
	return found;
}

/** @returns the index of the first block that is not taken */
function takeHeading(found: FindingList, nodes: readonly RootContent[], index: number, source: Source): number {
	const node = nodes[index] as Of<'heading'>;
	const title = textOf(node).trim();
	const kind = titleKind(title);
	found.close(node.depth);
	const end = headedEnd(nodes, index);
	const body = nodes.slice(index + 1, end);
	const isFinding =
		kind === 'finding' || (kind === 'other' && (startsWithTag(title) || (found.inGroup && !isCategory(body))));
	if (!isFinding) {
		found.open(kind, node.depth);
		const isRepeated = ['summary', 'questions', 'tests'].includes(kind);
		if (!isRepeated && !PLAIN_TITLE.test(title)) found.note(`${'#'.repeat(node.depth)} ${source(node)}`);
		return index + 1;
	}
	if (startsWithTag(title) || !listsNothing(body, source)) {
		const text = [node, ...body].map((block) => source(block)).filter((block) => block !== '');
		found.add(severityOf([node, ...body]), withoutLeadingTag(text.join('\n\n')));
	}
	return end;
}

/** A finding's heading owns what follows, up to the next one of its depth or higher; a minor one up to the next. */
function headedEnd(nodes: readonly RootContent[], start: number): number {
	const heading = nodes[start] as Of<'heading'>;
	const isMinor = severityOf([heading]) === 'minor';
	let end = start + 1;
	for (; end < nodes.length; end++) {
		const node = nodes[end]!;
		if (node.type === 'heading' && (isMinor || node.depth <= heading.depth || startsWithTag(textOf(node)))) break;
	}
	return end;
}

/** Whether the blocks below a heading are findings themselves, so that the heading only groups them. */
function isCategory(body: readonly RootContent[]): boolean {
	return body.some(isTagged) || body[0]?.type === 'heading';
}

/** Whether the blocks below a heading say, as text or as list items, that there is nothing, and one of them does. */
function listsNothing(body: readonly RootContent[], source: Source): boolean {
	const parts = body.flatMap((node): Nodes[] => (node.type === 'list' ? node.children : [node]));
	const texts = parts.map((part) => source(part)).filter((text) => text !== '');
	return texts.length > 0 && texts.every(saysNothing);
}

function takeList(found: FindingList, list: Of<'list'>, source: Source): void {
	const others: string[] = [];
	for (const [at, item] of list.children.entries()) {
		const text = source(item, list.children[at + 1]);
		const tagged = isTagged(item);
		if ((text === '' && !tagged) || saysNothing(text)) continue;
		if (tagged || (found.counts && !saysResolved(text))) found.add(severityOf([item]), withoutLeadingTag(text));
		else others.push(`- ${text.replaceAll('\n', '\n  ')}`);
	}
	if (others.length === 0) return;
	if (found.counts) found.note(others.join('\n'));
	else found.say(others.join('\n'));
}

/** A paragraph that is used as a heading, such as `**Questions**` or `Findings:`. */
function isParagraphTitle(text: string): boolean {
	if (!/^(?:\*\*[^*\n]+\*\*:?|__[^_\n]+__:?|[^\n]+:)$/.test(text)) return false;
	return !['other', 'finding'].includes(titleKind(text));
}

/** Lines that begin with a tag, and table rows with a severity, each start a finding; those before the first are prose. */
function takeLines(found: FindingList, text: string): void {
	const before: string[] = [];
	const groups: string[][] = [];
	for (const line of text.split('\n')) {
		// An untagged row below a tagged one is a finding too.
		const isNext = groups.length > 0 && /^\s*\|/.test(line);
		if (startsWithTag(line) || isRow(line) || isNext) groups.push([line]);
		else (groups.at(-1) ?? before).push(line);
	}
	if (groups.length > 0 && /^[\s|:-]*-[\s|:-]*$/.test(before.at(-1) ?? '')) found.note(before.splice(-2).join('\n'));
	takeText(found, before.join('\n').trim());
	for (const group of groups.map((part) => part.join('\n').trim())) {
		if (!saysNothing(group)) found.add(severityIn(group), withoutLeadingTag(group));
	}
}

/** Text outside lists: a finding where it speaks of its weight, what the finding before it goes on with, or prose. */
function takeText(found: FindingList, text: string): void {
	if (text === '' || saysNothing(text)) return;
	const severity = severityMeant(text);
	const isOwn = severity === 'major' || (severity === 'minor' && found.counts);
	if (isOwn && (!found.hasLast || endsWithTag(text))) found.add(severity, text);
	else if (isOwn) found.goOn(text, severity === 'major');
	else if (found.hasLast) found.goOnUnweighed(text);
	else found.say(text);
}

/** Code and quotations: their words belong to what is objected to, but a tag in them is not the reviewer's. */
function takeQuoted(found: FindingList, text: string): void {
	if (found.hasLast) found.goOn(text, false);
	else found.say(text);
}

/** A paragraph with a rule right below it, which Markdown takes for a heading. */
function isRuledProse(node: Of<'heading'>, lines: readonly string[]): boolean {
	const { start, end } = node.position!;
	if (start.line === end.line || /^ {0,3}#/.test(lines[start.line - 1] ?? '')) return false;
	const title = textOf(node).trim();
	return end.line > start.line + 1 || /[.!?,;]$/.test(title) || title.split(/\s+/).length > 3;
}
