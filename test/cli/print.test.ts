import { describe, expect, it } from 'vitest';
import { printable } from '../../scripts/ccc/print.ts';
import { makeSandbox } from '../support/sandbox.ts';

describe('printable', () => {
	it.each([
		['an escape sequence', '\u001b[2J'],
		['a C1 control', '\u009b2J'],
		['a change of writing direction', '\u202e'],
		['an isolate', '\u2066'],
		['a zero-width space', '\u200b'],
		['a byte order mark', '\ufeff'],
		['a tag character', '\u{e0041}'],
	])('takes away %s', (_, hostile) => {
		const shown = printable(`a${hostile}b`);
		expect(shown).not.toContain(hostile);
		expect(shown).toMatch(/^a\ufffd.*b$/);
	});

	it('keeps lines, tabs and letters of every script', () => {
		const text = 'é\tя\n漢字 עברית 🙂';
		expect(printable(text)).toBe(text);
	});
});

it('the supervisor of a call that is not there says so without a stack trace', async () => {
	const box = await makeSandbox();
	const { code, stderr } = await box.ccc(['supervise', 'nowhere']);
	expect(code).not.toBe(0);
	expect(stderr).toMatch(/\[[a-z-]+\]/);
	expect(stderr).not.toMatch(/^ {4}at /m);
});
