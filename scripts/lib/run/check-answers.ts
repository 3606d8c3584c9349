/** Whether a later version answers what the review before it found (protocol: Changes Since Previous … Version). */
import { type Document, type Section, sectionText } from '../markdown/document.ts';
import type { Problem } from './problem.ts';

/** List markers, table pipes and emphasis before an id. */
const LEAD = /^(?:[\s|>]|[-*+][ \t]|\d{1,9}[.)][ \t]|[*_`~[(])*/;
const ID = /^[PC][1-9][0-9]*(?![0-9A-Za-z_])/;
/** Between ids that share one answer, and after the last. */
const BETWEEN = /^[*_`~\])]*\s*(?:,|\/|&|\+|and\b)\s*[*_`~[(]*/;

/**
 * Each open id needs a line that begins with it and says fixed, deferred, or rejected and why. The answer may go on in
 * the lines below, up to the next id, list item or blank line.
 */
export function checkAnswers(document: Document, file: string, section: Section, open: readonly string[]): Problem[] {
	if (open.length === 0) return [];
	const answers = answersIn(sectionText(document, section));
	return open
		.filter((id) => !(answers.get(id) ?? []).some(isAnswer))
		.map((id) => ({
			file,
			line: section.line,
			column: section.column,
			code: 'unanswered-finding',
			found: answers.has(id) ? `a line for ${id} that says none of these` : `no line that begins with ${id}`,
			expected: `'${id}: fixed', '${id}: rejected' with why, or '${id}: deferred' under '## ${section.title}'`,
			level: 'error',
		}));
}

function answersIn(text: string): Map<string, string[]> {
	const answers = new Map<string, string[]>();
	let current: { ids: string[]; text: string } | undefined;
	const close = () => {
		for (const id of current?.ids ?? []) answers.set(id, [...(answers.get(id) ?? []), current!.text]);
		current = undefined;
	};
	for (const line of text.split('\n')) {
		const { ids, rest } = idsAt(line);
		if (ids.length > 0) {
			close();
			current = { ids, text: rest };
		} else if (line.trim() === '' || /^\s*(?:[-*+]|\d{1,9}[.)])[ \t]/.test(line)) close();
		else if (current) current.text += ` ${line.trim()}`;
	}
	close();
	return answers;
}

function idsAt(line: string): { ids: string[]; rest: string } {
	let rest = line.slice(LEAD.exec(line)![0].length);
	const ids: string[] = [];
	for (let id = ID.exec(rest)?.[0]; id !== undefined; id = ID.exec(rest)?.[0]) {
		ids.push(id);
		rest = rest.slice(id.length);
		rest = rest.slice(BETWEEN.exec(rest)?.[0].length ?? 0);
	}
	return { ids, rest };
}

function isAnswer(text: string): boolean {
	const said = /(?<!\b(?:not|never|cannot be|can't be|isn't|wasn't)\s+)\b(fixed|deferred|rejected)\b(.*)$/isu.exec(
		text,
	);
	if (said === null) return false;
	return said[1]!.toLowerCase() !== 'rejected' || /[\p{L}\p{N}]/u.test(said[2]!);
}
