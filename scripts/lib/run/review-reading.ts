/**
 * Reads a reviewer's answer (protocol: Review Prompt Contract). Text that models quote must never decide, so everything
 * is read from the Markdown tree: what stands in fences, quotes and HTML blocks does not count.
 */
import type { Root, RootContent } from 'mdast';
import { readDocument } from '../markdown/document.ts';
import type { Finding, Reading } from './attest.ts';
import { findingsIn, isFindingsTitle, plainText } from './review-findings.ts';
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
	const blocked = signals.filter((signal) => signal.kind === 'blocked').map((signal) => signal.value);
	if (ready.value === 'yes' && blocked.length > 0) {
		return {
			unreadable: {
				code: 'contradiction',
				line: ready.line,
				found: 'READY: yes together with a BLOCKED: line',
				expected: 'READY: no when something outside the change blocks it',
			},
		};
	}
	const skip = new Set(signals.map((signal) => signal.line));
	const findings = findingsIn(root, lines, skip);
	if (ready.value === 'no' && findings.length === 0 && blocked.length === 0) {
		const prose = wholeText(lines, skip);
		if (prose === '') {
			return {
				unreadable: {
					code: 'no-reason',
					line: ready.line,
					found: 'READY: no without a finding',
					expected: 'at least one finding tagged [minor] or [major], or a line BLOCKED: <reason>',
				},
			};
		}
		// A refusal in prose is a finding of unstated, therefore major, severity.
		findings.push({ severity: 'major', text: prose } satisfies Finding);
	}
	const section = (title: RegExp): string => sectionSource(root, lines, title, skip);
	return {
		reading: {
			ready: ready.value,
			findings,
			blocked,
			summary: section(/^summary$/i),
			questions: section(/^(open )?questions$/i),
			testsToAdd: section(/^tests to add$/i),
		},
	};
}

function readReady(signals: readonly SignalLine[]): { value: 'yes' | 'no'; line: number } | Unreadable {
	const expected = 'exactly one line READY: yes or READY: no, outside code fences and quotes';
	const ready = signals.filter((signal) => signal.kind === 'ready');
	const [first, second] = ready;
	if (!first) return { code: 'no-ready-line', line: 1, found: 'no READY: line', expected };
	if (second) {
		return { code: 'several-ready-lines', line: second.line, found: `${ready.length} READY: lines`, expected };
	}
	if (first.value !== 'yes' && first.value !== 'no') {
		return { code: 'bad-ready-value', line: first.line, found: `READY: ${first.value.slice(0, 60)}`, expected };
	}
	return { value: first.value, line: first.line };
}

function wholeText(lines: readonly string[], skip: ReadonlySet<number>): string {
	return lines
		.filter((_, index) => !skip.has(index + 1))
		.join('\n')
		.trim();
}

/** The source below the first root heading of this title, up to the next root heading; findings sections excluded. */
function sectionSource(root: Root, lines: readonly string[], title: RegExp, skip: ReadonlySet<number>): string {
	const start = root.children.findIndex((node) => node.type === 'heading' && title.test(plainText(node)));
	if (start === -1) return '';
	const body: RootContent[] = [];
	for (const node of root.children.slice(start + 1)) {
		if (node.type === 'heading') break;
		body.push(node);
	}
	const [first] = body;
	const last = body.at(-1);
	if (!first || !last || isFindingsTitle(plainText(root.children[start] as RootContent))) return '';
	const from = first.position?.start.line ?? 1;
	const to = last.position?.end.line ?? from;
	return lines
		.slice(from - 1, to)
		.filter((_, index) => !skip.has(from + index))
		.join('\n')
		.trim();
}
