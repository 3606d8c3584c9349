import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseReplaced } from '../../scripts/lib/git/surface-budget.ts';
import { renderSurface } from '../../scripts/lib/git/surface-text.ts';

describe('renderSurface', () => {
	it('says so when there is nothing', () => {
		expect(renderSurface([{ title: 'git diff', parts: [] }], [], new Map())).toBe('### git diff\n\n(empty)\n');
	});

	it('lets no content end its block', () => {
		const content = fc
			.array(fc.constantFrom('`', '```', '````', '\n', 'x', '### git diff', '~~~'))
			.map((list) => list.join(''));
		fc.assert(
			fc.property(content, (text) => {
				const plain = `${text}x\n`;
				const lines = renderSurface([{ title: 't', plain }], [], new Map()).split('\n');
				const fence = /^`+/.exec(lines[2] ?? '')?.[0] ?? '';
				const end = lines.findIndex((line, index) => index > 2 && line.startsWith(fence));
				expect(lines.slice(3, end).join('\n')).toBe(plain.slice(0, -1));
				expect(lines.slice(end)).toEqual([fence, '']);
			}),
		);
	});
});

describe('chooseReplaced', () => {
	const candidates = [
		{ path: 'small', bytes: 10, saved: 5 },
		{ path: 'large', bytes: 100, saved: 90 },
		{ path: 'middle', bytes: 50, saved: 40 },
		{ path: 'useless', bytes: 1, saved: -20 },
	];
	const chosen = (excess: number): string[] => chooseReplaced(candidates, excess).map((one) => one.path);

	it('takes the largest first and stops when it fits', () => {
		expect(chosen(0)).toEqual([]);
		expect(chosen(90)).toEqual(['large']);
		expect(chosen(91)).toEqual(['large', 'middle']);
		expect(chosen(1000)).toEqual(['large', 'middle', 'small']);
	});
});
