import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFrontMatter } from '../../scripts/lib/markdown/front-matter.ts';

const read = (text: string) => readFrontMatter(new TextEncoder().encode(text));

describe('readFrontMatter', () => {
	it('keeps every value a string as it is written', () => {
		const text = '---\na: 0123\nb: 1.10\nc: 2024-01-01\nd: "yes"\ne:\nf: null\n---\nbody\n---\nmore\n';
		expect(read(text)).toEqual({
			frontMatter: {
				data: { a: '0123', b: '1.10', c: '2024-01-01', d: 'yes', e: '', f: 'null' },
				keyLines: { a: 2, b: 3, c: 4, d: 5, e: 6, f: 7 },
				body: 'body\n---\nmore\n',
				bodyLine: 9,
			},
		});
	});

	it('is the same for every line end and with a byte order mark', () => {
		const text = '---\na: b\n---\nbody\n';
		for (const other of [text.replaceAll('\n', '\r\n'), text.replaceAll('\n', '\r'), `\uFEFF${text}`]) {
			expect(read(other)).toEqual(read(text));
		}
	});

	it.each([
		['no fence', 'a: b\n', 1],
		['a blank line first', '\n---\na: b\n---\n', 1],
		['no end', '---\na: b\n', 3],
		['an end with more on the line', '---\na: b\n--- c\n', 3],
		['JavaScript', '---js\n{a: process.exit(1)}\n---\n', 1],
		['another engine', '---toml\na = 1\n---\n', 1],
		['a name of Object.prototype', '---toString\na: b\n---\n', 1],
		['a key twice', '---\na: b\na: c\n---\n', 3],
		['a nested value', '---\nx: y\na:\n  b: c\n---\n', 3],
		['a list', '---\n- a\n---\n', 2],
		['a function tag', '---\na: !!js/function "function(){}"\n---\n', 2],
		['broken YAML', '---\na: b: c\n---\n', 2],
	])('refuses %s', (_, text, line) => {
		// Twice: a failed parse must not be remembered as a good one.
		for (let turn = 0; turn < 2; turn++)
			expect(read(text)).toMatchObject({ problem: { code: 'bad-front-matter', line } });
	});

	it('answers any text', () => {
		fc.assert(
			fc.property(fc.string({ unit: fc.constantFrom(...'-:\n #"\'{}[]&*!|>%@a1'), maxLength: 80 }), (inner) => {
				expect(Object.keys(read(`---\n${inner}\n---\n`))).toHaveLength(1);
			}),
			{ numRuns: 500 },
		);
	});
});
