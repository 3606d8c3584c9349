/** The words that make a finding: tags, other words of severity, and what counts as saying "none". */
import type { Nodes } from 'mdast';
import { toString as textOf } from 'mdast-util-to-string';
import type { Finding } from './attest.ts';

/** Words that name a severity above minor where they lead a text. */
const SEVERE = 'major|critical|high|medium|moderate|severe|serious|blocker|blocking|urgent|fatal|must[- ]fix';
/** What may stand before a tag that leads: numbers, ids, table pipes and emphasis. */
const BEFORE = '^[\\s*_~`#|]*(?:\\d+[.)]?[\\s|]*)?(?:[PCQ]\\d+[:.)]?[\\s|]*)?[\\s*_`|]*';
const LEADING_TAG = new RegExp(`${BEFORE}\\\\?\\[(?:minor|major)\\\\?\\]`, 'i');
/** `[critical]`, `(high)`, `**Major**`, `**Blocker:**`, `Severity: high`, `Major:`. */
const LEADING_SEVERITY = new RegExp(
	`${BEFORE}(?:severity[*_\`]*:[\\s*_\`]*(?:${SEVERE})\\b|\\\\?[[(](?:${SEVERE})\\\\?[\\])]|(?:${SEVERE})(?: (?:issue|finding|problem|bug))?(?:[*_\`]*:|\\*\\*|__))`,
	'i',
);
/** Numbering and emphasis are short; looking no further keeps the time linear. */
const LEAD_LENGTH = 80;
const TRAILING_TAG = /\[(?:minor|major)\][\s*_`.|)]*$/i;
const MINOR = /\[minor\]/gi;
const MAJOR = /\\?\[major\\?\]/gi;
const NEAR = 60;
/** Only right before a tag: `no [major]`, `not a [major]`, `no [minor] or [major]`. */
const DENIED_BEFORE =
	/\b(?:no|not|zero|0|without|neither|nor)(?: (?:a|an|any|new|open|further|other|remaining))*(?: [`*_]*\[(?:minor|major)\][`*_]* ?(?:or|and|nor|\/|,))?\s*[`*_\\]*$/i;
/** Right behind it: `[major] findings: none`, to the end of the line or statement. */
const DENIED_BEHIND =
	/^[`*_]*(?: (?:findings?|issues?|problems?|concerns?))?[`*_]*(?::| [-–—])[`*_]* (?:none|0)[*_`]*(?:[.;)](?:\s|$)|,? *[`*_]*\[|$)/im;

const KINDS = '(?:(?:new|open|further|other|material|major|minor|blocking|\\[major\\]|\\[minor\\]|or|and|\\/|,) ?)*';
const THINGS = '(?:findings?|issues?|problems?|concerns?|comments?)';
const NOTHING = new RegExp(
	`^(?:(?:i|we) (?:have |had )?(?:(?:found|find|see|saw|identified) )?|there (?:are|were|is) )?(?:none|n\\/a|nothing|no ${KINDS} ?${THINGS})(?: (?:found|identified|remain|remains|remaining|to report))?[.!]?$`,
	'i',
);
const NONE_OF = new RegExp(`^${KINDS}(?:${THINGS})?: (?:none|0)[.!]?$`, 'i');
const RESOLVED = /^[*_`]*[PC][1-9]\d*[*_`]*(?::| [-–—:])?[*_`]* [*_`]*(?:fixed|resolved|addressed)[*_`]*[.!]?[*_`]*$/i;
const SEVERE_CELL = new RegExp(`^(?:\\[(?:${SEVERE})\\]|${SEVERE})$`, 'i');
const EMPTY_CELL = /^(?:0|none|n\/a|[-–—]|)$/i;

function leadOf(text: string): string {
	const start = text.slice(0, LEAD_LENGTH);
	return (LEADING_TAG.exec(start) ?? LEADING_SEVERITY.exec(start))?.[0] ?? '';
}

/** Whether a text begins with a tag or another word of severity. */
export const startsWithTag = (text: string): boolean => leadOf(text) !== '';

export const endsWithTag = (text: string): boolean => TRAILING_TAG.test(text);

/** Whether a text says that there is nothing to object to, tagged or not, emphasized or in parentheses. */
export function saysNothing(text: string): boolean {
	return [text, text.slice(leadOf(text).length)].some((words) => {
		const bare = words
			.replace(/[*_`]/g, '')
			.trim()
			.replace(/^:\s*/, '')
			.replace(/^\((.*)\)$/, '$1');
		return NOTHING.test(bare) || NONE_OF.test(bare);
	});
}

