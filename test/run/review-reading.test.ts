import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDocument } from '../../scripts/lib/markdown/document.ts';
import { attestVerdict, type Reading } from '../../scripts/lib/run/attest.ts';
import { readReview, type Unreadable } from '../../scripts/lib/run/review-reading.ts';

type Read = { reading: Reading } | { unreadable: Unreadable };
const read = (text: string): Read => readReview(Buffer.from(text));

function readingOf(text: string): Reading {
	const result = read(text);
	if ('unreadable' in result) throw new Error(`unreadable: ${JSON.stringify(result.unreadable)}`);
	return result.reading;
}

/** `major: text`, with newlines as they are. */
const findingsOf = (text: string): string[] =>
	readingOf(text).findings.map((finding) => `${finding.severity}: ${finding.text}`);

const YES = '\n\nREADY: yes\n';
const NO = '\n\nREADY: no\n';

describe('findings, as models write them', () => {
	it.each<[string, string, string[]]>([
		['tagged items', '## Findings\n- [major] a\n- [minor] b', ['major: a', 'minor: b']],
		['other bullets and letter case', '## Findings\n* [Major] a\n+ [MINOR]: b', ['major: a', 'minor: b']],
		['numbers and bold tags', '## Findings\n1. **[minor]** a\n2. **[major]:** b', ['minor: a', 'major: b']],
		['a bold title with the tag in it', '- **[major] Off by one.** The loop.', ['major: **Off by one.** The loop.']],
		['a tag as code', '## Findings\n- `[minor]` a', ['minor: a']],
		['a tag with escapes', '## Findings\n- \\[minor\\] a', ['minor: a']],
		['a tag at the end', '## Findings\n- a [minor]\n- b [major].', ['minor: a [minor]', 'major: b [major].']],
		['an id of an earlier review', '## Findings\n- P3 [minor] a', ['minor: P3 [minor] a']],
		['no headings at all', 'Two small ones:\n\n- [minor] a\n- [minor] b', ['minor: a', 'minor: b']],
		['untagged items without headings', '- a\n- b', ['major: a', 'major: b']],
		['an untagged item under the heading', '## Findings\n- [minor] a\n- b', ['minor: a', 'major: b']],
		['a list with a tag under an unknown heading', '## Review\n- [minor] a\n- b', ['minor: a', 'major: b']],
		['an untagged list elsewhere', '## What I read\n- the plan\n\n## Findings\n- [minor] a', ['minor: a']],
		['a tagged item elsewhere', '## Tests\n- [major] none for x\n\n## Findings\nNone.', ['major: none for x']],
		['both tags', '## Findings\n- [minor] a, or [major]', ['major: a, or [major]']],
		['a nested list with tags', '- [minor] a\n  - [major] b', ['major: a\n- [major] b']],
		['a nested list', '## Findings\n- [minor] a\n  - b\n  - c', ['minor: a\n- b\n- c']],
		[
			'a code fence in an item',
			'- [major] a\n  ```js\n  [minor] x\n\n    y\n  ```\n  z',
			['major: a\n```js\n[minor] x\n\n  y\n```\nz'],
		],
		['a tag in a fence only', '## Findings\n- a\n  ```\n  [minor]\n  ```', ['major: a\n```\n[minor]\n```']],
		['a tag in a quote only', '## Findings\n- a\n  > [minor] q', ['major: a\n> [minor] q']],
		['a tag in inline code only', '## Findings\n- the tag `[minor]` is lost', ['major: the tag `[minor]` is lost']],
		['paragraphs of an item', '- [major] a\n\n  b\n\n  c', ['major: a\n\nb\n\nc']],
		['a fence that its item does not close', '- [major] a\n  ```\n  b\n- [minor] c', ['major: a\n```\nb', 'minor: c']],
		['lazy lines', '- [major] a\nb\n- [minor] c', ['major: a\nb', 'minor: c']],
		['deep indentation', '10. [major] a\n    b\n      c', ['major: a\nb\n  c']],
		['tabs', '-\t[major] a\n\n\tb', ['major: a\n\nb']],
		['tagged paragraphs', '[major] a\nmore\n\n[minor] b', ['major: a\nmore', 'minor: b']],
		['tagged lines of one paragraph', 'Two:\n[major] a\n[minor] b\nmore', ['major: a', 'minor: b\nmore']],
		[
			'a paragraph with the tag at its end',
			'## Findings\nRows get lost. [major]\n\nA typo. [minor]',
			['major: Rows get lost. [major]', 'minor: A typo. [minor]'],
		],
		[
			'a tag within a sentence',
			'There is one [major] problem: rows get lost.',
			['major: There is one [major] problem: rows get lost.'],
		],
		[
			'tagged headings own what follows',
			'### [major] a\n\nb\n\n- c\n\n### [minor] d\n\ne',
			['major: a\n\nb\n\n- c', 'minor: d\n\ne'],
		],
		[
			'numbered tagged headings',
			'## Findings\n### 1. [major] a\nb\n### 2. **[minor]** c',
			['major: 1. [major] a\n\nb', 'minor: 2. **[minor]** c'],
		],
		[
			'a tagged heading with items',
			'### [minor] Naming\n- [minor] a\n- [minor] b',
			['minor: Naming\n\n- [minor] a\n- [minor] b'],
		],
		[
			'untagged headings under the heading',
			'## Findings\n### Off by one\nThe loop.\n### Naming\nA name.',
			['major: Off by one\n\nThe loop.', 'major: Naming\n\nA name.'],
		],
		['an untagged heading alone', '## Findings\n### Rows get lost', ['major: Rows get lost']],
		[
			'numbered issues',
			'## Issue 1: rows get lost\nHow.\n\n## Issue 2: names',
			['major: Issue 1: rows get lost\n\nHow.', 'major: Issue 2: names'],
		],
		[
			'headings by severity',
			'## Findings\n### Major\n- a\n### Minor\n- [minor] b\n### Low\nNone.',
			['major: a', 'minor: b'],
		],
		[
			'prose by severity',
			'## Findings\n### Critical\nRows get lost.\n### Minor\n- [minor] b',
			['major: Rows get lost.', 'minor: b'],
		],
		[
			'headings by severity at the top',
			'## Major issues (1)\n- a\n\n## Minor issues\n- [minor] b',
			['major: a', 'minor: b'],
		],
		[
			'headings by topic over tagged items',
			'## Findings\n### Safety\n- [major] a\n### Style\n- [minor] b',
			['major: a', 'minor: b'],
		],
		['a topic without findings', '## Findings\n### Safety\nNone.\n### Style\n- [minor] b', ['minor: b']],
		[
			'other names of the heading',
			'# Review\n\n## Required changes\n1. a\n\n## Nits\n- [minor] b',
			['major: a', 'minor: b'],
		],
		['a bold heading', '## **Findings**\n- a', ['major: a']],
		['a setext heading', 'Findings\n---\n- a', ['major: a']],
		[
			'blocks that were not indented into their item',
			'1. **[major] Loop**\n\nIt runs on.\n\n```\nx\n```\n\n2. [minor] b\n\nA name.',
			['major: **Loop**\n\nIt runs on.\n\n```\nx\n```', 'minor: b\n\nA name.'],
		],
		[
			'an afterthought with more weight',
			'- [minor] a\n\nOn second thought this is a [major] one.',
			['major: a\n\nOn second thought this is a [major] one.'],
		],
		['prose under the heading', '## Findings\n\nRows get lost.\n\nThey do.', ['major: Rows get lost.\n\nThey do.']],
		['a quotation under the heading', '## Findings\n\n> rows get lost', ['major: > rows get lost']],
		['a paragraph with a rule below it', '## Findings\nRows get lost.\n---\n', ['major: Rows get lost.']],
		[
			'a table',
			'## Findings\n| # | Severity | What |\n|---|---|---|\n| 1 | [major] | a |\n| 2 | [minor] | b |',
			['major: | 1 | [major] | a |', 'minor: | 2 | [minor] | b |'],
		],
		['a table without tags', '## Findings\n\n| What |\n|---|\n| a |', ['major: | What |\n|---|\n| a |']],
		['an open item', '## Findings\n- [ ] [minor] a', ['minor: [ ] [minor] a']],
		[
			'an answer that failed',
			'## Previous findings\n- P1: not fixed\n- P2 (fixed, but only half)',
			['major: P1: not fixed', 'major: P2 (fixed, but only half)'],
		],
		['an introduction by colon', '## Findings\nTwo small ones:\n- [minor] a\n- [minor] b', ['minor: a', 'minor: b']],
	])('%s', (_, text, findings) => {
		expect(findingsOf(`${text}${YES}`)).toEqual(findings);
		expect(findingsOf(`${text}${NO}`)).toEqual(findings);
	});

	it.each([
		...['None', 'None.', 'none', '*None.*', '**None**', '(none)', 'N/A', 'Nothing.', 'Nothing to report.'],
		...[
			'No findings.',
			'No issues found.',
			'No new findings.',
			'No major or minor findings.',
			'There are no problems.',
		],
		...[
			'I found no issues.',
			'I have no [major] findings.',
			'There are no [major] or [minor] findings.',
			'I see no concerns',
		],
	])('%j lists nothing, in each place', (nothing) => {
		for (const text of [
			`## Findings\n${nothing}`,
			`## Findings\n\n- ${nothing}`,
			`## Findings\n- [major] ${nothing}\n- [minor] ${nothing}`,
			`## Findings\n### Major\n${nothing}\n### Minor\n- ${nothing}`,
			`## Findings\n### Safety\n${nothing}\n### Style\n- ${nothing}`,
			nothing,
		]) {
			expect(readingOf(`${text}${YES}`)).toMatchObject({ ready: 'yes', findings: [] });
			expect(read(`${text}${NO}`)).toMatchObject({ unreadable: { code: 'no-reason' } });
		}
	});

	it.each([
		['a denial in the summary', '## Summary\n- No [major] issues, two [minor] nits seen\n\n## Findings\nNone.'],
		['a denial in prose', '## Summary\nAll [major] findings are fixed.\n\n## Findings\nNone.'],
		['what is quoted', '> - [major] a\n\n```\n- [major] b\n```\n\n<!--\n- [major] c\n-->\n\n    - [major] d'],
		[
			'an earlier finding that is done with',
			'## Findings\n- P1: fixed\n- **P2** verified in the diff\n- C3 — resolved.',
		],
		['questions', '## Findings\nNone.\n\n## Questions\n- why?\n\n## Tests to Add\n- one for x'],
		['a list of what was read, under a heading of its own', '## Checked\n- the types\n- the tests'],
	])('%s is no finding', (_, text) => {
		expect(findingsOf(`${text}${YES}`)).toEqual([]);
	});

	it('keeps an introduction beside minor findings in the summary, and lets it weigh in a refusal', () => {
		const text = '## Summary\nShort.\n\n## Findings\nRows may get lost.\n\n- [minor] a';
		expect(readingOf(`${text}${YES}`)).toMatchObject({
			findings: [{ severity: 'minor', text: 'a' }],
			summary: 'Short.\n\nRows may get lost.',
		});
		expect(findingsOf(`${text}${NO}`)).toEqual(['major: Rows may get lost.', 'minor: a']);
		expect(readingOf(`${text}\n- [major] b${NO}`).summary).toBe('Short.\n\nRows may get lost.');
	});
});

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
		'- READY: yes',
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
