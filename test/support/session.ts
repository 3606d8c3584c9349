import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { splitWords } from '../../scripts/lib/kit/words.ts';
import { codeDocument, planDocument } from '../fakes/documents.mjs';
import type { Sandbox } from './sandbox.ts';
import { APPROVAL } from './seeded-run.ts';

const KEYS = ['STAGE', 'OWNER', 'READ', 'WRITE', 'HEADINGS', 'ANSWER', 'NEXT'] as const;

/** A packet as an agent reads it; `none` is an empty list or undefined. */
export interface ReadPacket {
	readonly stage: string;
	readonly owner: string;
	readonly read: readonly string[];
	readonly write: string | undefined;
	readonly headings: string;
	readonly answer: string;
	/** Words of the command line. */
	readonly next: readonly string[];
	/** What follows the packet. */
	readonly rest: string;
	readonly bytes: number;
}

/** Reads an output that starts with a packet, and fails when it is not one. */
export function readPacket(output: string): ReadPacket {
	const lines = output.split('\n');
	const values = KEYS.map((key, at) => {
		const line = lines[at] ?? '';
		if (!line.startsWith(`${key}: `)) throw new Error(`line ${at + 1} is not ${key}: ${JSON.stringify(output)}`);
		return line.slice(key.length + 2);
	});
	const [stage = '', owner = '', read = '', write = '', headings = '', answer = '', next = ''] = values;
	const words = (text: string): string[] => (text === 'none' ? [] : splitWords(text));
	return {
		stage,
		owner,
		read: words(read),
		write: words(write)[0],
		headings,
		answer,
		next: words(next),
		rest: lines.slice(KEYS.length).join('\n').trim(),
		bytes: Buffer.byteLength(lines.slice(0, KEYS.length).join('\n')),
	};
}

/** The variables by which a session of an agent is told. */
export const SESSION_ENV = {
	claude: { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'session-1' },
	codex: { CODEX_CI: '1', CODEX_THREAD_ID: 'thread-1' },
	unknown: {},
} as const;
export type SessionKind = keyof typeof SESSION_ENV;

/** What a session that does its stages as it should writes for one. @param reviews what it says of a review, by stage */
export function usualDraft(box: Sandbox, packet: ReadPacket, reviews: Readonly<Record<string, string>> = {}): string {
	const version = Number(/_v(\d+)/.exec(packet.stage)?.[1]);
	const ids = version === 0 ? [] : [...new Set(packet.answer.match(/\b[PC]\d+(?= \[)/g) ?? [])];
	if (/^plan_v\d+$/.test(packet.stage)) return planDocument(version, ids);
	if (!packet.stage.startsWith('code')) return reviews[packet.stage] ?? APPROVAL;
	const ref = /run_start_ref: ([0-9a-f]+)/.exec(packet.headings)?.[1] ?? '';
	const head = /current_head: (\w+)/.exec(packet.headings)?.[1] ?? '';
	writeFileSync(path.join(box.repository.root, 'a.txt'), `one\nv${version}\n`);
	return codeDocument(version, { ref, head, ids });
}

interface Followed {
	readonly packets: readonly ReadPacket[];
	readonly code: number | undefined;
	readonly stderr: string;
	/** Bytes of all that the commands printed. */
	readonly bytes: number;
}

/**
 * Plays a session from its first words until the run is over, or until it is told to ask somebody something twice at
 * the same point. It knows nothing but what packets say.
 */
export async function followRun(
	box: Sandbox,
	session: SessionKind,
	words: string,
	options: { reviews?: Readonly<Record<string, string>>; decision?: string } = {},
): Promise<Followed> {
	const env = SESSION_ENV[session];
	const agent = session === 'unknown' ? [] : ['--session', session];
	const packets: ReadPacket[] = [];
	let bytes = 0;
	let ran = await box.ccc(['begin', ...agent], { input: words, env });
	for (let commands = 0; commands < 40; commands++) {
		bytes += Buffer.byteLength(ran.stdout);
		if (!ran.stdout.startsWith('STAGE: ')) {
			if (!ran.stdout.includes('still running')) return { packets, code: ran.code, stderr: ran.stderr, bytes };
		} else packets.push(readPacket(ran.stdout));
		const packet = packets.at(-1) as ReadPacket;
		const [program, ...rest] = packet.next;
		if (program === undefined) return { packets, code: ran.code, stderr: ran.stderr, bytes };
		const asks = rest.at(-1) === '-';
		if (asks && options.decision === undefined) return { packets, code: ran.code, stderr: ran.stderr, bytes };
		if (packet.write !== undefined) writeFileSync(packet.write, usualDraft(box, packet, options.reviews));
		const input = asks ? { input: options.decision ?? '' } : {};
		ran = await box.ccc(rest, { command: [program], env, ...input });
	}
	throw new Error(`the run does not end: ${packets.map(({ stage }) => stage).join(' ')}`);
}
