/** Title and sections of a document against a contract (protocol: Artifact Contracts, Filename-to-heading validation). */
import type { Document, Heading, Section } from '../markdown/document.ts';
import { findMisplaced } from '../markdown/misplaced.ts';
import { quoted } from '../markdown/quoted.ts';
import type { Contract } from './contracts.ts';
import type { Problem } from './problem.ts';

/** The section of that name when the document has it exactly once, as a root heading of depth 2. */
export function findSection(document: Document, title: string): Section | undefined {
	const [only, ...others] = sectionsNamed(document, title);
	return others.length === 0 ? only : undefined;
}

function sectionsNamed({ sections }: Document, title: string): Section[] {
	return sections.filter((section) => section.depth === 2 && section.title === title);
}

/** All faults of title and sections: each exactly once, in order, the title first. Further headings are allowed. */
export function checkHeadings(
	document: Document,
	file: string,
	{ title, sections }: Pick<Contract, 'title' | 'sections'>,
): Problem[] {
	const problems: Problem[] = [];
	const report = (at: { line: number; column: number }, code: string, found: string, expected: string) =>
		problems.push({ file, line: at.line, column: at.column, code, found, expected, level: 'error' });

	const inOrder: { heading: Heading; name: string }[] = [];
	const required = [
		{ code: 'title', depth: 1 as const, name: title },
		...sections.map((name) => ({ code: 'section', depth: 2 as const, name })),
	];
	for (const { code, depth, name } of required) {
		const marks = '#'.repeat(depth);
		const [first, ...others] = document.headings.filter((found) => found.depth === depth && found.title === name);
		if (first === undefined) {
			const place = findMisplaced(document, name, depth);
			report(
				place ?? endOf(document),
				`missing-${code}`,
				place?.found ?? 'none',
				`'${marks} ${name}' as a heading of the document itself`,
			);
			continue;
		}
		inOrder.push({ heading: first, name: `${marks} ${name}` });
		for (const other of others) {
			const found = `another ${quoted(`${marks} ${name}`)}, first on line ${first.line}`;
			report(other, `duplicate-${code}`, found, `'${marks} ${name}' exactly once`);
		}
	}
	const byPlace = [...inOrder].sort((a, b) => a.heading.line - b.heading.line);
	const wrong = byPlace.findIndex((entry, index) => entry !== inOrder[index]);
	if (wrong !== -1) {
		report(byPlace[wrong]!.heading, 'section-order', `'${byPlace[wrong]!.name}'`, `'${inOrder[wrong]!.name}' first`);
	}
	return problems;
}

/** Where something is missing that is nowhere: the last line that holds anything. */
function endOf({ lines }: Document): { line: number; column: number } {
	const last = lines.findLastIndex((line) => line.trim() !== '');
	return { line: Math.max(last, 0) + 1, column: 1 };
}
