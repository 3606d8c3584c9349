import type { Reading } from '../../scripts/lib/run/attest.ts';
import { readReview, type Unreadable } from '../../scripts/lib/run/review-reading.ts';

/** Reads a review given as text. */
export const read = (text: string): { reading: Reading } | { unreadable: Unreadable } => readReview(Buffer.from(text));

/** The reading of a review that can be read. */
export function readingOf(text: string): Reading {
	const result = read(text);
	if ('unreadable' in result) throw new Error(`unreadable: ${JSON.stringify(result.unreadable)}`);
	return result.reading;
}

/** Its findings as `major: text`, with newlines as they are. */
export const findingsOf = (text: string): string[] =>
	readingOf(text).findings.map((finding) => `${finding.severity}: ${finding.text}`);

/** Ends of a review. */
export const YES = '\n\nREADY: yes\n';
export const NO = '\n\nREADY: no\n';
