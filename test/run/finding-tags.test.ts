import { describe, expect, it } from 'vitest';
import {
	reportsResolved,
	saysNothing,
	severityIn,
	titleKind,
	withoutLeadingTag,
} from '../../scripts/lib/run/finding-tags.ts';

describe('titleKind', () => {
	it.each([
		...[
			'Findings',
			'findings:',
			'2. Findings',
			'**Findings**',
			'Major issues (3)',
			'Open problems in the plan',
			'Minor',
		],
		...[
			'Blocking',
			'Required changes',
			'Must-fix',
			'Nits',
			'High priority',
			'Previous findings',
			'Issue',
			'Key problem',
		],
	])('%j stands over findings', (title) => {
		expect(titleKind(title)).toBe('group');
	});

	it.each(['Issue 1: rows get lost', 'Bug: it hangs', '3. Problem with the loop'])('%j is one', (title) => {
		expect(titleKind(title)).toBe('single');
	});

	it.each([
		...[
			'Summary',
			'Summary of findings',
			'Questions',
			'Open questions',
			'Tests to Add',
			'Verdict',
			'Resolved findings',
		],
		...['Fixed issues', 'Debugging', 'Review', 'What changed', '', 'Rows get lost'],
	])('%j is neither', (title) => {
		expect(titleKind(title)).toBe('other');
	});
});

describe('saysNothing', () => {
	it.each([
		'No findings, but rows get lost.',
		'None of the rows survive.',
		'Nothing guards the loop.',
		'No.',
		'No issues found. However, x.',
		'none\nbut this',
		'no problem handling is done here',
		'',
	])('not by %j', (text) => {
		expect(saysNothing(text)).toBe(false);
	});
});

describe('reportsResolved', () => {
	it.each([
		['P1: fixed', true],
		['**C12** verified in the diff', true],
		['P1: not fixed', false],
		['P1 fixed, but x', false],
		['P1 is still open', false],
		["P1 wasn't fixed", false],
		['P1 is only partly addressed', false],
		['P1: unresolved', false],
		['The fixed size P1', false],
		['P1', false],
	])('%j: %s', (text, resolved) => {
		expect(reportsResolved(text)).toBe(resolved);
	});
});

describe('severityIn', () => {
	it.each([
		['[minor] a', 'minor'],
		['a [minor]', 'minor'],
		['`[minor]` a', 'minor'],
		['[minor] the `[major]` tag', 'minor'],
		['[minor] [major]', 'major'],
		['the `[minor]` tag', 'major'],
		['minor: a', 'major'],
		['(minor) a', 'major'],
		['[minör] a', 'major'],
		['', 'major'],
	] as const)('%j: %s', (text, severity) => {
		expect(severityIn(text)).toBe(severity);
	});
});

describe('withoutLeadingTag', () => {
	it.each([
		['[major] a', 'a'],
		['[minor]: a', 'a'],
		['**[major]** a', 'a'],
		['**[major]:** a', 'a'],
		['**[major]**: a', 'a'],
		['**[major] a** b', '**a** b'],
		['_[minor] a_', '_a_'],
		['[major]*a*', '*a*'],
		['[major] - a', '- a'],
		['[major]', ''],
		['a [major]', 'a [major]'],
		['[major] [minor] a', '[minor] a'],
	])('%j: %j', (text, rest) => {
		expect(withoutLeadingTag(text)).toBe(rest);
	});
});
