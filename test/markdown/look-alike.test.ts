import { describe, expect, it } from 'vitest';
import { describeLookAlike, looksLike } from '../../scripts/lib/markdown/look-alike.ts';
import { quoted } from '../../scripts/lib/markdown/quoted.ts';

describe('a look-alike', () => {
	it.each([
		['Verification\u00A0Plan', 'Verification Plan', "'Verification Plan' with a no-break space (U+00A0)"],
		['Sc\u200Bope', 'Scope', "'Scope' with a zero-width space (U+200B)"],
		['Sсope', 'Scope', "'Sсope' with the Cyrillic letter с (U+0441)"],
		['**Scope**', 'Scope', "'**Scope**' with emphasis, code or link marks"],
		['SCOPE', 'Scope', "'SCOPE' in other letter case"],
		['Files  and Areas', 'Files and Areas', "'Files  and Areas', spelled otherwise"],
	])('%j of %j is described', (text, expected, description) => {
		expect(looksLike(text, expected)).toBe(true);
		expect(describeLookAlike(text, expected)).toBe(description);
	});

	it('is not the word itself or another word', () => {
		expect(looksLike('Scope', 'Scope')).toBe(false);
		expect(looksLike('Scopes', 'Scope')).toBe(false);
	});
});

describe('quoted', () => {
	it('shows what a terminal would obey or hide, and cuts', () => {
		expect(quoted('a\u001B[31m\n\u202E\u00A0b')).toBe("'a\\u{1B}[31m\\u{A}\\u{202E}\\u{A0}b'");
		expect(quoted('abcdef', 3)).toBe("'abc…'");
	});
});
