/** From the list of tools a Claude coder gets to the options that keep it in the repository. Pure. */

/** Tools that write files by path. */
const WRITERS = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit']);

export interface CoderTools {
	/** Built-in tools that are offered at all, for `--tools`. */
	readonly offered: string;
	/** Rules that need no approval, for `--allowedTools`. */
	readonly allowed: string;
}

/**
 * A bare `Write` in `--allowedTools` lifts the limit to the working folder that `acceptEdits` has (measured with the
 * real CLI), so tools that write are allowed below the working folder only, unless the user gave them a rule of their own.
 * @param list names or rules, separated by commas: `Edit,Bash(npm test:*)`
 */
export function coderTools(list: string): CoderTools {
	const rules = splitRules(list);
	const names = rules.map((rule) => rule.replace(/\(.*$/s, '')).filter((name) => !name.startsWith('mcp__'));
	return {
		offered: [...new Set(names)].join(','),
		allowed: rules.map((rule) => (WRITERS.has(rule) ? `${rule}(./**)` : rule)).join(','),
	};
}

/** Commas inside parentheses belong to a rule. */
function splitRules(list: string): string[] {
	const rules: string[] = [];
	let depth = 0;
	let rule = '';
	for (const char of list) {
		if (char === '(') depth++;
		if (char === ')') depth--;
		if (char === ',' && depth <= 0) {
			rules.push(rule.trim());
			rule = '';
		} else rule += char;
	}
	rules.push(rule.trim());
	return rules.filter((found) => found !== '');
}
