import fc from 'fast-check';
import type { RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { toString as textOf } from 'mdast-util-to-string';
import { describe, expect, it } from 'vitest';
import { readBlocks } from '../../scripts/lib/markdown/blocks.ts';

/** Root blocks as type and lines; lists that touch count as one, however they were cut. */
function outline(blocks: readonly RootContent[]): string[] {
	const result: string[] = [];
	let afterList = false;
	for (const block of blocks) {
		const { start, end } = block.position!;
		const isList = block.type === 'list';
		if (!(isList && afterList)) {
			const text = block.type === 'heading' && /^[\w ]*$/.test(textOf(block)) ? ` ${textOf(block)}` : '';
			// Where an open fence ends its quote, the parser's end of the quote depends on what follows.
			const to = block.type === 'blockquote' ? '' : `-${end.line} ${start.offset}-${end.offset}${text}`;
			result.push(isList ? 'list' : `${block.type} ${start.line}${to}`);
		}
		afterList = isList;
	}
	return result;
}

const line = fc.oneof(
	fc.constantFrom(
		'',
		'',
		'a',
		'Word here',
		'# A',
		'## Summary',
		'## Scope ##',
		'### C',
		'- a',
		'* b',
		'1. c',
		'2. d',
		'> q',
		'> - q',
		'>',
		'```',
		'~~~',
		'```js',
		'````',
		'    code',
		'\tcode',
		'  - nested',
		'   # h',
		'<!-- c',
		'-->',
		'<!-- c -->',
		'<div>',
		'</div>',
		'<script>',
		'</script>',
		'===',
		'---',
		'***',
		'- - -',
		'[a]: /b',
		'[a]:',
		'"title',
		'title"',
		'[a',
		'  ```',
		'- ```',
		'> ```',
		'-',
		'+ ',
		'| a |',
		'1)',
		'- # h',
		'\\# x',
		'&#35; y',
		'  ===',
		'VERDICT: APPROVE',
		'-\ta',
		'<b>',
		'- <!--',
	),
	fc.string({ unit: fc.constantFrom(...'-*+>#`~=_ \t[]():<!&\\1.a'), maxLength: 12 }),
);

describe('readBlocks', () => {
	it('agrees with one parse of the whole text, however the pieces fall', () => {
		const long = fc.array(line, { maxLength: 40 }).chain((lines) =>
			// Enough of the same lines that the text takes several pieces, cut at places that differ from run to run.
			fc.record({
				lines: fc.constant(lines),
				times: fc.integer({ min: 1, max: 30 }),
				pad: fc.constantFrom(0, 1000, 5000),
			}),
		);
		fc.assert(
			fc.property(long, ({ lines, times, pad }) => {
				const text = Array.from({ length: times }, () => lines).flat();
				if (pad > 0) text.splice(Math.floor(text.length / 2), 0, 'p'.repeat(pad));
				const result = readBlocks(text);
				if ('problem' in result) return;
				expect(outline(result.blocks)).toEqual(outline(fromMarkdown(text.join('\n')).children));
			}),
			{ numRuns: 200 },
		);
	});

	it('goes on after a fence, a comment and a list that are larger than a piece', () => {
		const fence = ['```diff', ...Array.from({ length: 5000 }, (_, index) => `- removed ${index}`), '```'];
		const list = Array.from({ length: 3000 }, (_, index) => `- item ${index}`);
		const comment = ['<!--', ...Array.from({ length: 1500 }, () => 'words in a comment'), '-->'];
		const result = readBlocks([...fence, '## A', ...list, '## B', ...comment, '## C', 'text']);
		expect(
			'blocks' in result && result.blocks.filter(({ type }) => type === 'heading').map((node) => textOf(node)),
		).toEqual(['A', 'B', 'C']);
	});

	it.each([
		['list markers', '- - - - '.repeat(20).concat('a')],
		['quote markers', '>'.repeat(50_000)],
		['deep indentation', `${' '.repeat(200)}- a`],
	])('refuses %s that nest too deep', (_, text) => {
		expect(readBlocks(['ok', text])).toMatchObject({ problem: { code: 'too-nested', line: 2 } });
	});

	it('takes a thematic break of many dashes', () => {
		expect(readBlocks(['- '.repeat(60)])).toMatchObject({ blocks: [{ type: 'thematicBreak' }] });
	});
});
