/** The words that make a finding: its tag, what counts as saying "none", and the headings findings stand under. */
import type { Nodes } from 'mdast';
import { toString as textOf } from 'mdast-util-to-string';
import type { Finding } from './attest.ts';

const TAG = /\[(minor|major)\]/gi;
/** A tag that leads: after numbers, ids, table pipes and emphasis only, such as `1. **[major]**` or `P3 [minor]`. */
const LEADING_TAG = /^[\s*_~`#|]*(?:\d+[.)]?[\s|]*)?(?:[PCQ]\d+[:.)]?[\s|]*)?[\s*_`|]*\\?\[(?:minor|major)\\?\]/i;
/** Numbering and emphasis are short; looking no further keeps the time linear. */
const LEAD_LENGTH = 80;
const TRAILING_TAG = /\[(?:minor|major)\][\s*_`.|)]*$/i;
const NEGATION = /\b(?:no|not|none|nothing|without|zero|any|0)\b/i;

const KINDS = '(?:(?:new|open|further|other|material|major|minor|blocking|\\[major\\]|\\[minor\\]|or|and|\\/|,) ?)*';
const NOTHING = new RegExp(
	`^(?:(?:i|we) (?:have |had )?(?:(?:found|find|see|saw|identified) )?|there (?:are|were|is) )?(?:none|n\\/a|nothing|no ${KINDS} ?(?:findings?|issues?|problems?|concerns?|comments?))(?: (?:found|identified|remain|remains|remaining|to report))?[.!]?$`,
	'i',
);

const MANY =
	'findings|issues|problems|concerns|defects|bugs|blockers|objections|nits|nitpicks|comments|suggestions|observations';
const ONE = 'finding|issue|problem|concern|defect|bug|blocker|objection';
const SEVERITY =
	'(?:major|minor|critical|high|medium|low|severe|blocking|non-blocking|trivial)(?: (?:severity|priority))?';
/** A heading over several findings, such as `Findings`, `2. Major issues (3)`, `Required changes` or `Minor`. */
const GROUP = new RegExp(
	`^(?:\\d+[.)] *)?(?:(?:[\\p{L}-]+ +){0,3}(?:${MANY})(?: +[\\p{L}-]+){0,3}|(?:[\\p{L}-]+ +){0,1}(?:${ONE})|${SEVERITY}|(?:required|requested|suggested|necessary) changes|must[- ]fix)(?: *\\(.*\\))?:?$`,
	'iu',
);
/** A heading that is a finding itself, such as `Issue 2: rows get lost`. */
const SINGLE = new RegExp(`^(?:\\d+[.)] *)?(?:${ONE})\\b`, 'i');
/** Sections whose untagged text is no objection, whatever else their title holds. */
const OTHER =
	/^(?:\d+[.)] *)?(?:summary|overview|questions?|open questions|tests?|verdict|resolved|fixed|addressed)\b/i;

/** What a heading (its plain text) says about the text below it. */
export function titleKind(title: string): 'group' | 'single' | 'other' {
	const bare = title.replace(/[*_`]/g, '').trim();
	if (OTHER.test(bare)) return 'other';
	if (GROUP.test(bare)) return 'group';
	return SINGLE.test(bare) ? 'single' : 'other';
}

function leadOf(text: string): string {
	return LEADING_TAG.exec(text.slice(0, LEAD_LENGTH))?.[0] ?? '';
}

export function startsWithTag(text: string): boolean {
	return leadOf(text) !== '';
}

/** Whether a text says that there is nothing to object to, tagged or not, emphasized or in parentheses. */
export function saysNothing(text: string): boolean {
	return NOTHING.test(
		text
			.replace(/[*_]/g, '')
			.trim()
			.replace(/^\((.*)\)$/, '$1'),
	);
}

const RESOLVED = /\b(?:fixed|resolved|addressed|verified|confirmed|closed)\b/i;
const UNRESOLVED = /\b(?:not|never|still|partial\w*|partly|incorrect\w*|but|however|yet|only|un\w+|\w+n['’]t)\b/i;

/** Whether an untagged text reports that an earlier finding is done with: `P1: fixed`. */
export function reportsResolved(text: string): boolean {
	return /^[*_`]*[PC][1-9]\d*\b/.test(text) && RESOLVED.test(text) && !UNRESOLVED.test(text);
}

/** Ambiguous severity is major: no tag, or both. */
export function severityIn(text: string): Finding['severity'] {
	return severityFrom(tagsInText(text));
}

export function severityOf(nodes: readonly Nodes[]): Finding['severity'] {
	return severityFrom(nodes.flatMap((node) => paragraphTexts(node).flatMap(tagsInText)));
}

function severityFrom(tags: readonly string[]): Finding['severity'] {
	return tags.length > 0 && tags.every((tag) => tag === 'minor') ? 'minor' : 'major';
}

/** Whether the text holds a tag that is meant, not one that is denied as in `there are no [major] ones`. */
export function meansTag(text: string): boolean {
	if (tagsInText(text).length === 0) return false;
	return text.split(/[.;]/).some((sentence) => {
		const at = sentence.search(/\[(?:minor|major)\]/i);
		return at !== -1 && !NEGATION.test(sentence.slice(0, at));
	});
}

/** Whether a block is tagged: at the beginning or the end of one of its paragraphs, at any list depth. */
export function isTagged(node: Nodes): boolean {
	return paragraphTexts(node).some((text) => startsWithTag(text) || endsWithTag(text));
}

export function endsWithTag(text: string): boolean {
	return TRAILING_TAG.test(text);
}

/** The text without the tag that leads it; emphasis that goes on behind the tag stays whole. */
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

/** Tags of one paragraph. In inline code they are quotations, but for one that leads. */
function tagsInText(text: string): string[] {
	const lead = leadOf(text);
	const rest = text.slice(lead.length).replace(/(`+)[^`]*\1/g, '');
	return [...`${lead.replace(/\\/g, '')} ${rest}`.matchAll(TAG)].map((match) => (match[1] ?? '').toLowerCase());
}
