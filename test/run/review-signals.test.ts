import { describe, expect, it } from 'vitest';
import { readReview, type Unreadable } from '../../scripts/lib/run/review-reading.ts';
import { read, readingOf } from '../support/reviews.ts';

describe('the READY line', () => {
	it.each([
		'READY: yes',
		'READY: yes  ',
		'READY:yes',
		'  READY: yes',
		'**READY: yes**',
		'**READY:** yes',
		'**READY**: yes',
		'READY: **yes**',
		'__READY: yes__',
		'## READY: yes',
		'READY: yes\n---',
		'READY: yes\n===',
		'---\nREADY: yes',
		'- [minor] a\nREADY: yes',
		'1. [minor] a\n\n   more\nREADY: yes',
		'- [minor] a\n  - b\nREADY: yes',
		'Verdict:\nREADY: yes',
		'Not READY: no\n\nREADY: yes',
		'I am READY: no\n\nREADY: yes',
		'> READY: no\n\nREADY: yes',
		'```\nREADY: no\n```\n\nREADY: yes',
		'~~~\nREADY: no\n~~~\nREADY: yes',
		'    READY: no\n\nREADY: yes',
		'<!-- READY: no -->\n\nREADY: yes',
		'<pre>\nREADY: no\n</pre>\n\nREADY: yes',
		'| READY: no |\n|---|\n\nREADY: yes',
		'The line `READY: no` is quoted.\n\nREADY: yes',
		'It prints `a\nREADY: no\nb` then.\n\nREADY: yes',
		'Text <!--\nREADY: no\n--> more\n\nREADY: yes',
		'- [minor] it prints\n  READY: no\n\nREADY: yes',
		'- [minor] it prints\n\n  READY: no\n\nREADY: yes',
		'READY: yes\n\nThat is all.',
		'\uFEFFREADY: yes',
		'## Findings\r\n\r\nNone.\r\n\r\nREADY: yes\r\n',
		'## Findings\r\rNone.\r\rREADY: yes\r',
		'Read `x` and ``y ` z``\nREADY: yes',
		'An open ` mark and an open <!-- mark\nREADY: yes',
	])('is found in %j', (text) => {
		const { ready, findings } = readingOf(text);
		expect(ready).toBe('yes');
		expect(findings.filter(({ severity }) => severity === 'major')).toEqual([]);
	});

	it.each<[string, string, number?]>([
		['', 'no-ready-line'],
		[' \n', 'no-ready-line'],
		['I approve this.', 'no-ready-line'],
		['Not READY: yes', 'no-ready-line'],
		['I am READY: yes', 'no-ready-line'],
		['> READY: yes', 'no-ready-line'],
		['> quoted\nREADY: yes', 'no-ready-line'],
		['```\nREADY: yes\n```', 'no-ready-line'],
		['```markdown\n## Findings\nNone.\n\nREADY: yes\n```', 'no-ready-line'],
		['## Findings\n```js\nx\n\nREADY: yes', 'no-ready-line'],
		['- [minor] a\n  ```\n  x\n  READY: yes', 'no-ready-line'],
		['    READY: yes', 'no-ready-line'],
		['<!--\nREADY: yes\n-->', 'no-ready-line'],
		['Text <!--\nREADY: yes\n--> more', 'no-ready-line'],
		['Text `code\nREADY: yes\nend` more', 'no-ready-line'],
		['<div>\nREADY: yes\n</div>', 'no-ready-line'],
		['| READY: yes |\n|---|', 'no-ready-line'],
		['- [minor] it prints\n  READY: yes', 'no-ready-line'],
		['It prints\n\tREADY: yes', 'no-ready-line'],
		['`READY: yes`', 'no-ready-line'],
		['- READY: yes', 'no-ready-line', 1],
		['## Findings\nNone.\n\n1. READY: yes', 'no-ready-line', 4],
		['- a\n  - **READY:** yes', 'no-ready-line', 2],
		['-\n  READY: yes', 'no-ready-line', 2],
		['- # READY: yes', 'no-ready-line', 1],
		['- READY: no\n\nREADY: yes', 'several-ready-lines', 3],
		['## Verdict\n- READY: no\nREADY: yes', 'several-ready-lines', 3],
		['[a]: b "\nREADY: yes\n"', 'no-ready-line'],
		['\\READY: yes', 'no-ready-line'],
		['READY : yes', 'no-ready-line'],
		['READY: yes|no', 'bad-ready-value'],
		['READY: Yes', 'bad-ready-value'],
		['READY: yes.', 'bad-ready-value'],
		['READY: yes, once the tests pass', 'bad-ready-value'],
		['READY: yes\nprovided that the tests pass', 'bad-ready-value'],
		['READY: maybe', 'bad-ready-value'],
		['READY:', 'bad-ready-value'],
		['READY:\u00a0yes', 'bad-ready-value'],
		['READY: yes\u2028but not now', 'bad-ready-value'],
		['Ready: yes', 'bad-ready-value'],
		['ready: **no**', 'bad-ready-value'],
		['READY: yes\n\nREADY: yes', 'several-ready-lines', 3],
		['READY: no\nREADY: yes', 'several-ready-lines', 2],
		['READY: yes\n\nReady: no', 'several-ready-lines', 3],
		['READY: yes\n\n- READY: yes', 'several-ready-lines', 3],
		['READY: no', 'no-reason', 1],
		['## Summary\n\n## Findings\nNone.\n\n## Questions\n\nREADY: no', 'no-reason', 8],
		['<!-- x -->\n\n---\n\nREADY: no', 'no-reason'],
		['BLOCKED: x\n\nREADY: yes', 'contradiction', 3],
		['BLOCKED: yes\n\nREADY: yes', 'contradiction'],
		['BLOCKED:\n\nREADY: no', 'blocked-without-reason', 1],
		['**BLOCKED:**\n\n- no key\n\nREADY: no', 'blocked-without-reason', 1],
		['a\0\n\nREADY: yes', 'nul-byte'],
		[`${'> '.repeat(40)}a\n\nREADY: yes`, 'too-nested'],
	])('%j is not readable: %s', (text, code, line) => {
		expect(read(text)).toMatchObject({ unreadable: { code, ...(line === undefined ? {} : { line }) } });
		const { unreadable } = read(text) as { unreadable: Unreadable };
		expect(unreadable.found).toBeTruthy();
		expect(unreadable.expected).toBeTruthy();
	});

	it('cannot be read from bytes that are not UTF-8', () => {
		const bytes = Buffer.concat([Buffer.from('READY: yes\n'), Buffer.from([0xff, 0xfe])]);
		expect(readReview(bytes)).toMatchObject({ unreadable: { code: 'not-utf8', line: 2 } });
	});

	it('a diff in a fence decides nothing, whatever it holds', () => {
		const text = [
			'## Findings',
			'',
			'- [minor] The sample answer is out of date:',
			'',
			'  ```diff',
			'  -READY: yes',
			'  +READY: no',
			'  READY: no',
			'  ## Findings',
			'  - [major] quoted',
			'  BLOCKED: quoted',
			'  ```',
			'',
			'READY: yes',
		].join('\n');
		const reading = readingOf(text);
		expect(reading).toMatchObject({ ready: 'yes', blocked: [] });
		expect(reading.findings.map(({ severity }) => severity)).toEqual(['minor']);
		expect(reading.findings[0]?.text).toContain('- [major] quoted');
	});
});
