/**
 * Reads a reviewer's answer (protocol: Review Prompt Contract). Text that models quote must never decide, so everything
 * is read from the Markdown tree: what stands in fences, quotes and HTML blocks does not count.
 */
import type { Root } from 'mdast';
import { readDocument } from '../markdown/document.ts';
import type { Finding, Reading } from './attest.ts';
import type { Words } from './finding-list.ts';
import { saysNothing } from './finding-tags.ts';
import { findingsIn } from './review-findings.ts';
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
	const blocks = signals.filter((signal) => signal.kind === 'blocked');
	const reasonless = blocks.find(({ value, rest }) => value === '' && rest === '');
	if (reasonless) return { unreadable: blockedWithoutReason(reasonless.line) };
	const blocked = blocks.map(({ value, rest }) => `${value} ${rest}`.trim()).filter((reason) => !deniesBlock(reason));
	if (ready.value === 'yes' && blocked.length > 0) return { unreadable: contradiction(ready.line) };
	const skip = new Set(signals.flatMap(signalSource));
	const found = findingsIn(root, lines, skip);
	const findings: Finding[] = found.findings.map(({ severity, text }) => ({ severity, text }));
	let { words } = found;
	if (ready.value === 'no' && blocked.length === 0 && findings.every(({ severity }) => severity === 'minor')) {
		// A refusal whose only weight may be in text of unstated, therefore major, severity.
		found.findings.forEach(({ wentOn, text }, index) => {
			if (wentOn) findings[index] = { severity: 'major', text };
		});
		const reasons = words.filter(({ weighs }) => weighs).map(({ text }) => text);
		words = words.filter(({ weighs }) => !weighs);
		if (reasons.length > 0) findings.unshift({ severity: 'major', text: reasons.join('\n\n') });
		if (findings.length === 0) {
			const prose = reasonIn(root, lines, skip);
			if (prose === '') return { unreadable: noReason(ready.line) };
			findings.push({ severity: 'major', text: prose });
		}
	}
	const said = (place: Words['place']): string =>
		words
			.filter((part) => part.place === place)
			.map(({ text }) => text)
			.join('\n\n');
	return {
		reading: {
			ready: ready.value,
			findings,
			blocked,
			summary: said('summary'),
			questions: said('questions'),
			testsToAdd: said('tests'),
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
	if (!second && first.isItem) return { code: 'no-ready-line', line: first.line, found: 'READY: in a list', expected };
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
			return text !== '' && !saysNothing(text);
		});
	});
	return says ? source(1, lines.length) : '';
}
