/** One artifact against the protocol (Validation Before .done). Pure: the caller reads the files. */
import { type Document, readDocument, type Section, sectionText, wholeLines } from '../markdown/document.ts';
import { hiddenKeyLine, readKeyLines } from '../markdown/key-lines.ts';
import { quoted } from '../markdown/quoted.ts';
import { checkAnswers } from './check-answers.ts';
import { checkHeadings, findSection } from './check-headings.ts';
import { checkVerdict } from './check-verdict.ts';
import { type Contract, contractOf } from './contracts.ts';
import { describeRefusal, type Refusal } from './inner-file.ts';
import type { Problem } from './problem.ts';
import { artifactPath, isReview, rawReviewPath, type Stage } from './stages.ts';
import type { Verdict } from './verdicts.ts';

export interface ArtifactInput {
	readonly stage: Stage;
	/** How the problems name the artifact. */
	readonly path: string;
	readonly bytes: Uint8Array;
	/** The baseline of run.md. Without it the references are only checked for their form. */
	readonly runStartRef?: string;
	/** The raw transcript of a review; leaving it out means it is missing. Other stages have none. */
	readonly raw?: Uint8Array | Refusal;
	/** Ids of the previous review's findings, which a later version has to answer. */
	readonly openFindings?: readonly string[];
}

export interface ArtifactResult {
	readonly problems: Problem[];
	/** Of a review whose verdict can be read, whatever else is wrong with it. */
	readonly verdict?: Verdict;
	readonly document?: Document;
}

type Report = (at: { line: number; column: number }, code: string, found: string, expected: string) => void;

/** Checks everything and reports all of it; nothing is thrown. */
export function validateArtifact(input: ArtifactInput): ArtifactResult {
	const { stage, path, bytes } = input;
	const problems: Problem[] = isReview(stage) ? checkTranscript(input) : [];
	const report: Report = (at, code, found, expected) =>
		problems.push({ file: path, line: at.line, column: at.column, code, found, expected, level: 'error' });

	const result = readDocument(bytes);
	if ('problem' in result) {
		report(result.problem, result.problem.code, result.problem.found, result.problem.expected);
		return { problems };
	}
	const { document } = result;
	const contract = contractOf(stage);
	if (document.text.trim() === '') {
		report({ line: 1, column: 1 }, 'empty-file', 'nothing', `an artifact that starts with '# ${contract.title}'`);
		return { problems, document };
	}
	problems.push(...checkHeadings(document, path, contract));
	for (const name of contract.sections) {
		const section = findSection(document, name);
		if (section !== undefined && sectionText(document, section) === '') {
			const { line, column } = section;
			const found = `nothing under '## ${name}'`;
			problems.push({ file: path, line, column, code: 'empty-section', found, expected: 'content', level: 'warning' });
		}
	}
	checkInitialText(document, contract, stage, report);
	checkTable(document, contract, report);
	checkBaseline(document, contract, input.runStartRef, report);
	const changes = contract.changes && stage.version > 0 ? findSection(document, contract.changes.section) : undefined;
	if (changes) problems.push(...checkAnswers(path, changes, input.openFindings ?? []));
	if (!isReview(stage)) return { problems, document };
	const verdict = checkVerdict(document, path, problems);
	return verdict === undefined ? { problems, document } : { problems, verdict, document };
}

function checkTranscript({ stage, path, raw = 'missing' }: ArtifactInput): Problem[] {
	const own = artifactPath(stage);
	const file = `${path.endsWith(own) ? path.slice(0, -own.length) : ''}${rawReviewPath(stage)}`;
	const wanted = 'a file with the raw review';
	const problem = (code: string, found: string, expected = wanted): Problem[] => [
		{ file, line: 1, column: 1, code, found, expected, level: 'error' },
	];
	if (raw === 'missing') return problem('missing-transcript', 'no such file');
	if (!(raw instanceof Uint8Array)) {
		const { code, found, expected } = describeRefusal(raw, wanted);
		return problem(code, found, expected);
	}
	// Not decoded strictly: what a reviewer printed is kept as it came.
	return new TextDecoder('utf-8').decode(raw).trim() === '' ? problem('empty-transcript', 'nothing but space') : [];
}

function checkInitialText(document: Document, { changes }: Contract, stage: Stage, report: Report): void {
	if (changes === undefined || stage.version !== 0) return;
	const section = findSection(document, changes.section);
	if (section === undefined) return;
	const text = sectionText(document, section);
	if (text === changes.initial) return;
	const at = section.nodes[0]?.position?.start ?? section;
	report(at, 'initial-text', text === '' ? 'nothing' : quoted(text), `'${changes.initial}' and nothing else`);
}

function checkTable(document: Document, { table }: Contract, report: Report): void {
	const section = table && findSection(document, table.section);
	if (!section || sectionText(document, section) === '') return;
	const lines = wholeLines(document, section);
	const wanted = `a table with the header '| ${table.header.join(' | ')} |'`;
	const header = lines.findIndex(({ text }) => {
		const cells = cellsOf(text);
		return cells.length >= 2 && cells[0] === table.header[0] && cells[1] === table.header[1];
	});
	if (header === -1) {
		report(section, 'missing-table', 'none', `${wanted} under '## ${table.section}'`);
		return;
	}
	const { text, line, column } = lines[header]!;
	const next = lines[header + 1];
	const rule = next?.line === line + 1 ? cellsOf(next.text) : [];
	if (rule.length === cellsOf(text).length && rule.every((cell) => /^:?-+:?$/.test(cell))) return;
	const found = next?.line === line + 1 ? quoted(next.text) : 'no delimiter row';
	report(
		{ line: line + 1, column },
		'missing-table',
		found,
		`a row like '|---|---|' with ${cellsOf(text).length} cells`,
	);
}

/** Cells of a table row; a pipe after a backslash is text. */
function cellsOf(row: string): string[] {
	const inner = row
		.trim()
		.replace(/^\|/, '')
		.replace(/(?<!\\)\|$/, '');
	return inner.split(/(?<!\\)\|/).map((cell) => cell.trim());
}

function checkBaseline(
	document: Document,
	{ baseline }: Contract,
	runStartRef: string | undefined,
	report: Report,
): void {
	const section: Section | undefined = baseline && findSection(document, baseline.section);
	if (!section) return;
	const keyLines = readKeyLines(document, section);
	for (const key of baseline!.keys) {
		const [first, second] = keyLines.filter((keyLine) => keyLine.key === key);
		if (first === undefined) {
			const hidden = hiddenKeyLine(document, section, key);
			const found = hidden === undefined ? 'none' : `it inside a list, quote or code on line ${hidden}`;
			report(section, 'missing-key', found, `a line '${key}: <sha>' under '## ${section.title}'`);
		} else if (second !== undefined) {
			report(second, 'duplicate-key', `'${key}:' on lines ${first.line} and ${second.line}`, `'${key}:' once`);
		} else if (!isReference(first.value) && !(key === 'current_head' && first.value === 'none')) {
			const forms = key === 'current_head' ? '40 or 64 hex digits, or none' : '40 or 64 hex digits';
			report(first, 'bad-value', quoted(`${key}: ${first.value}`), forms);
		} else if (key === 'run_start_ref' && runStartRef !== undefined && first.value !== runStartRef) {
			report(first, 'wrong-baseline', quoted(first.value), `the run_start_ref of run.md, '${runStartRef}'`);
		}
	}
}

function isReference(value: string): boolean {
	return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
}
