import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePath, encodePath, isWithin, joinPaths, showPath, splitFields } from '../../scripts/lib/git/paths.ts';

const bytes = fc.uint8Array({ maxLength: 40 }).filter((array) => !array.includes(0));

describe('paths', () => {
	it('keeps the bytes of every name, also through JSON', () => {
		fc.assert(
			fc.property(bytes, (array) => {
				const text = JSON.parse(JSON.stringify(decodePath(array))) as string;
				expect(encodePath(text).equals(Buffer.from(array))).toBe(true);
			}),
		);
	});

	it('decodes names that are UTF-8 as they are', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme' }), (text) => {
				expect(decodePath(Buffer.from(text, 'utf8'))).toBe(text);
			}),
		);
		expect(decodePath(Buffer.from('\uFEFFbom'))).toBe('\uFEFFbom');
	});

	it('takes lists with NULs apart and puts them together', () => {
		fc.assert(
			fc.property(fc.array(bytes.filter((array) => array.length > 0)), (names) => {
				expect(splitFields(joinPaths(names.map(decodePath))).map(decodePath)).toEqual(names.map(decodePath));
			}),
		);
	});

	it('shows ordinary names plainly and odd ones as JSON', () => {
		expect(showPath('café ünï.txt')).toBe('café ünï.txt');
		expect(showPath('-x')).toBe('-x');
		expect(showPath('new\nline.txt')).toBe('"new\\nline.txt"');
		expect(showPath('a"b')).toBe('"a\\"b"');
		expect(showPath(decodePath(Buffer.from([0x61, 0xff])))).toBe('"a\\udcff"');
		expect(showPath('a\u202Eb')).toBe('"a\\u202eb"');
	});

	it('takes no sibling for a part of a folder', () => {
		expect(isWithin('run/a', 'run')).toBe(true);
		expect(isWithin('run', 'run')).toBe(true);
		expect(isWithin('run2/a', 'run')).toBe(false);
	});
});
