import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../scripts/lib/kit/sha256.ts';
import { BLOCK_VERSION, IMPORT, NOTES } from '../../scripts/lib/render/block-text.ts';
import { findBlock, putBlock, takeBlock } from '../../scripts/lib/render/managed-block.ts';
import { errorOf } from '../support/ccc-error.ts';
import { hostileText } from '../support/hostile-text.ts';

const BEGIN = NOTES[0]!;
const END = '<!-- ccc:end -->';
const AT = 'AGENTS.md';
const bytes = (text: string): Buffer => Buffer.from(text);
const put = (content: Buffer | undefined, lines = NOTES): Buffer => putBlock(content, lines, AT);

describe('the text', () => {
	it('is short, ASCII, and has a new version whenever it changes', () => {
		for (const lines of [NOTES, IMPORT]) {
			expect(lines.join('\r\n').length).toBeLessThan(1500);
			expect(lines.join('\n')).toMatch(/^[\n -~]+$/);
		}
		expect({ version: BLOCK_VERSION, hash: sha256([...NOTES, ...IMPORT].join('\n')) }).toEqual({
			version: 1,
			hash: '8742fe97bafcc8c294abe3074e73fadaadd18dda6806a019e28f89d0a21420bf',
		});
	});
});

describe('putBlock', () => {
	it.each([
		['nothing', undefined, `B\n`],
		['an empty file', '', '\nB\n'],
		['text', 'a\n', 'a\n\nB\n'],
		['text without final newline', 'a\nb', 'a\nb\n\nB'],
		['CRLF', 'a\r\n', 'a\r\n\r\nB\r\n'],
		['CRLF without final newline', 'a\r\nb', 'a\r\nb\r\n\r\nB'],
		['CR', 'a\r', 'a\r\rB\r'],
		['a byte order mark', '\ufeffa\n', '\ufeffa\n\nB\n'],
		['nothing but a byte order mark', '\ufeff', '\ufeff\nB\n'],
	])('adds to %s, and takeBlock takes back what was added', (_, before, after) => {
		const lineEnd = /\r\n|\r|\n/.exec(after)![0];
		const content = before === undefined ? undefined : bytes(before);
		const result = put(content);
		expect(result.toString()).toBe(after.replace('B', NOTES.join(lineEnd)));
		expect(put(result)).toEqual(result);
		expect(takeBlock(result, AT)).toEqual(content);
	});

	it('updates an older or edited block where it stands, with the line ends it has', () => {
		const old = bytes(`\xff a\r\n<!-- ccc:begin v1 -->\r\nold\r\n${END}\r\n\nb\rc`);
		expect(put(old)).toEqual(bytes(`\xff a\r\n${NOTES.join('\r\n')}\r\n\nb\rc`));
	});

	it('keeps bytes that are not UTF-8', () => {
		const content = Buffer.from([0x80, 0xff, 0x0a, 0xc3, 0x0a]);
		expect(put(content).subarray(0, 5)).toEqual(content);
		expect(takeBlock(put(content), AT)).toEqual(content);
	});

	it.each([
		['a code fence', 'a\n\n```sh\ncode\n', 3],
		['a comment', 'a\n\n<!-- todo\nmore\n', 3],
		['raw HTML', '<pre>\nx\n', 1],
	])('refuses a file whose end is inside %s', (_, text, line) => {
		const { code, facts } = errorOf(() => put(bytes(text)));
		expect([code, facts.at, facts.line]).toEqual(['open-markdown', AT, line]);
	});
});

describe('findBlock', () => {
	const pair = `${BEGIN}\nx\n${END}`;
	it.each([
		['start only', `a\n${BEGIN}\nb\n`, 2],
		['end only', `a\n\n${END}\n`, 3],
		['reversed', `${END}\nx\n${BEGIN}\n`, 1],
		['two pairs', `${pair}\n\n${pair}\n`, 5],
		['nested', `${BEGIN}\n${pair}\n${END}\n`, 2],
		['two ends', `${pair}\n${END}\n`, 4],
		['in a code fence', `a\n\`\`\`\n${pair}\n\`\`\`\n`, 3],
		['in a tilde fence', `~~~\n${pair}\n~~~\n`, 2],
		['end in a fence', `${BEGIN}\n\`\`\`\n${END}\n\`\`\`\n`, 3],
		['in a comment', `<!--\n${BEGIN.replace(' -->', '')}\n-->\n`, 2],
		['in raw HTML', `<div>\n${pair}\n</div>\n`, 2],
		['in a quote', `> ${BEGIN}\n> ${END}\n`, 1],
		['in a list', `- a\n  ${BEGIN}\n  ${END}\n`, 2],
		['lazily in a list', `- ${BEGIN}\n`, 1],
		['indented as code', `    ${BEGIN}\n    ${END}\n`, 1],
		['in a line of text', `See \`${BEGIN}\`.\n`, 1],
		['spelled otherwise', `<!--ccc:begin v1-->\n${END}\n`, 1],
		['without a version', `<!-- ccc:begin -->\n${END}\n`, 1],
		['with something after it', `${BEGIN} x\n${END}\n`, 1],
		['both in a line', `${BEGIN}${END}\n`, 1],
		['after a byte order mark and CRLF', `\ufeffa\r\n\r\n${BEGIN}\r\n`, 3],
		['after CR', `a\rb\r${BEGIN}\r`, 3],
	])('refuses marks %s, with the line', (_, text, line) => {
		for (const act of [findBlock, takeBlock, (content: Buffer) => put(content)]) {
			const { code, facts, exitCode } = errorOf(() => act(bytes(text), AT));
			expect([code, facts.at, facts.line, exitCode]).toEqual(['broken-block', AT, line, 1]);
		}
	});

	it('refuses a block of a newer ccc', () => {
		const { code, facts } = errorOf(() => put(bytes(`a\n${BEGIN.replace('v1', `v${BLOCK_VERSION + 1}`)}\n${END}\n`)));
		expect([code, facts.line]).toEqual(['newer-block', 2]);
	});

	it('refuses what the Markdown reader cannot take, with a line', () => {
		const { code, facts } = errorOf(() => put(bytes(`a\n${'> '.repeat(500)}a\n`)));
		expect([code, facts.line]).toEqual(['unreadable-markdown', 2]);
	});

	it('is not confused by other comments', () => {
		for (const text of [
			'<!-- ccc:beginning -->\n',
			'<!-- begin -->\n',
			'ccc:begin ccc:end\n',
			'<!-- CCC:BEGIN -->\n',
		]) {
			expect(findBlock(bytes(text), AT)).toBeUndefined();
		}
	});
});

