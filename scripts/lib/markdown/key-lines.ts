/** `key: value` lines of a section, as run.md and the baseline sections hold them. */
import { type Document, type Section, wholeLines } from './document.ts';

export interface KeyLine {
	readonly key: string;
	/** Without spaces around it. */
	readonly value: string;
	readonly line: number;
	/** Of the key. */
	readonly column: number;
}

const KEY_LINE = /^([ \t]*)([a-z][a-z_]*):[ \t]*(.*)$/;

/** All such lines in root-level paragraphs of the section, in order, repeated keys too. Other lines are left out. */
export function readKeyLines(document: Document, section: Section): KeyLine[] {
	return wholeLines(document, section).flatMap(({ text, line }) => {
		const match = KEY_LINE.exec(text);
		return match ? [{ key: match[2]!, value: match[3]!, line, column: match[1]!.length + 1 }] : [];
	});
}

/** The line where `key:` stands in the section but does not count: in a list, a quote, a table or code. */
export function hiddenKeyLine(document: Document, section: Section, key: string): number | undefined {
	const pattern = new RegExp(`^[\\s>|*+\\d.)\`_-]*${key}[\`*_]*\\s*[:|]`);
	for (let line = section.startLine; line <= section.endLine; line++) {
		if (pattern.test(document.lines[line - 1]!)) return line;
	}
	return undefined;
}
