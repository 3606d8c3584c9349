// Reads what a coordinator's prompt tells the scripted agents. Everything they say rests on this, nothing on fixed answers.

/** @returns the stage of the first line, its kind and its version */
export function stageOf(prompt) {
	const match = /^CCC stage: (plan|code|review)_v(\d+)(_review)?\n/.exec(prompt);
	if (!match) throw new Error('the prompt does not begin with "CCC stage: <stage>"');
	return { kind: match[3] ? 'plan_review' : match[1], version: Number(match[2]) };
}

/** The commit the run started from. */
export function startRefOf(prompt) {
	const ref = /^run_start_ref: ([0-9a-f]{40,64})$/m.exec(prompt)?.[1];
	if (ref === undefined) throw new Error('the prompt has no run_start_ref line');
	return ref;
}

/** The text of a labelled block of material, or undefined when the prompt has none of this title. */
export function blockOf(prompt, title) {
	const lines = prompt.split('\n');
	const at = lines.findIndex((line, index) => line === `## ${title}` && /^`{3,}$/.test(lines[index + 2] ?? ''));
	if (at === -1) return undefined;
	const end = lines.indexOf(lines[at + 2], at + 3);
	return lines.slice(at + 3, end).join('\n');
}

/** The findings a new version has to answer. */
export function openFindings(prompt) {
	const block = blockOf(prompt, 'Open findings to answer') ?? '';
	return [...block.matchAll(/^([PC]\d+) \[(major|minor)\] (.*)$/gm)].map(([, id, severity, text]) => ({
		id,
		severity,
		text,
	}));
}

/** The text of a section of a Markdown document. */
export function sectionOf(document, title) {
	const [, after = ''] = document.split(`\n## ${title}\n`);
	return after.split('\n## ')[0].trim();
}

/** How the verify command ended, from the words of the coordinator: its exit code and the tests that failed. */
export function verificationOf(prompt) {
	const block = blockOf(prompt, 'Verification run by the coordinator');
	if (block === undefined) throw new Error('the prompt does not say how the verification ended');
	// `not ok 3 - name` in TAP, `✖ name (1.2ms)` in the reporter for people: which one is the default depends on Node.
	const names = [...block.matchAll(/^\s*(?:not ok \d+ - (.+?)|✖ (.+?) \([\d.]+ms\))$/gm)].map(
		(match) => match[1] ?? match[2],
	);
	return {
		command: /^command: (.*)$/m.exec(block)?.[1],
		exitCode: Number(/^result: exit code (\d+)$/m.exec(block)?.[1]),
		failing: [...new Set(names)].filter((name) => !name.endsWith('.mjs')),
	};
}
