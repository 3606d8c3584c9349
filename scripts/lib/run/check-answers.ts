/** Whether a later version answers what the review before it found (protocol: Changes Since Previous … Version). */
import type { Nodes } from 'mdast';
import { toString as textOf } from 'mdast-util-to-string';
import { type Section, withoutComments } from '../markdown/document.ts';
import type { Problem } from './problem.ts';

const ID = /^[\s|*_`~[(]*([PC][1-9][0-9]*)(?![0-9A-Za-z_])/;
/** Between ids that share one answer. */
const BETWEEN = /^[*_`~\])]*\s*(?:,|\/|&|\+|and\b)/;
/** The first word behind the id, or behind the tag of the finding. A question is no answer. */
const ANSWER = /^(?:[^\p{L}\p{N}?]|\[(?:minor|major)\])*(fixed|deferred|rejected)(?![\p{L}\p{N}_?]|-\p{L})(.*)$/isu;

/** What is said of the ids at the beginning of a line, up to the next such line of the paragraph or list item. */
interface Entry {
	readonly ids: readonly string[];
	text: string;
}

/**
 * Each open id needs a line of a paragraph or a list item that begins with it and goes on with fixed, deferred, or
 * rejected and why. What stands in code, quotes, comments and headings is no answer.
 */
export function checkAnswers(file: string, section: Section, open: readonly string[]): Problem[] {
	if (open.length === 0) return [];
	const entries: Entry[] = [];
	for (const node of section.nodes) if (node.type === 'paragraph' || node.type === 'list') collect(node, entries);
	return open
		.filter((id) => !entries.some(({ ids, text }) => ids.includes(id) && isAnswer(text)))
		.map((id) => ({
			file,
			line: section.line,
			column: section.column,
			code: 'unanswered-finding',
			found: entries.some(({ ids }) => ids.includes(id))
				? `a line for ${id} that says none of these`
				: `no line that begins with ${id}`,
			expected: `'${id}: fixed', '${id}: rejected' with why, or '${id}: deferred' under '## ${section.title}'`,
			level: 'error',
		}));
}

/** @param current the entry that text without an id of its own belongs to */
function collect(node: Nodes, entries: Entry[], current?: Entry): Entry | undefined {
	let entry = current;
	if (node.type === 'list') {
		for (const item of node.children) collect(item, entries, current);
	} else if (node.type === 'listItem') {
		for (const child of node.children) entry = collect(child, entries, entry);
	} else if (node.type === 'paragraph') {
		for (const line of withoutComments(textOf(node), 'paragraph').split('\n')) {
			const { ids, rest } = idsAt(line);
			if (ids.length > 0) {
				entry = { ids, text: rest };
				entries.push(entry);
			} else if (entry) entry.text += `\n${line}`;
		}
	}
	return entry;
}

function idsAt(line: string): { ids: string[]; rest: string } {
	let rest = line;
	const ids: string[] = [];
	for (let found = ID.exec(rest); found; found = ID.exec(rest)) {
		ids.push(found[1]!);
		rest = rest.slice(found[0].length);
		const between = BETWEEN.exec(rest)?.[0];
		if (between === undefined) break;
		rest = rest.slice(between.length);
	}
	return { ids, rest };
}

function isAnswer(text: string): boolean {
	const said = ANSWER.exec(text);
	if (said === null) return false;
	return said[1]!.toLowerCase() !== 'rejected' || /[\p{L}\p{N}]/u.test(said[2]!);
}
