// Artifacts that satisfy the protocol, for whoever plays an agent.

const sections = (title, list) => `# ${title}\n\n${list.map(([name, text]) => `## ${name}\n\n${text}\n`).join('\n')}`;

/** @param {number} version @param {readonly string[]} ids findings of the version before */
function changes(version, initial, ids) {
	if (version === 0) return initial;
	return ids.map((id) => `- ${id}: fixed, as asked`).join('\n') || 'Reworked as the user said.';
}

export function planDocument(version, ids = []) {
	return sections(`Plan v${version}`, [
		['Summary', 'One line more.'],
		['Scope', 'a.txt'],
		['Proposed Changes', 'Append a line.'],
		['Files and Areas', 'a.txt'],
		['Verification Plan', 'Read it.'],
		['Risks and Questions', 'None.'],
		['Changes Since Previous Plan Version', changes(version, 'Initial plan.', ids)],
	]);
}

export function codeDocument(version, { ref, head, ids = [] }) {
	return sections(`Code v${version}`, [
		['Overview', 'Done.'],
		['What Changed', 'a.txt has a line more.'],
		['Implementation Details', 'Appended.'],
		['Files Changed', '| File | Purpose |\n|---|---|\n| a.txt | the change |'],
		['Git Baseline', `run_start_ref: ${ref}\ncurrent_head: ${head}`],
		['Verification', 'Read it.'],
		['Review Focus', 'a.txt'],
		['Risks and Unknowns', 'None.'],
		['Changes Since Previous Code Version', changes(version, 'Initial implementation.', ids)],
	]);
}
