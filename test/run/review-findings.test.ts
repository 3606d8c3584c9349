import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attestVerdict } from '../../scripts/lib/run/attest.ts';
import { findingsOf, NO, read, readingOf, YES } from '../support/reviews.ts';

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
		['no headings at all', '- [minor] a\n- [minor] b', ['minor: a', 'minor: b']],
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
		['paragraphs as headings', '**Findings**\n\n- a\n\n**Questions:**\n\n- why?', ['major: a']],
		['items under any heading', '## Correctness\n- a\n\n## Style\n- [minor] b', ['major: a', 'minor: b']],
		[
			'an item that tells of an id',
			'- C1: I verified that it deletes rows.',
			['major: C1: I verified that it deletes rows.'],
		],
		[
			'a confirmation',
			'## Findings\n- P1: confirmed, it is real\n- [minor] b',
			['major: P1: confirmed, it is real', 'minor: b'],
		],
		['other words of severity', '[critical] a\n\n**Major**: b', ['major: [critical] a', 'major: **Major**: b']],
		['a heading by severity', '### Critical: a\n\nb', ['major: Critical: a\n\nb']],
		[
			'a tag after other words of denial',
			'It does not run, [major] in my view.',
			['major: It does not run, [major] in my view.'],
		],
		['a tag in the summary', '## Summary\nOne thing is [major]: a', ['major: One thing is [major]: a']],
		['a tag in HTML', '<details>\n[major] a\n</details>', ['major: a\n</details>']],
		[
			'a table without brackets',
			'| Severity | What |\n|---|---|\n| major | a |\n| nit | b |',
			['major: | major | a |', 'major: | nit | b |'],
		],
		[
			'a minor heading that others follow',
			'# [minor] Naming\n\nb\n\n## Safety\n- c',
			['minor: Naming\n\nb', 'major: c'],
		],
		[
			'a recap of what is fixed',
			'## Summary\nAll [major] findings are fixed.',
			['major: All [major] findings are fixed.'],
		],
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
		['what is quoted', '> - [major] a\n\n```\n- [major] b\n```\n\n<!--\n- [major] c\n-->\n\n    - [major] d'],
		['an earlier finding that is done with', '## Findings\n- P1: fixed\n- **P2**: addressed\n- C3 — resolved.'],
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

	it.each([
		['an introduction', 'Two small ones:\n\n- [minor] a', 'Two small ones:'],
		['what goes on behind a minor finding', '- [minor] a\n\nRows get lost.', 'a\n\nRows get lost.'],
		['text under any heading', '## Safety\nRows get lost.\n\n## Findings\n- [minor] a', 'Rows get lost.'],
	])('lets prose of unstated weight count in a refusal only: %s', (_, text, words) => {
		expect(readingOf(`${text}${YES}`).findings.map(({ severity }) => severity)).toEqual(['minor']);
		expect(findingsOf(`${text}${NO}`)).toContain(`major: ${words}`);
	});

	it.each([
		['## Correctness\n- Deletes user data.\n\n## Style\n- [minor] naming', NO],
		['## Correctness\n- Deletes user data.', YES],
		['## Findings\n- P1: confirmed, the crash is real\n- [minor] naming', NO],
		['- C1: I verified that it deletes the database.', YES],
		['[critical] deletes data', YES],
		['**Major**: deletes data', YES],
		['It does not work for empty input, [major] in my view.', YES],
		['- [minor] naming\n\nThe parser does not check bounds, which is [major] since x.', YES],
		['| major | deletes data |', YES],
	])('is not approved where no version is left: %j', (text, end) => {
		expect(attestVerdict(readingOf(`${text}${end}`), false, 'normal')).toBe('NEEDS_CHANGES');
	});

	it('reads what stands behind a comment that nothing ends', () => {
		expect(findingsOf('READY: yes\n\n<!-- [major] rows get lost')).toEqual(['major: <!-- [major] rows get lost']);
	});

	it('keeps each line of a review somewhere', () => {
		const blocks = fc.constantFrom(
			...['# Review', '## Summary', '## Findings', '## Tests to Add', '## Strengths', '## Safety', '### [minor] W'],
			...[
				'**Questions**',
				'W',
				'W:',
				'- W',
				'- [minor] W',
				'- P1: fixed\n- W',
				'1. W\n   - W',
				'[minor] W',
				'> W',
				'---',
			],
			...['```\nW\n```', '<b>\nW\n</b>', '| W | minor |\n|---|---|\n| minor | W |\n| x | W |', 'W\n[major] W'],
		);
		fc.assert(
			fc.property(fc.array(blocks, { maxLength: 8 }), fc.constantFrom(YES, NO), (parts, end) => {
				let count = 0;
				const text = parts.join('\n\n').replace(/W/g, () => `w${++count}w`);
				const result = read(`${text}${end}`);
				if ('unreadable' in result) return;
				const { findings, summary, questions, testsToAdd } = result.reading;
				const kept = [...findings.map((finding) => finding.text), summary, questions, testsToAdd].join('\n');
				for (let word = 1; word <= count; word++) expect(kept).toContain(`w${word}w`);
			}),
			{ numRuns: 300 },
		);
	});
});
