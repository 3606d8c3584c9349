import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration } from '../../scripts/lib/kit/duration.ts';

describe('formatDuration', () => {
	it.each([
		[0, '0.0 s'],
		[400, '0.4 s'],
		[9_949, '9.9 s'],
		[9_950, '10 s'],
		[12_000, '12 s'],
		[59_499, '59 s'],
		[59_500, '1 min 00 s'],
		[185_000, '3 min 05 s'],
		[3_599_499, '59 min 59 s'],
		[3_599_500, '1 h 00 min'],
		[3_720_000, '1 h 02 min'],
		[7_199_000, '2 h 00 min'],
		[100 * 3_600_000, '100 h 00 min'],
		[-5, '0.0 s'],
		[Number.NaN, '0.0 s'],
		[Number.POSITIVE_INFINITY, '0.0 s'],
	])('%d ms is %s', (ms, text) => {
		expect(formatDuration(ms)).toBe(text);
	});

	it('never shows sixty of anything', () => {
		fc.assert(
			fc.property(fc.nat(10 ** 9), (ms) => {
				expect(formatDuration(ms)).toMatch(/^(\d\.\d s|[1-5]\d s|[1-5]?\d min [0-5]\d s|\d+ h [0-5]\d min)$/);
			}),
		);
	});
});
