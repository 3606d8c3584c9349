import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attestVerdict, type Finding, type Reading } from '../../scripts/lib/run/attest.ts';
import { MODES, type Mode } from '../../scripts/lib/run/modes.ts';

const minor: Finding = { severity: 'minor', text: 'a name' };
const major: Finding = { severity: 'major', text: 'a loss' };

function reading(ready: 'yes' | 'no', findings: Finding[], blocked: string[] = []): Reading {
	return { ready, findings, blocked, summary: '', questions: '', testsToAdd: '' };
}

/** Columns: a version left; none left in manual, normal and auto mode. */
const TABLE: [string, Reading, string, string, string, string][] = [
	['yes, nothing', reading('yes', []), 'APPROVE', 'APPROVE', 'APPROVE', 'APPROVE'],
	[
		'yes, minor',
		reading('yes', [minor, minor]),
		...(Array(4).fill('APPROVE_WITH_MINOR_COMMENTS') as [string, string, string, string]),
	],
	[
		'yes, major',
		reading('yes', [minor, major]),
		...['NEEDS_CHANGES', 'NEEDS_CHANGES', 'NEEDS_CHANGES', 'APPROVE_AUTO_OVERRIDE'],
	] as [string, Reading, string, string, string, string],
	[
		'no, minor',
		reading('no', [minor]),
		'NEEDS_CHANGES',
		'APPROVE_WITH_MINOR_COMMENTS',
		'APPROVE_WITH_MINOR_COMMENTS',
		'APPROVE_AUTO_OVERRIDE',
	],
	['no, major', reading('no', [major]), 'NEEDS_CHANGES', 'NEEDS_CHANGES', 'NEEDS_CHANGES', 'APPROVE_AUTO_OVERRIDE'],
	['no, blocked', reading('no', [], ['x']), 'BLOCKER', 'BLOCKER', 'BLOCKER', 'APPROVE_AUTO_OVERRIDE'],
	['no, blocked, major', reading('no', [major], ['x']), 'BLOCKER', 'BLOCKER', 'BLOCKER', 'APPROVE_AUTO_OVERRIDE'],
	['no, blocked, minor', reading('no', [minor], ['x']), 'BLOCKER', 'BLOCKER', 'BLOCKER', 'APPROVE_AUTO_OVERRIDE'],
	['yes, blocked', reading('yes', [], ['x']), 'BLOCKER', 'BLOCKER', 'BLOCKER', 'APPROVE_AUTO_OVERRIDE'],
];

describe('attestVerdict', () => {
	it.each(TABLE)('%s', (_, said, left, manual, normal, auto) => {
		for (const mode of MODES) expect(attestVerdict(said, true, mode)).toBe(left);
		expect(attestVerdict(said, false, 'manual')).toBe(manual);
		expect(attestVerdict(said, false, 'normal')).toBe(normal);
		expect(attestVerdict(said, false, 'auto')).toBe(auto);
	});

	it('approves by itself only what the reviewer called ready, or minor at the end of the rounds', () => {
		const findings = fc.array(fc.constantFrom(minor, major), { maxLength: 4 });
		const blocked = fc.array(fc.constant('x'), { maxLength: 1 });
		fc.assert(
			fc.property(
				fc.constantFrom<'yes' | 'no'>('yes', 'no'),
				findings,
				blocked,
				fc.boolean(),
				fc.constantFrom<Mode>(...MODES),
				(ready, list, reasons, versionLeft, mode) => {
					const verdict = attestVerdict(reading(ready, list, reasons), versionLeft, mode);
					const heavy = list.includes(major) || reasons.length > 0;
					if (verdict === 'APPROVE') expect([ready, list.length, reasons.length]).toEqual(['yes', 0, 0]);
					if (verdict === 'APPROVE_WITH_MINOR_COMMENTS') expect(heavy).toBe(false);
					if (verdict === 'APPROVE_AUTO_OVERRIDE') expect([mode, versionLeft]).toEqual(['auto', false]);
					if (heavy) expect(['NEEDS_CHANGES', 'BLOCKER', 'APPROVE_AUTO_OVERRIDE']).toContain(verdict);
				},
			),
		);
	});
});
