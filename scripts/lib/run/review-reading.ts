/**
 * Reads a reviewer's answer (protocol: Review Prompt Contract). Text that models quote must never decide, so everything
 * is read from the Markdown tree: what stands in fences, quotes and HTML blocks does not count.
 */
import type { Root, RootContent } from 'mdast';
import { readDocument } from '../markdown/document.ts';
import type { Reading } from './attest.ts';
import { saysNothing, withoutLeadingTag } from './finding-tags.ts';
import { findingsIn, plainText } from './review-findings.ts';
import { type SignalLine, signalLines } from './review-signals.ts';

/** Why an answer could not be read as a review, in words its author can act on. */
export interface Unreadable {
	readonly code: string;
	readonly line: number;
	readonly found: string;
	readonly expected: string;
}

/** @param bytes the transcript as the reviewer gave it */
export function readReview(bytes: Uint8Array): { reading: Reading } | { unreadable: Unreadable } {
	const read = readDocument(bytes);
	if ('problem' in read) return { unreadable: read.problem };
	const { root, lines } = read.document;
	const signals = signalLines(root, lines);
	const ready = readReady(signals);
	if ('code' in ready) return { unreadable: ready };
	const reasons = signals.filter((signal) => signal.kind === 'blocked');
	const reasonless = reasons.find(({ value, rest }) => value === '' && rest === '');
	if (reasonless) return { unreadable: blockedWithoutReason(reasonless.line) };
	const blocked = reasons.map(({ value, rest }) => `${value} ${rest}`.trim()).filter((reason) => !deniesBlock(reason));
	if (ready.value === 'yes' && blocked.length > 0) return { unreadable: contradiction(ready.line) };
	const skip = new Set(signals.flatMap(signalSource));
	const { findings, remarks } = findingsIn(root, lines, skip);
	const objections = remarks.filter((remark) => !remark.endsWith(':'));
	// A refusal whose only weight may be in its prose: of unstated, therefore major, severity.
	const isWeak = blocked.length === 0 && findings.every(({ severity }) => severity === 'minor');
	if (ready.value === 'no' && isWeak && objections.length > 0) {
		findings.unshift({ severity: 'major', text: objections.splice(0).join('\n\n') });
	}
	if (ready.value === 'no' && findings.length === 0 && blocked.length === 0) {
		const prose = reasonIn(root, lines, skip);
		if (prose === '') return { unreadable: noReason(ready.line) };
		findings.push({ severity: 'major', text: prose });
	}
	const section = (title: RegExp): string => sectionSource(root, lines, title, skip);
	return {
		reading: {
			ready: ready.value,
			findings,
			blocked,
			// Words beside the findings are not lost: the artifact shows them with the summary.
			summary: [section(/^summary$/i), ...objections].filter((text) => text !== '').join('\n\n'),
			questions: section(/^(open )?questions$/i),
			testsToAdd: section(/^tests to add$/i),
		},
	};
}

/** The lines of a signal. What follows a `READY:` line is text of its own; a reason may go on. */
function signalSource({ kind, line, endLine }: SignalLine): number[] {
	const last = kind === 'blocked' ? endLine : line;
	return Array.from({ length: last - line + 1 }, (_, index) => line + index);
}

/** `BLOCKED: none` fills in a form; it is no reason. */
const deniesBlock = (reason: string): boolean => /^no[.!]?$/i.test(reason) || saysNothing(reason);

function readReady(signals: readonly SignalLine[]): { value: 'yes' | 'no'; line: number } | Unreadable {
	const expected = 'exactly one line READY: yes or READY: no, outside lists, quotes and code fences';
	const ready = signals.filter((signal) => signal.kind === 'ready');
	const [first, second] = ready;
	if (!first) return { code: 'no-ready-line', line: 1, found: 'no READY: line', expected };
	if (second) {
		return { code: 'several-ready-lines', line: second.line, found: `${ready.length} READY: lines`, expected };
	}
	const bad = (found: string): Unreadable => ({ code: 'bad-ready-value', line: first.line, found, expected });
	if (first.value !== 'yes' && first.value !== 'no') return bad(`READY: ${first.value.slice(0, 60)}`);
	// Text right below may be a condition, such as `provided that ...`.
	if (first.value === 'yes' && first.rest !== '') {
		return bad(`READY: yes that goes on in the next line with ${first.rest.slice(0, 60)}`);
	}
	return { value: first.value, line: first.line };
}

const contradiction = (line: number): Unreadable => ({
	code: 'contradiction',
	line,
	found: 'READY: yes together with a BLOCKED: line',
	expected: 'READY: no when something outside the change blocks it',
});

const blockedWithoutReason = (line: number): Unreadable => ({
	code: 'blocked-without-reason',
	line,
	found: 'BLOCKED: and nothing after it',
	expected: 'the reason in the same line, or no such line',
});

const noReason = (line: number): Unreadable => ({
	code: 'no-reason',
	line,
	found: 'READY: no without a finding',
	expected: 'at least one finding tagged [minor] or [major], or a line BLOCKED: <reason>',
});

/** The whole text without signals, where anything in it says more than that there is nothing to object to. */
function reasonIn(root: Root, lines: readonly string[], skip: ReadonlySet<number>): string {
	const source = (from: number, to: number): string =>
		lines
			.slice(from - 1, to)
			.filter((_, index) => !skip.has(from + index))
			.join('\n')
			.trim();
	const says = root.children.some((node) => {
		if (['heading', 'html', 'thematicBreak', 'definition'].includes(node.type)) return false;
		const parts = node.type === 'list' ? node.children : [node];
		return parts.some(({ position }) => {
			const text = source(position!.start.line, position!.end.line).replace(/^(?:[-*+]|\d{1,9}[.)])\s+/, '');
			return text !== '' && !saysNothing(withoutLeadingTag(text));
		});
	});
	return says ? source(1, lines.length) : '';
}

/** The source below the first root heading of this title, up to the next one of its depth or higher. */
function sectionSource(root: Root, lines: readonly string[], title: RegExp, skip: ReadonlySet<number>): string {
	const start = root.children.findIndex((node) => node.type === 'heading' && title.test(plainText(node)));
	if (start === -1) return '';
	const body: RootContent[] = [];
	const opening = root.children[start];
	const depth = opening?.type === 'heading' ? opening.depth : 1;
	for (const node of root.children.slice(start + 1)) {
		if (node.type === 'heading' && node.depth <= depth) break;
		body.push(node);
	}
	const [first] = body;
	const last = body.at(-1);
	if (!first || !last) return '';
	const from = first.position?.start.line ?? 1;
	const to = last.position?.end.line ?? from;
	return lines
		.slice(from - 1, to)
		.filter((_, index) => !skip.has(from + index))
		.join('\n')
		.trim();
}
