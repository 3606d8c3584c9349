/**
 * A packet tells an agent that has never seen the protocol what to do next: who does which stage, what to read, what to
 * write in which form, and the one command to run then. Pure.
 */
import { quoteWord } from '../kit/words.ts';
import type { Agent } from './stages.ts';

export interface Packet {
	/** A stage name, or `none` where the run is over. */
	readonly stage: string;
	/** `user`: somebody has to be told or asked something. */
	readonly owner: Agent | 'user';
	/** Absolute paths, all inside the repository. */
	readonly read: readonly string[];
	/** Absolute path of the one file to write. */
	readonly write?: string;
	/** The form of that file, piece by piece. */
	readonly headings: readonly string[];
	/** Open findings by id, or what to tell or ask the user. */
	readonly answer: readonly string[];
	/** One command line. */
	readonly next?: string;
}

/** More than this no packet costs whoever reads it. */
export const PACKET_MAX_BYTES = 2000;

/**
 * A line per key, at most 2,000 bytes (as long as the paths in it leave room): what does not fit is left out of ANSWER,
 * which then says so. Its first piece is cut rather than left out: it may be all that the user gets to hear.
 */
export function renderPacket(packet: Packet): string {
	const fits = (text: string): boolean => Buffer.byteLength(text) <= PACKET_MAX_BYTES;
	for (let kept = packet.answer.length; ; kept--) {
		const text = lines({ ...packet, answer: shorten(packet.answer, kept) });
		if (fits(text) || kept === 0) return text;
		if (kept > 1) continue;
		const [first = '', ...rest] = shorten(packet.answer, 1);
		const over = Buffer.byteLength(text) - PACKET_MAX_BYTES;
		const cut = lines({ ...packet, answer: [shortenTo(oneLine(first), over), ...rest] });
		if (fits(cut)) return cut;
	}
}

/** @param over bytes that have to go */
function shortenTo(text: string, over: number): string {
	const bytes = Buffer.from(text);
	// A character that is cut in two decodes to U+FFFD.
	return `${bytes
		.subarray(0, Math.max(0, bytes.length - over - 3))
		.toString('utf8')
		.replace(/\ufffd+$/, '')}...`;
}

function shorten(answer: readonly string[], kept: number): readonly string[] {
	const left = answer.length - kept;
	return left === 0 ? answer : [...answer.slice(0, kept), `and ${left} more, in READ`];
}

function lines({ stage, owner, read, write, headings, answer, next }: Packet): string {
	const list = (parts: readonly string[], separator: string): string =>
		parts.length === 0 ? 'none' : parts.map(oneLine).join(separator);
	return [
		`STAGE: ${stage}`,
		`OWNER: ${owner}`,
		`READ: ${list(read.map(quoteWord), ' ')}`,
		`WRITE: ${write === undefined ? 'none' : quoteWord(write)}`,
		`HEADINGS: ${list(headings, '; ')}`,
		`ANSWER: ${list(answer, '; ')}`,
		`NEXT: ${next ?? 'none'}`,
	].join('\n');
}

/** No text of a model or a user may begin a line of its own. */
function oneLine(text: string): string {
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}
