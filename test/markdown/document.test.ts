import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Document, readDocument, sectionText, wholeLines } from '../../scripts/lib/markdown/document.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

function read(text: string): Document {
	const result = readDocument(bytesOf(text));
	if ('problem' in result) throw new Error(JSON.stringify(result.problem));
	return result.document;
}

const titles = (text: string) => read(text).headings.map(({ title, depth }) => `${depth} ${title}`);

describe('headings', () => {
	it.each([
		['## Summary', '2 Summary'],
		['   ## Summary  ', '2 Summary'],
		['## Summary ##', '2 Summary'],
		['##\tSummary', '2 Summary'],
		['Summary\n---', '2 Summary'],
		['Summary\n===', '1 Summary'],
		['## &#83;ummary', '2 Summary'],
		['## C\\#', '2 C#'],
		['## **Summary**', '2 **Summary**'],
		['## `Summary`', '2 `Summary`'],
		['## [Summary](x)', '2 [Summary](x)'],
		['## Sum<!-- -->mary', '2 Sum<!-- -->mary'],
		['## Verification\u00A0Plan', '2 Verification\u00A0Plan'],
	])('%j is %s', (text, expected) => {
		expect(titles(text)).toEqual([expected]);
	});

	it.each([
		'##Summary',
		'    ## Summary',
		'> ## Summary',
		'- ## Summary',
		'```\n## Summary\n```',
		'~~~\n```\n## Summary\n~~~',
		'<!--\n## Summary\n-->',
		'\\## Summary',
		'##\u00A0Summary',
		'```\n## Summary',
	])('%j is none', (text) => {
		expect(titles(text)).toEqual([]);
	});

	it('have the line and column of the file in every spelling of line ends', () => {
		const text = 'a\n\n  ## B\n\nC\n-\n';
		const places = [
			{ line: 3, column: 3 },
			{ line: 5, column: 1 },
		];
		for (const spelling of [text, text.replaceAll('\n', '\r\n'), text.replaceAll('\n', '\r'), `\uFEFF${text}`]) {
			expect(read(spelling).headings).toMatchObject(places);
			expect(read(spelling).lines).toEqual(read(text).lines);
		}
	});
});

describe('sections', () => {
	const document = read('# T\n\npre\n\n## A\n\none\n### sub\n<!-- note -->\n- x\n\n## B\n## C\ntwo <!-- c --> three\n');
	const section = (title: string) => document.sections.find((entry) => entry.title === title)!;

	it('go up to the next heading of depth 1 or 2', () => {
		expect(document.sections.map(({ title, startLine, endLine }) => [title, startLine, endLine])).toEqual([
			['T', 2, 4],
			['A', 6, 11],
			['B', 13, 12],
			['C', 14, 15],
		]);
	});

	it('give their source without comments', () => {
		expect(sectionText(document, section('A'))).toBe('one\n### sub\n\n- x');
		expect(sectionText(document, section('B'))).toBe('');
		expect(sectionText(document, section('C'))).toBe('two  three');
	});

	it('keep comments that are code, and drop what an open comment swallows', () => {
		const text = read('## A\n```\n<!-- x -->\n```\n## B\n<!-- open\n\nrest');
		expect(text.sections.map((entry) => sectionText(text, entry))).toEqual(['```\n<!-- x -->\n```', '']);
	});

	it('give each line once, also where a quote or list ends in an open fence', () => {
		const body = '> ```\n- ```\n\ntext';
		const parsed = read(`## A\n${body}\n## B\n`);
		expect(sectionText(parsed, parsed.sections[0]!)).toBe(body);
		const last = read('## A\n> ```\n## B\nrest\n');
		expect(last.sections.map((entry) => sectionText(last, entry))).toEqual(['> ```', 'rest']);
	});

	it('have whole lines only in paragraphs of their own', () => {
		const text =
			'## V\n\nVERDICT: A  \nVERDICT: B\n\n> VERDICT: C\n\n- VERDICT: D\n\n```\nVERDICT: E\n```\n    VERDICT: F\n\n<i>\nVERDICT: G\n';
		const parsed = read(text);
		expect(wholeLines(parsed, parsed.sections[0]!)).toEqual([
			{ text: 'VERDICT: A', line: 3, column: 1 },
			{ text: 'VERDICT: B', line: 4, column: 1 },
		]);
	});
});

