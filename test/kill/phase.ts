/** Where a run was when it was killed, read from what the kill left on disk. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const ORDER = [
	'plan_v0',
	'plan_v0_review',
	'plan_v1',
	'plan_v1_review',
	'code_v0',
	'review_v0',
	'code_v1',
	'review_v1',
];

/** The stage that was next, and what was going on: `review_v0: commit`. */
export function phaseOf(run: string): string {
	if (!existsSync(run)) return 'start: no folder yet';
	const state = path.join(run, 'state');
	const done = (stage: string): boolean => existsSync(path.join(state, `${stage}.done`));
	const intent = existsSync(path.join(state, 'intent.json'));
	const next = ORDER.find((stage) => !done(stage));
	// With an intent and every earlier stage done the commit may have come as far as its `.done`.
	const stage = next ?? 'end';
	if (intent) return `${stage}: commit`;
	if (next === undefined) return 'end: last commit done';
	if (existsSync(path.join(state, 'verify.running'))) return `${stage}: verify command`;
	return `${stage}: ${callPhase(path.join(state, 'calls'), next)}`;
}

function callPhase(calls: string, stage: string): string {
	const names = existsSync(calls) ? readdirSync(calls) : [];
	const last = names
		.filter((name) => name.startsWith(`${stage}.`) && name.endsWith('.json'))
		.sort()
		.at(-1);
	if (last === undefined) return 'before the call';
	const folder = path.join(calls, last.replace(/\.json$/, ''));
	const has = (name: string): boolean => existsSync(path.join(folder, name));
	if (!existsSync(folder)) return 'attempt without call';
	if (!has('request.json')) return 'call without request';
	if (has('result.json')) return 'answer not looked at';
	if (!has('supervisor.json')) return 'supervisor starting';
	return has('companion.json') ? 'companion working' : 'companion starting';
}

/** How often each phase was hit, without the numbers of versions, as lines of text. */
export function tally(phases: readonly string[]): string {
	const counts = new Map<string, number>();
	for (const phase of phases) counts.set(phase, (counts.get(phase) ?? 0) + 1);
	return [...counts]
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([phase, count]) => `${String(count).padStart(4)}  ${phase}`)
		.join('\n');
}
