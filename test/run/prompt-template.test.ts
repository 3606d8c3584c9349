import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { describe, expect, it } from 'vitest';
import { fillTemplate, renderBlocks } from '../../scripts/lib/run/prompt-template.ts';
import { hostileText } from '../support/hostile-text.ts';

describe('fillTemplate', () => {
	it('fills each name, as often as it stands there, and nothing that comes in with a value', () => {
		const values = { stage: '{{version}}', version: "$& $1 $' {{stage}}" };
		expect(fillTemplate('a {{stage}} {{version}} {{stage}} {{ stage }} {{STAGE}} {stage}', values)).toBe(
			"a {{version}} $& $1 $' {{stage}} {{version}} {{ stage }} {{STAGE}} {stage}",
		);
	});

	it.each(['unknown', 'constructor', '__proto__'])('a name nobody gave is an error of ours: %s', (name) => {
		expect(() => fillTemplate(`{{${name}}}`, {})).toThrow(name);
	});
});

describe('renderBlocks', () => {
	it('puts each text under its heading, fenced', () => {
		expect(
			renderBlocks([
				{ title: 'Task', text: 'Fix it.\n\n' },
				{ title: 'Plan', text: 'a ```` b' },
			]),
		).toBe('## Task\n\n```\nFix it.\n```\n\n## Plan\n\n`````\na ```` b\n`````\n');
	});

	it('no text closes its block or opens another', () => {
		fc.assert(
			fc.property(fc.array(hostileText(), { minLength: 1, maxLength: 3 }), (texts) => {
				const blocks = texts.map((text, index) => ({ title: `B${index}`, text }));
				const { children } = fromMarkdown(renderBlocks(blocks));
				expect(children.map(({ type }) => type)).toEqual(texts.flatMap(() => ['heading', 'code']));
				const codes = children.flatMap((node) => (node.type === 'code' ? [node.value] : []));
				expect(codes).toEqual(texts.map((text) => text.replace(/\n+$/, '')));
			}),
			{ numRuns: 300 },
		);
	});
});