/** Whether a list item is an id of an earlier finding and that it is done with, and not a word more. */
export const saysResolved = (text: string): boolean => RESOLVED.test(text.trim());

/** Whether a `[major]` stands anywhere and is not denied right there. In code too: who means it may write it so. */
function meansMajor(text: string): boolean {
	return [...text.matchAll(MAJOR)].some(({ 0: tag, index }) => {
		const behind = text.slice(index + tag.length, index + tag.length + NEAR);
		return !DENIED_BEFORE.test(lineBefore(text, index)) && !DENIED_BEHIND.test(behind);
	});
}

/** What stands near before a place in the same line; another line denies nothing. */
function lineBefore(text: string, index: number): string {
	const near = text.slice(Math.max(0, index - NEAR), index);
	return near.slice(near.lastIndexOf('\n') + 1).replace(/\s+/g, ' ');
}

/** Whether a `[minor]` is meant: outside code, and not denied. */
function meansMinor(text: string): boolean {
	if (/\[minor/i.test(leadOf(text))) return true;
	const plain = text.replace(/\\([[\]])/g, '$1').replace(/(`+)[^`]*\1/g, '');
	return [...plain.matchAll(MINOR)].some(({ index }) => !DENIED_BEFORE.test(lineBefore(plain, index)));
}

/** What a text outside lists says its weight is; undefined where it speaks of none. */
export function severityMeant(text: string): Finding['severity'] | undefined {
	if (meansMajor(text) || text.split('\n').some(isSevere)) return 'major';
	return meansMinor(text) ? 'minor' : undefined;
}

/** Ambiguous severity is major: no tag, or both. */
export const severityIn = (text: string): Finding['severity'] => severityMeant(text) ?? 'major';

/** The same for blocks and all in them but code and quotations. */
export const severityOf = (nodes: readonly Nodes[]): Finding['severity'] =>
	severityIn(nodes.flatMap(paragraphTexts).join('\n'));

/** A line that is of weight without a `[major]` in it. */
function isSevere(line: string): boolean {
	const start = line.slice(0, LEAD_LENGTH);
	if (isSevereRow(line)) return true;
	return !LEADING_TAG.test(start) && LEADING_SEVERITY.test(start) && !saysNothing(line);
}

/** A table row with a cell that is a severity, such as `| 1 | major | rows get lost |`, but not `| major | 0 |`. */
function isSevereRow(line: string): boolean {
	const cells = cellsOf(line);
	return (
		cells.some((cell) => SEVERE_CELL.test(cell)) && cells.some((cell) => !isWeight(cell) && !EMPTY_CELL.test(cell))
	);
}

const isWeight = (cell: string): boolean => SEVERE_CELL.test(cell) || /^\[?minor\]?$/i.test(cell);

/** Whether a line is a row of a table that names a severity. */
export const isRow = (line: string): boolean =>
	isSevereRow(line) || cellsOf(line).some((cell) => /^\[?minor\]?$/i.test(cell));

function cellsOf(line: string): string[] {
	return line.includes('|') ? line.split('|').map((cell) => cell.replace(/[*_`\\]/g, '').trim()) : [];
}

/** Whether a block is a finding wherever it stands: a tag that leads or ends a paragraph, or one that weighs. */
export function isTagged(node: Nodes): boolean {
	return paragraphTexts(node).some(
		(text) => startsWithTag(text) || endsWithTag(text) || severityMeant(text) === 'major',
	);
}

/** The text without the `[minor]` or `[major]` that leads it; emphasis that goes on behind it stays whole. */
export function withoutLeadingTag(text: string): string {
	const lead = /^\s*([*_]{0,3})`?\\?\[(?:minor|major)\\?\]`?/i.exec(text);
	if (!lead) return text.trim();
	const marks = lead[1] ?? '';
	let rest = text.slice(lead[0].length);
	const closed = marks !== '' && rest.replace(/^:/, '').startsWith(marks);
	if (closed) rest = rest.replace(/^:/, '').slice(marks.length);
	rest = rest.replace(/^:?[ \t]*/, '');
	return `${closed ? '' : marks}${rest}`.trim();
}

/** Texts of paragraphs and headings, at any list depth, outside fences and quotes. `[minor]: word` is a definition. */
function paragraphTexts(node: Nodes): string[] {
	if (node.type === 'paragraph' || node.type === 'heading') return [textOf(node)];
	if (node.type === 'definition') return [`[${node.label}]: ${node.url}`];
	return node.type !== 'blockquote' && 'children' in node ? node.children.flatMap(paragraphTexts) : [];
}
