import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDocument } from '../../scripts/lib/markdown/document.ts';
import { attestVerdict } from '../../scripts/lib/run/attest.ts';
import { readReview } from '../../scripts/lib/run/review-reading.ts';
import { findingsOf, NO, read, readingOf, YES } from '../support/reviews.ts';

describe('what is said counts', () => {
	it('READY: yes beside a major finding is no approval', () => {
		const reading = readingOf(`- [major] rows get lost${YES}`);
		expect(reading.ready).toBe('yes');
		expect(attestVerdict(reading, true, 'normal')).toBe('NEEDS_CHANGES');
	});

	it('a refusal in prose is a major finding, whole', () => {
		expect(findingsOf(`## Summary\n\nThe plan does not say what happens to old rows.${NO}`)).toEqual([
			'major: ## Summary\n\nThe plan does not say what happens to old rows.',
		]);
		expect(findingsOf(`No. Rows get lost.\nREADY: no`)).toEqual(['major: No. Rows get lost.']);
	});

	it.each<[string, string[]]>([
		['BLOCKED: no key\nREADY: no', ['no key']],
		['**BLOCKED:** no key\n\nREADY: no', ['no key']],
		['**BLOCKED: no key**\n\nREADY: no', ['no key']],
		['BLOCKED: __init__ is missing\n\nREADY: no', ['__init__ is missing']],
		['- BLOCKED: no key\n\nREADY: no', ['no key']],
		['BLOCKED: no key,\nso nothing runs\nREADY: no', ['no key, so nothing runs']],
		['BLOCKED: a\n\nBLOCKED: b\n\nREADY: no', ['a', 'b']],
		['BLOCKED: yes\n\nREADY: no', ['yes']],
		['BLOCKED: a\u2028b\n\nREADY: no', ['a\u2028b']],
		['BLOCKED: no network here\n\nREADY: no', ['no network here']],
		['BLOCKED: none\n\n- [major] a\n\nREADY: no', []],
		['BLOCKED: no\n\n- [major] a\n\nREADY: no', []],
		['```\nBLOCKED: x\n```\n\n- [major] a\n\nREADY: no', []],
		['It is BLOCKED: x\n\n- [major] a\n\nREADY: no', []],
	])('reasons of %j', (text, blocked) => {
		expect(readingOf(text).blocked).toEqual(blocked);
	});

	it.each(['BLOCKED: none', 'BLOCKED: no', 'BLOCKED: N/A', '**BLOCKED:** None.'])('%j blocks nothing', (line) => {
		expect(attestVerdict(readingOf(`${line}${YES}`), true, 'normal')).toBe('APPROVE');
	});

	it('a blocker stays one beside findings, and its words are in no finding', () => {
		const reading = readingOf('## Findings\n- [minor] a\nBLOCKED: no key\nREADY: no');
		expect(reading).toMatchObject({ blocked: ['no key'], findings: [{ severity: 'minor', text: 'a' }] });
		expect(attestVerdict(reading, false, 'normal')).toBe('BLOCKER');
	});
});

describe('sections that the artifact repeats', () => {
	it('are the source below their headings, without the lines a machine reads', () => {
		const text =
			'# Review\n\n## Summary\n\nGood *work*.\n\n### Details\n\nMore.\n\n## Findings\n\nNone.\n\n## Tests to Add\n\n- one\n\n## Open questions\n\nWhy?\n\nREADY: yes\n';
		expect(readingOf(text)).toMatchObject({
			summary: 'Good *work*.\n\n### Details\n\nMore.',
			testsToAdd: '- one',
			questions: 'Why?',
		});
	});

	it('are empty where there are none', () => {
		expect(readingOf('READY: yes')).toMatchObject({ summary: '', testsToAdd: '', questions: '' });
	});
});

/** Text in which everything that means something to a parser or to us turns up often. */
const hostile = fc
	.array(
		fc.oneof(
			fc.constantFrom(
				...[
					'# ',
					'## Findings',
					'- ',
					'1. ',
					'> ',
					'```',
					'~~~',
					'    ',
					'\t',
					'\n',
					'\n\n',
					'---',
					'===',
					'<!--',
					'-->',
				],
				...[
					'<div>',
					'[major]',
					'[minor]',
					'READY: yes',
					'READY: no',
					'BLOCKED: x',
					'**',
					'`',
					'|',
					'None.',
					'\r\n',
					'[a]: b',
				],
			),
			fc.string({ maxLength: 6 }),
		),
		{ maxLength: 30 },
	)
	.map((parts) => parts.join(''));

describe('any text', () => {
	it('is answered, and an approval always rests on a whole READY: yes line', () => {
		fc.assert(
			fc.property(hostile, (text) => {
				const result = read(text);
				if ('unreadable' in result) return;
				const verdict = attestVerdict(result.reading, true, 'normal');
				if (!verdict.startsWith('APPROVE')) return;
				expect(text.split(/\r\n?|\n/).filter((line) => /READY:.*yes/.test(line))).not.toEqual([]);
				expect(result.reading.findings.every(({ severity }) => severity === 'minor')).toBe(true);
			}),
			{ numRuns: 400 },
		);
	});

	it('loses no tagged item, in whatever company it comes', () => {
		const plain = fc.constantFrom(
			'Some prose.',
			'```\ncode\n```',
			'> quote',
			'## Summary',
			'## Findings',
			'### Style',
			'---',
		);
		const item = fc.record({ severity: fc.constantFrom('minor', 'major'), word: fc.stringMatching(/^[a-z]{3,8}$/) });
		const block = fc.oneof(plain, item);
		fc.assert(
			fc.property(fc.array(block, { maxLength: 10 }), (blocks) => {
				const text = blocks.map((part) => (typeof part === 'string' ? part : `- [${part.severity}] w-${part.word}`));
				const reading = readingOf(`${text.join('\n\n')}${YES}`);
				const words = reading.findings.map((finding) => finding.text).join('\n');
				for (const part of blocks) if (typeof part !== 'string') expect(words).toContain(`w-${part.word}`);
				if (blocks.some((part) => typeof part !== 'string' && part.severity === 'major')) {
					expect(attestVerdict(reading, true, 'normal')).toBe('NEEDS_CHANGES');
				}
			}),
			{ numRuns: 150 },
		);
	});

	it.each([
		['code marks', '` '.repeat(3000)],
		['code marks of many lengths', Array.from({ length: 150 }, (_, count) => '`'.repeat(count + 1)).join(' ')],
		['comment marks', '<!-- '.repeat(2000)],
		['tags', '[major] no '.repeat(1000)],
		['words of denial', 'no not '.repeat(2000)],
		['emphasis', '**'.repeat(3000)],
		['bars', '| '.repeat(3000)],
		['dashes in a title', `## ${'a-'.repeat(3000)}`],
		['words in a title', `## ${'finding '.repeat(2000)}`],
	])('takes little longer than the Markdown parser: %s', (_, text) => {
		const bytes = Buffer.from(`a\n${text}\nREADY: yes\n\n${text}\n\n## Findings\n\n${text} [major]\n`);
		const time = (run: () => unknown): number => {
			const start = performance.now();
			run();
			return performance.now() - start;
		};
		const parsing = time(() => readDocument(bytes));
		expect(time(() => readReview(bytes)) - parsing).toBeLessThan(500);
	});
});
