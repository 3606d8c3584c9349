/** The verdict of a review (protocol: Verdicts, Validation Before .done). */
import { allWholeLines, type Document, type WholeLine, wholeLines } from '../markdown/document.ts';
import { describeLookAlike, startsLike } from '../markdown/look-alike.ts';
import { quoted } from '../markdown/quoted.ts';
import { findSection } from './check-headings.ts';
import type { Problem } from './problem.ts';
import { VERDICTS, type Verdict } from './verdicts.ts';

const PREFIX = 'VERDICT:';
const OVERRIDE = 'AUTO OVERRIDE:';

/**
 * Exactly one `VERDICT:` line in the root paragraphs of the document, under `## Verdict`, with a word of the protocol;
 * and the `AUTO OVERRIDE:` line just where that verdict needs it. Adds what is wrong to `problems`.
 */
export function checkVerdict(document: Document, file: string, problems: Problem[]): Verdict | undefined {
	const report = (at: { line: number; column: number }, code: string, found: string, expected: string) =>
		problems.push({ file, line: at.line, column: at.column, code, found, expected, level: 'error' });
	const section = findSection(document, 'Verdict');
	if (section === undefined) return undefined;
	const inside = wholeLines(document, section).filter(
		({ text }) => text.startsWith(PREFIX) || startsLike(text, PREFIX),
	);
	const places = new Set(inside.map(({ line }) => line));
	const outside = allWholeLines(document).filter(({ text, line }) => text.startsWith(PREFIX) && !places.has(line));
	for (const line of outside) {
		report(line, 'stray-verdict', quoted(line.text), "the only VERDICT line under '## Verdict'");
	}
	const [first, ...others] = inside;
	if (first === undefined) {
		const hidden = hiddenVerdict(document);
		report(hidden ?? section, 'missing-verdict', hidden?.found ?? 'none', "one whole line 'VERDICT: <word>'");
		return undefined;
	}
	for (const other of others) {
		const found = `${quoted(other.text)} after the one on line ${first.line}`;
		report(other, 'duplicate-verdict', found, 'exactly one VERDICT line');
	}
	const verdict = VERDICTS.find((word) => first.text === `${PREFIX} ${word}`);
	if (verdict === undefined)
		report(first, 'bad-verdict', describeVerdict(first), `'VERDICT: ' and one of ${VERDICTS.join(', ')}`);
	if (verdict === undefined || others.length > 0 || outside.length > 0) return undefined;
	checkOverride(document, verdict, report);
	return verdict;
}

function describeVerdict({ text }: WholeLine): string {
	const meant = VERDICTS.map((word) => `${PREFIX} ${word}`).find(
		(line) => startsLike(text, line) && startsLike(line, text),
	);
	return meant === undefined ? quoted(text) : describeLookAlike(text, meant);
}

/** Where a verdict stands that does not count, and why it does not. */
function hiddenVerdict({ lines, headings }: Document): { line: number; column: number; found: string } | undefined {
	const heading = headings.find(({ title }) => title.startsWith(PREFIX));
	if (heading) {
		const { line, column, title } = heading;
		return { line, column, found: `${quoted(title)} as a heading; it needs a blank line after it` };
	}
	const index = lines.findLastIndex((text) => /^[\s>*+\-\d.)]*VERDICT:/.test(text));
	if (index === -1) return undefined;
	const text = lines[index]!.trim();
	return {
		line: index + 1,
		column: lines[index]!.indexOf(text) + 1,
		found: `${quoted(text)} inside a list, quote or code`,
	};
}

function checkOverride(
	document: Document,
	verdict: Verdict,
	report: (at: { line: number; column: number }, code: string, found: string, expected: string) => void,
): void {
	if (verdict !== 'APPROVE_AUTO_OVERRIDE') {
		for (const line of allWholeLines(document).filter(({ text }) => text.startsWith(OVERRIDE))) {
			report(line, 'stray-override', quoted(line.text), `no '${OVERRIDE}' line beside VERDICT: ${verdict}`);
		}
		return;
	}
	const summary = findSection(document, 'Summary');
	if (summary === undefined) return;
	const [first, second] = wholeLines(document, summary).filter(({ text }) => text.startsWith(OVERRIDE));
	const expected = `exactly one line '${OVERRIDE} …' under '## Summary'`;
	if (first === undefined) report(summary, 'missing-override', 'none', expected);
	else if (second) report(second, 'duplicate-override', `another one, first on line ${first.line}`, expected);
}
