import { describe, expect, it } from 'vitest';
import { isMode, MODES, onDisagreement } from '../../scripts/lib/run/modes.ts';

describe('isMode', () => {
	it('knows the three words and nothing else', () => {
		expect(MODES.every(isMode)).toBe(true);
		for (const word of ['', 'Auto', 'AUTO', 'auto ', 'mode', 'toString']) expect(isMode(word)).toBe(false);
	});
});

/** The rows of the protocol's mode table that a review without approval leads to. */
describe('onDisagreement', () => {
	it.each([
		['NEEDS_CHANGES', true, 'next-version', 'next-version', 'next-version'],
		['BLOCKER', true, 'human-decision', 'human-decision', 'next-version'],
		['NEEDS_CHANGES', false, 'human-decision', 'human-decision', 'override'],
		['BLOCKER', false, 'human-decision', 'human-decision', 'override'],
	] as const)('%s, a version left: %s', (verdict, versionLeft, manual, normal, auto) => {
		expect(onDisagreement(verdict, versionLeft, 'manual')).toBe(manual);
		expect(onDisagreement(verdict, versionLeft, 'normal')).toBe(normal);
		expect(onDisagreement(verdict, versionLeft, 'auto')).toBe(auto);
	});
});
