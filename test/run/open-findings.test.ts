import { describe, expect, it } from 'vitest';
import { findingsOfArtifact, nextFindingNumber } from '../../scripts/lib/run/open-findings.ts';

const of = (findings: string) =>
	findingsOfArtifact(Buffer.from(`# Plan v0 Review\n\n## Findings\n\n${findings}\n\n## Verdict\n`));

describe('findingsOfArtifact', () => {
	it('reads items with an id and a severity, whole', () => {
		expect(of('- P1 [major] a\u2028x\n  b\n\n  ```\n    c\n  ```\n* P12 [minor] d\n\n+ C3 [minor]')).toEqual([
			{ id: 'P1', severity: 'major', text: 'a\u2028x\nb\n\n```\n  c\n```' },
			{ id: 'P12', severity: 'minor', text: 'd' },
			{ id: 'C3', severity: 'minor', text: '' },
		]);
	});

	it.each([
		'None.',
		'- [major] without an id',
		'- P0 [major] a',
		'- P01 [major] a',
		'- P1 [severe] a',
		'- P1: [major] a',
		'- Q1 [major] a',
		'> - P1 [major] quoted',
		'```\n- P1 [major] code\n```',
		'<!--\n- P1 [major] comment\n-->',
		'P1 [major] prose',
		'### Others\n\ntext',
	])('finds none in %j', (findings) => {
		expect(of(findings)).toEqual([]);
	});

	it('looks under Findings only', () => {
		const artifact = '# R\n\n## Summary\n\n- P1 [major] a\n\n# Findings\n\n- P2 [major] b\n';
		expect(findingsOfArtifact(Buffer.from(artifact))).toEqual([]);
	});

	it('reads CRLF like LF, and nothing from what cannot be read', () => {
		const crlf = '## Findings\r\n\r\n- P1 [major] a\r\n  b\r\n';
		expect(findingsOfArtifact(Buffer.from(crlf))).toEqual([{ id: 'P1', severity: 'major', text: 'a\nb' }]);
		expect(findingsOfArtifact(Buffer.from([0xff, 0xfe]))).toEqual([]);
		expect(findingsOfArtifact(Buffer.from(''))).toEqual([]);
	});
});

describe('nextFindingNumber', () => {
	it.each([
		[[], 1],
		[['P1', 'P2'], 3],
		[['P10', 'P9'], 11],
		[['C7'], 8],
	])('after %j: %i', (ids, number) => {
		expect(nextFindingNumber(ids)).toBe(number);
	});
});
