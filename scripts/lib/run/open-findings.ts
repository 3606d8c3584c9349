/** The findings a review artifact lists, by id: what the next version has to answer. */
import type { Document } from '../markdown/document.ts';
import { readDocument } from '../markdown/document.ts';
import type { Finding } from './attest.ts';
import { lastLineOf } from './last-line.ts';

export interface NumberedFinding extends Finding {
	/** `P1`, `C12`. */
	readonly id: string;
}

/** `s`: a line may hold U+2028, which `.` would not match. */
const ITEM = /^[-*+] ([PC][1-9][0-9]*) \[(minor|major)\] ?(.*)$/s;

/**
 * @param artifact bytes of a review artifact; one that has no ids (of an older run) or cannot be read has none
 */
export function findingsOfArtifact(artifact: Uint8Array): NumberedFinding[] {
	const read = readDocument(artifact);
	return 'problem' in read ? [] : findingsOfDocument(read.document);
}

function findingsOfDocument({ sections, lines }: Document): NumberedFinding[] {
	const section = sections.find(({ title, depth }) => title === 'Findings' && depth === 2);
	const items = section?.nodes.flatMap((node) => (node.type === 'list' ? node.children : [])) ?? [];
	return items.flatMap((item, index): NumberedFinding[] => {
		const from = item.position?.start.line ?? 1;
		const [first = '', ...rest] = lines.slice(from - 1, lastLineOf(item, items[index + 1]));
		const match = ITEM.exec(first.trim());
		if (!match) return [];
		const text = [match[3] ?? '', ...rest.map((line) => line.replace(/^ {1,2}/, ''))].join('\n').trimEnd();
		return [{ id: match[1] as string, severity: match[2] as Finding['severity'], text }];
	});
}

/** 1 + the highest number among these ids, so that an id never means two things in one run. */
export function nextFindingNumber(ids: readonly string[]): number {
	return ids.reduce((highest, id) => Math.max(highest, Number(id.slice(1))), 0) + 1;
}