describe('takeBlock', () => {
	it.each([
		['text after it', `a\n\nB\nmore\n`, 'a\nmore\n'],
		['text around it', `a\n\nB\n\nmore\n`, 'a\n\nmore\n'],
		['no empty line above', `a\nB\nmore`, 'a\nmore'],
		['text added to a file of ours', `B\n\nmine\n`, '\nmine\n'],
		['no final newline and no empty line above', `a\nB`, 'a\n'],
	])('leaves the rest where there is %s', (_, text, rest) => {
		expect(takeBlock(bytes(text.replace('B', NOTES.join('\n'))), AT)?.toString()).toBe(rest);
	});
});

const LINE_ENDS = fc.constantFrom('\n', '\r\n', '\r');
const content: fc.Arbitrary<Buffer> = fc.oneof(
	fc
		.tuple(fc.constantFrom('', '\ufeff'), hostileText(), LINE_ENDS)
		.map(([mark, text, end]) => Buffer.from(mark + text.replaceAll('\n', end))),
	fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
	fc
		.array(fc.constantFrom('\n', '\r', '\r\n', 'a', ' ', '\xff', '```\n', '<!--', '\t', '- '), { maxLength: 12 })
		.map((parts) => Buffer.from(parts.join(''), 'latin1')),
);

/** The value, or undefined for a refusal; other errors fail the test. */
function unlessRefused<T>(act: () => T): T | undefined {
	let result: T | undefined;
	try {
		result = act();
	} catch (error) {
		expect((error as { name?: string }).name).toBe('CccError');
	}
	return result;
}

describe('for any content', () => {
	it('render is idempotent, render and remove give the bytes before', () => {
		let written = 0;
		fc.assert(
			fc.property(content, (before) => {
				const after = unlessRefused(() => put(before));
				if (after === undefined) return;
				written += 1;
				expect(put(after)).toEqual(after);
				expect(after.subarray(0, before.length)).toEqual(before);
				expect(takeBlock(after, AT)).toEqual(before);
			}),
			{ numRuns: 300 },
		);
		expect(written).toBeGreaterThan(100);
	});

	it('no arrangement of marks costs a byte outside of a block', () => {
		const mark = fc.constantFrom(
			BEGIN,
			END,
			'<!-- ccc:begin v1 -->',
			'<!-- ccc:begin v9 -->',
			BEGIN.slice(0, 9),
			END.slice(3),
		);
		const other = fc.constantFrom('', '> ', '- ', '    ', '```', '<!--', '-->', 'word', '\xff');
		const line = fc.oneof(
			{ weight: 3, arbitrary: mark },
			{ weight: 3, arbitrary: other },
			{ weight: 1, arbitrary: fc.tuple(other, mark).map(([before, after]) => before + after) },
		);
		const part = fc.tuple(line, LINE_ENDS).map((pair) => pair.join(''));
		const parts = (most: number) => fc.array(part, { maxLength: most });
		const whole = fc
			.tuple(parts(2), fc.constantFrom('\n', '\r\n'), parts(1), parts(2))
			.map(([above, end, inside, below]) => [...above, `${BEGIN}${end}`, ...inside, `${END}${end}`, ...below]);
		let updated = 0;
		fc.assert(
			fc.property(fc.oneof(parts(6), whole), (parts) => {
				const before = Buffer.from(parts.join(''), 'latin1');
				const block = unlessRefused(() => findBlock(before, AT));
				const after = unlessRefused(() => put(before));
				const rest = unlessRefused(() => takeBlock(before, AT));
				if (after === undefined) return;
				if (block === undefined) {
					expect(after.subarray(0, before.length)).toEqual(before);
					expect(rest).toEqual(before);
					return;
				}
				updated += 1;
				const [head, tail] = [before.subarray(0, block.start), before.subarray(block.end)];
				expect(after.subarray(0, head.length)).toEqual(head);
				expect(after.subarray(after.length - tail.length)).toEqual(tail);
				expect(after.length).toBe(head.length + NOTES.join(block.lineEnd).length + tail.length);
				const visible = (buffer: Buffer) => buffer.toString('latin1').replace(/[\r\n]/g, '');
				expect(visible(rest ?? Buffer.alloc(0))).toBe(visible(Buffer.concat([head, tail])));
			}),
			{ numRuns: 1000 },
		);
		expect(updated).toBeGreaterThan(5);
	});
});
