import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { artifactFromAnswer } from '../../scripts/lib/run/answer-text.ts';

const TITLE = '# Plan v0';
const PLAN = `${TITLE}\n\n## Summary\n\nText.`;

describe('artifactFromAnswer', () => {
	it.each([
		['as it should be', `${PLAN}\n`],
		['without a newline', PLAN],
		['with blank lines around', `\n\n  \n${PLAN}\n\n\n`],
		['CRLF and a byte order mark', `\uFEFF${PLAN.replaceAll('\n', '\r\n')}\r\n`],
		['a lead-in', `Here is the plan:\n\n${PLAN}`],
		['in a fence', `\`\`\`markdown\n${PLAN}\n\`\`\``],
		['in a fence with spaces', `\`\`\`md  \n\n${PLAN}\n\n\`\`\`  \n`],
		['in a bare fence, with a lead-in', `Here it is:\n\n\`\`\`\n${PLAN}\n\`\`\``],
		['in a tilde fence', `~~~~\n${PLAN}\n~~~~`],
	])('%s', (_, answer) => {
		expect(artifactFromAnswer(answer, TITLE)).toBe(`${PLAN}\n`);
	});

	it('unwraps a fence that has others inside', () => {
		const inner = `${PLAN}\n\n\`\`\`js\nx\n\`\`\``;
		expect(artifactFromAnswer(`\`\`\`markdown\n${inner}\n\`\`\``, TITLE)).toBe(`${inner}\n`);
		expect(artifactFromAnswer(`\`\`\`\`markdown\n${inner}\n\`\`\`\``, TITLE)).toBe(`${inner}\n`);
	});

	it.each([
		['no title', 'No plan today.'],
		['another title', '# Plan v1\n\nText.'],
		['a fence that goes on', `\`\`\`\n${PLAN}\n\`\`\`\n\nWhat do you think?`],
		['a fence that is not closed', `\`\`\`\n${PLAN}`],
		['a title in an example', `Like this:\n\n\`\`\`js\nx\n\`\`\`\n\n${PLAN}`],
		['a heading before it', `# Thoughts\n\nHm.\n\n${PLAN}`],
		['a fence below the title', `${PLAN}\n\n\`\`\`\n${TITLE}\n\`\`\``],
		['nothing', ''],
	])('leaves what is more than wrapping: %s', (_, answer) => {
		expect(artifactFromAnswer(answer, TITLE)).toBe(`${answer.trim()}\n`);
	});

	it('gives what it has unwrapped the same way again, and adds no line', () => {
		const part = fc.constantFrom(TITLE, '```', '```md', '~~~', '## Summary', 'text', '', 'Here:', '    # Plan v0');
		fc.assert(
			fc.property(fc.array(part, { maxLength: 9 }), (lines) => {
				const answer = lines.join('\n');
				const artifact = artifactFromAnswer(answer, TITLE);
				expect(artifact.endsWith('\n')).toBe(true);
				expect(answer).toContain(artifact.trimEnd());
				if (artifact.startsWith(TITLE)) expect(artifactFromAnswer(artifact, TITLE)).toBe(artifact);
			}),
		);
	});
});