describe('an unclosed fence', () => {
	it.each([
		['a\n\n```js\n## S', 3],
		['````\n```\n', 1],
		['~~~\n```', 1],
		['```\n```', undefined],
		['- ```\n\nafter', undefined],
		['    ```', undefined],
	])('of %j is on line %s', (text, line) => {
		expect(read(text).unclosedFence).toBe(line);
	});
});

describe('what cannot be read', () => {
	it.each([
		['CESU surrogates', [0x61, 0x0a, 0x62, 0xed, 0xa0, 0x80], { code: 'not-utf8', line: 2, column: 2 }],
		['a cut sequence', [0x61, 0xe2, 0x82], { code: 'not-utf8', line: 1, column: 2 }],
		['UTF-16', [0xff, 0xfe, 0x61, 0x00], { code: 'not-utf8', line: 1, column: 1 }],
		['an overlong form', [0x0d, 0x0a, 0xc0, 0x80], { code: 'not-utf8', line: 2, column: 1 }],
		['a lone continuation', [0xc3, 0xa9, 0x80], { code: 'not-utf8', line: 1, column: 2 }],
		['NUL', [0x61, 0x0d, 0x62, 0x00], { code: 'nul-byte', line: 2, column: 2 }],
	])('%s', (_, bytes, problem) => {
		expect(readDocument(Uint8Array.from(bytes))).toMatchObject({ problem });
	});

	it('is more than the caller allows', () => {
		expect(readDocument(bytesOf('[[[['), { maxBytes: 3 })).toMatchObject({ problem: { code: 'too-large' } });
		expect(readDocument(new Uint8Array(10 * 1024 * 1024).fill(0x5b))).toMatchObject({ problem: { code: 'too-large' } });
	});

	it('names the first fault wherever it is, in any text', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'binary', maxLength: 50 }), fc.constantFrom(0x80, 0xff, 0xc1), (text, bad) => {
				const before = Buffer.from(text.replaceAll('\0', '').replace(/[\p{Cs}]/gu, ''));
				const result = readDocument(Buffer.concat([before, Buffer.from([bad]), Buffer.from('after')]));
				const lines = before
					.toString()
					.replace(/^\uFEFF/, '')
					.split(/\r\n?|\n/);
				expect(result).toMatchObject({
					problem: { code: 'not-utf8', line: lines.length, column: lines.at(-1)!.length + 1 },
				});
			}),
		);
	});
});

describe('any bytes', () => {
	it('are answered, and never thrown at', () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) => {
				expect(Object.keys(readDocument(bytes))).toHaveLength(1);
			}),
		);
		fc.assert(
			fc.property(fc.string({ unit: fc.constantFrom(...'->*`~# \n\t[]<!a1.=&\\'), maxLength: 3000 }), (text) => {
				expect(Object.keys(readDocument(bytesOf(text)))).toHaveLength(1);
			}),
			{ numRuns: 50 },
		);
	});

	// Each of these took the parser between 2 and 20 seconds before it was bounded. The time here is the processor's,
	// so that a busy machine does not fail the test.
	it.each([
		'[',
		'- - - ',
		'>>>>',
		'> - ',
		'a<!--',
		'[a][a]',
		'*a_ **b',
		'- a\n',
		'a\n===\n',
		'- a\n\n  > b\n',
		'- > - > a\n',
		'> a\nb\n',
		'1. a\n',
		'[a]: b\n',
		'<!--\n',
		'`a\n',
		'&amp;',
		'> ```\n',
	])('are answered in time: 50 kB of %j', (unit) => {
		const bytes = bytesOf(unit.repeat(Math.ceil(50_000 / unit.length)));
		const before = process.cpuUsage();
		readDocument(bytes);
		const used = process.cpuUsage(before);
		expect((used.user + used.system) / 1e6).toBeLessThan(4);
	});
});
