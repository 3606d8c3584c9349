/** Prompts are files in `protocol/prompts/`: stable text first, then labelled blocks of material. */

/** Text that came from a user, a model or the repository, under a heading of ours. */
export interface PromptBlock {
	readonly title: string;
	readonly text: string;
}

/**
 * Fills the `{{names}}` of a template in one pass (values are never searched for names themselves).
 * Names the template holds and `values` does not are an error of ours, not of the user.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
	return template.replace(/\{\{([a-z_]+)\}\}/g, (_, name: string) => {
		const value = Object.hasOwn(values, name) ? values[name] : undefined;
		if (value === undefined) throw new Error(`prompt template asks for unknown value ${name}`);
		return value;
	});
}

/** Blocks are fenced with more backticks than any run inside, so that no material can close its block. */
export function renderBlocks(blocks: readonly PromptBlock[]): string {
	return blocks
		.map(({ title, text }) => {
			const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
			const fence = '`'.repeat(longest + 1);
			return `## ${title}\n\n${fence}\n${text.replace(/\n+$/, '')}\n${fence}\n`;
		})
		.join('\n');
}
