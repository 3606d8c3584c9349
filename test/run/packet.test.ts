import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteWord, splitWords } from '../../scripts/lib/kit/words.ts';
import { PACKET_MAX_BYTES, type Packet, renderPacket } from '../../scripts/lib/run/packet.ts';
import { hostileText } from '../support/hostile-text.ts';
import { readPacket } from '../support/session.ts';

const LINE_ENDS = /[\n\r\v\f\u0085\u2028\u2029]/;

/** Paths as `begin` accepts them: anything that can be shown. */
const pathText = fc
	.array(fc.constantFrom(...[...'ab /.\'$"`\\!&;*?()<>|~#=%é漢字🙂']), { minLength: 1, maxLength: 40 })
	.map((parts) => `/${parts.join('')}`);

const text = fc.oneof(hostileText(60), fc.string({ unit: 'grapheme', maxLength: 120 }), fc.string({ unit: 'binary' }));

const packet = fc
	.record({ folder: pathText, reads: fc.integer({ min: 0, max: 3 }), answer: fc.array(text, { maxLength: 60 }) })
	.map(
		({ folder, reads, answer }): Packet => ({
			stage: 'code_v1',
			owner: 'codex',
			read: Array.from({ length: reads }, (_, at) => `${folder}/artifacts/${at}.md`),
			write: `${folder}/artifacts/code_v1.md.tmp`,
			headings: ['# Code v1', '## Overview', '## What Changed'],
			answer,
			next: `sh "/pack/ccc.sh" submit ${quoteWord(folder)} code_v1`,
		}),
	);

describe('a packet', () => {
	it('has seven lines in their order and at most 2,000 bytes, whatever stands in it', () => {
		fc.assert(
			fc.property(packet, (given) => {
				const shown = renderPacket(given);
				expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(PACKET_MAX_BYTES);
				expect(shown.split(LINE_ENDS)).toHaveLength(7);
				const read = readPacket(shown);
				expect(read.read).toEqual(given.read);
				expect(read.write).toBe(given.write);
				expect(read.next).toEqual(splitWords(given.next ?? ''));
			}),
			{ numRuns: 300 },
		);
	});

	it('keeps the first of its answers, cut where it has to be, and says how many it leaves out', () => {
		const base: Packet = { stage: 'none', owner: 'user', read: [], headings: [], answer: [] };
		fc.assert(
			fc.property(fc.constantFrom('x', '漢', '🙂', 'é'), fc.integer({ min: 0, max: 4000 }), (letter, length) => {
				const answer = [`Tell the user: ${letter.repeat(length)}`, 'then this', 'and that'];
				const shown = renderPacket({ ...base, answer });
				expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(PACKET_MAX_BYTES);
				expect(shown).toContain(`ANSWER: Tell the user: ${letter.repeat(Math.min(length, 20))}`);
				expect(shown).not.toContain('\ufffd');
				const whole = shown.includes('and that');
				expect(shown.includes('more, in READ')).toBe(!whole);
			}),
		);
	});

	it('leaves no more out than it has to', () => {
		const findings = Array.from({ length: 60 }, (_, at) => `P${at + 1} [major] ${'wrong '.repeat(13)}`);
		const shown = renderPacket({ stage: 'plan_v1', owner: 'claude', read: ['/r/a'], headings: [], answer: findings });
		expect(Buffer.byteLength(shown)).toBeGreaterThan(PACKET_MAX_BYTES - 130);
		const kept = shown.match(/P\d+ \[/g)?.length ?? 0;
		expect(shown).toContain(`; and ${60 - kept} more, in READ\n`);
	});

	it('says none for what there is none of', () => {
		expect(renderPacket({ stage: 'none', owner: 'user', read: [], headings: [], answer: [] })).toBe(
			'STAGE: none\nOWNER: user\nREAD: none\nWRITE: none\nHEADINGS: none\nANSWER: none\nNEXT: none',
		);
	});
});
