import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claudeError, codexError, codexTokens, lastWords } from '../../scripts/lib/agents/last-words.ts';

describe('lastWords', () => {
	it('is safe and short whatever was said', () => {
		const nasty = fc.constantFrom(
			'\u001b[31m',
			'\u001b]0;t\u0007',
			'\u0000',
			'\r\n',
			'\u202e',
			'\u009b1m',
			'я',
			'😀',
			'a b ',
		);
		fc.assert(
			fc.property(fc.array(fc.oneof(nasty, fc.string({ unit: 'binary' })), { maxLength: 400 }), (parts) => {
				const words = lastWords(parts.join(''));
				expect([...words].length).toBeLessThanOrEqual(600);
				expect(words).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u);
				expect(lastWords(words)).toBe(words);
			}),
		);
	});

	it('keeps the end, on one line, without the visible half of an escape sequence', () => {
		expect(lastWords(`${'x'.repeat(5000)} the end`)).toMatch(/^x{592} the end$/);
		expect(lastWords('\u001b[1;31mred\u001b[0m\n\tnext\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\')).toBe(
			'red nextlink',
		);
		expect(lastWords('😀'.repeat(700))).toBe('😀'.repeat(600));
	});
});

describe('codexError', () => {
	const banner =
		'OpenAI Codex v0.147.0\n--------\nuser\nERROR: usage limit, not logged in\n\nexec\nOperation not permitted\n';

	it('is what follows the last line that begins as an error', () => {
		expect(codexError(`${banner}ERROR: Reconnecting... 1/1\nERROR: unexpected status 401 Unauthorized\n`)).toBe(
			'ERROR: unexpected status 401 Unauthorized',
		);
		expect(codexError("error: unexpected argument '--x' found\n\n  tip: y\n")).toContain('tip: y');
	});

	it('is the last lines where nothing begins as an error', () => {
		expect(codexError('Not inside a trusted directory and --skip-git-repo-check was not specified.\n')).toMatch(/^Not/);
		expect(codexError('')).toBe('');
	});
});

it('claudeError is stdout, and stderr where stdout is silent', () => {
	expect(claudeError('API Error: 500\n', 'warning')).toBe('API Error: 500\n');
	expect(claudeError(' \n', 'error: unknown option')).toBe('error: unknown option');
});

it.each([
	['tokens used\n1,234\n', 1234],
	['tokens used\n110', 110],
	['tokens used: 12.345\n', 12_345],
	['user\ntokens used\n5\nmore\ntokens used\n7\n', 7],
	['no tokens used here\n5', undefined],
	['', undefined],
])('codexTokens of %j is %s', (stderr, tokens) => {
	expect(codexTokens(stderr)).toBe(tokens);
});
