import { describe, expect, it } from 'vitest';
import {
	saysNothing,
	saysResolved,
	severityIn,
	severityMeant,
	withoutLeadingTag,
} from '../../scripts/lib/run/finding-tags.ts';

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

describe('saysResolved', () => {
	it.each([
		...['P1: fixed', '**C12**: Fixed.', '**P1:** resolved', 'P1 addressed', 'C3 — resolved.', 'P1: **fixed**'].map(
			(text) => [text, true] as const,
		),
		...['P1: not fixed', 'P1 fixed, but x', 'P1 is fixed', 'P1: fixed in a.ts', 'P1: confirmed', 'P1', 'fixed'].map(
			(text) => [text, false] as const,
		),
		...['P1: unresolved', 'P1: fixed?', 'P1: fixed\nbut only half', 'P1: fixed P2', 'P1 - verified'].map(
			(text) => [text, false] as const,
		),
	])('%j: %s', (text, resolved) => {
		expect(saysResolved(text)).toBe(resolved);
	});
});

describe('severityMeant', () => {
	it.each([
		...['It does not work, [major] in my view.', 'This, which is [major] since x', '[major]', 'a `[major]` one'],
		...['All [major] findings are fixed.', 'not only [major]', 'This cannot be anything but [major].'],
		...['[major] None handling is broken', '[major]: none of the rows survive', 'no doubt, [major]'],
		...['No [minor] ones. But a [major] one.', 'no [major] one here, but a [major] one there'],
		...['[critical] deletes data', '(high) deletes data', '**Major**: deletes data', '**Blocker** It hangs'],
		...['1. **Critical:** x', 'P3: [severe] x', 'Severity: high', '**Severity:** Critical', 'MAJOR: x', '__High__: x'],
		...['Fine so far.\n**Critical issue:** x', 'Must-fix: x'],
		...['| major | deletes data |', '| 1 | **Critical** | x |', 'a | [high] | x', '| major | 0 rows survive |'],
	])('%j is major', (text) => {
		expect(severityMeant(text)).toBe('major');
	});

	it.each([
		...[
			'no [major] findings',
			'This is not a [major] problem',
			'not [major]',
			'without any [major] ones',
			'There are 0 [major] ones',
		],
		...['No [minor] or [major] findings', 'neither [minor] nor [major]', '[major] findings: none'],
		...['**[major]** findings: none.', 'a[high] is read twice', 'The high-level view', 'highly critical code'],
		...[
			'| Severity | Count |',
			'| major | 0 |',
			'|---|---|',
			'| Major | Minor |',
			'**Major**: none',
			'Critical: none.',
		],
	])('%j is of no weight', (text) => {
		expect(severityMeant(text)).toBeUndefined();
	});
});

describe('severityIn', () => {
	it.each([
		['[minor] a', 'minor'],
		['a [minor]', 'minor'],
		['`[minor]` a', 'minor'],
		['[minor] the `[major]` tag', 'major'],
		['[minor] not [major]', 'minor'],
		['[major]: none, [minor]: 2', 'minor'],
		['[minor] is it safe? no\n[major] it is not', 'major'],
		['[minor] [major]: 0.5 s are lost', 'major'],
		['[critical] [minor] a', 'major'],
		['[minor] a\n**Major**: b', 'major'],
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
