/** Finds what a reviewer objects to, word for word, with its severity; untagged means major (protocol: Verdicts). */
import type { Nodes, Root, RootContent } from 'mdast';
import { toString as textOf } from 'mdast-util-to-string';
import type { Finding } from './attest.ts';

const TAG = /\[(minor|major)\]/gi;
/** A tag that leads: after numbers, ids and emphasis only, such as `1. **[major]**` or `P3 [minor]`. */
const LEADING_TAG = /^[\s*_~`#|]*(?:\d+[.)]\s*)?(?:[PCQ]\d+[:.)]?\s*)?[\s*_]*\[(?:minor|major)\]/i;
const NOTHING =
	/^((i|we) (found|find|see|saw|have|identified) )?(none|n\/a|nothing|no (new |open |further |material |major |minor )*(findings?|issues?|problems?|concerns?|comments?))( found| to report| remain(s|ing)?)?[.!]?$/i;

/** Headings whose untagged list items are findings as well. */
export function isFindingsTitle(title: string): boolean {
	return /finding|issue|problem|concern|defect|bug|blocker/i.test(title);
}

export function plainText(node: Nodes): string {
	return textOf(node).trim();
}

/** @param skip 1-based lines that are signals, not text */
export function findingsIn(root: Root, lines: readonly string[], skip: ReadonlySet<number>): Finding[] {
	const findings: Finding[] = [];
	const source = (node: RootContent | Nodes): string => ownSource(node, lines, skip);
	let inFindings = !root.children.some((node) => node.type === 'heading' && isFindingsTitle(plainText(node)));
	let prose: string[] = [];
	let proseCounts = false;
	let before = 0;
	/** At the end of a findings section that listed nothing, its prose is what the reviewer objects to. */
	const closeSection = (): void => {
		if (proseCounts && findings.length === before && prose.length > 0) {
			findings.push({ severity: 'major', text: prose.join('\n\n') });
		}
		prose = [];
		before = findings.length;
	};
	for (let index = 0; index < root.children.length; index++) {
		const node = root.children[index] as RootContent;
		if (node.type === 'heading') {
			closeSection();
			if (LEADING_TAG.test(plainText(node))) {
				const end = headedEnd(root.children, index);
				const part = root.children.slice(index, end);
				const text = part.map(source).join('\n\n');
				findings.push({ severity: severityOf(part), text: withoutLeadingTag(text.replace(/^#{1,6}\s+/, '')) });
				index = end - 1;
				before = findings.length;
				continue;
			}
			inFindings = isFindingsTitle(plainText(node));
			proseCounts = inFindings;
		} else if (node.type === 'list') {
			for (const item of node.children) {
				const text = source(item);
				if (text === '' || NOTHING.test(text)) continue;
				if (tagsIn([item]).length > 0 || inFindings) {
					findings.push({ severity: severityOf([item]), text: withoutLeadingTag(text) });
				}
			}
		} else if (node.type === 'paragraph') {
			const { untagged, tagged } = splitParagraph(source(node));
			findings.push(...tagged);
			if (untagged !== '' && !NOTHING.test(untagged)) prose.push(untagged);
		} else if (node.type === 'code' && inFindings) {
			prose.push(source(node));
		}
	}
	closeSection();
	return findings;
}

/** A heading such as `### [major] Off by one` owns what follows, up to the next heading of its depth or higher. */
function headedEnd(nodes: readonly RootContent[], start: number): number {
	const heading = nodes[start];
	const depth = heading?.type === 'heading' ? heading.depth : 6;
	let end = start + 1;
	while (end < nodes.length) {
		const node = nodes[end] as RootContent;
		if (node.type === 'heading' && (node.depth <= depth || LEADING_TAG.test(plainText(node)))) break;
		end++;
	}
	return end;
}

/** Lines of a paragraph that begin with a tag each start a finding; the lines before the first one are prose. */
function splitParagraph(text: string): { untagged: string; tagged: Finding[] } {
	const untagged: string[] = [];
	const tagged: string[][] = [];
	for (const line of text.split('\n')) {
		if (LEADING_TAG.test(line)) tagged.push([line]);
		else (tagged.at(-1) ?? untagged).push(line);
	}
	return {
		untagged: untagged.join('\n').trim(),
		tagged: tagged.map((group) => {
			const whole = group.join('\n').trim();
			return { severity: severityIn(whole), text: withoutLeadingTag(whole) };
		}),
	};
}

/** Ambiguous severity is major: no tag, or both. */
function severityOf(nodes: readonly Nodes[]): Finding['severity'] {
	const tags = tagsIn(nodes);
	return tags.length > 0 && tags.every((tag) => tag === 'minor') ? 'minor' : 'major';
}

function severityIn(text: string): Finding['severity'] {
	const tags = [...withoutCode(text).matchAll(TAG)].map((match) => match[1]?.toLowerCase());
	return tags.length > 0 && tags.every((tag) => tag === 'minor') ? 'minor' : 'major';
}

/** Tags in paragraphs and headings, at any list depth, outside fences, quotes and inline code. */
function tagsIn(nodes: readonly Nodes[]): string[] {
	return nodes.flatMap((node): string[] => {
		if (node.type === 'paragraph' || node.type === 'heading') {
			return [...withoutCode(textOf(node)).matchAll(TAG)].map((match) => (match[1] ?? '').toLowerCase());
		}
		return node.type !== 'blockquote' && 'children' in node ? tagsIn(node.children) : [];
	});
}

const withoutCode = (text: string): string => text.replace(/(`+)[^`]*\1/g, '');

function withoutLeadingTag(text: string): string {
	return text.replace(/^[\s*_]*\[(?:minor|major)\][*_]{0,3}:?[ \t]*/i, '').trim();
}

/** The source lines of a node, without its list marker and indentation and without the lines in `skip`. */
function ownSource(node: Nodes, lines: readonly string[], skip: ReadonlySet<number>): string {
	const { start, end } = node.position ?? { start: { line: 1, column: 1 }, end: { line: 0 } };
	const marker = node.type === 'listItem' ? /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]{0,4}/ : /^[ \t]{0,3}/;
	const first = (lines[start.line - 1] ?? '').slice(start.column - 1);
	const offset = node.type === 'listItem' ? start.column - 1 + (marker.exec(first)?.[0].length ?? 0) : start.column - 1;
	const own: string[] = [];
	for (let line = start.line; line <= end.line; line++) {
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
