import { describe, expect, it } from 'vitest';
import { titleKind } from '../../scripts/lib/run/finding-titles.ts';

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
		...['Summary of findings'],
	])('%j stands over findings', (title) => {
		expect(titleKind(title)).toBe('findings');
	});

	it.each(['Issue 1: rows get lost', 'Bug: it hangs', '3. Problem with the loop'])('%j is one', (title) => {
		expect(titleKind(title)).toBe('finding');
	});

	it.each([
		['Summary', 'summary'],
		['1. **Overview**', 'summary'],
		['Questions:', 'questions'],
		['Open questions', 'questions'],
		['Tests to Add', 'tests'],
		['Verdict', 'aside'],
		['Strengths', 'aside'],
		['What works well', 'aside'],
		['What works badly', 'other'],
		['What I checked', 'aside'],
		['Resolved findings', 'aside'],
		['Fixed issues', 'aside'],
	])('untagged text under %j is no objection', (title, kind) => {
		expect(titleKind(title)).toBe(kind);
	});

	it.each([
		...['Debugging', 'Review', 'What changed', '', 'Rows get lost', 'Correctness', 'Style', 'Summary is wrong'],
		...['Tests', 'Tests are missing', 'Missing tests', 'Fixed-size buffers overflow', 'Not resolved', 'Questionable'],
	])('%j excuses nothing', (title) => {
		expect(titleKind(title)).toBe('other');
	});
});
