/** What is wrong with a run that ended well after kills, restated from the protocol; nothing of the engine is used. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../support/agent-bench.ts';
import type { KillSandbox } from './sandbox.ts';

/** Stages of the run in their order, with the verdict of the reviews. */
const STAGES: readonly (readonly [stage: string, verdict?: string])[] = [
	['plan_v0'],
	['plan_v0_review', 'NEEDS_CHANGES'],
	['plan_v1'],
	['plan_v1_review', 'APPROVE'],
	['code_v0'],
	['review_v0', 'NEEDS_CHANGES'],
	['code_v1'],
	['review_v1', 'APPROVE'],
];
const ORDER: readonly string[] = STAGES.map(([stage]) => stage);
const SECTIONS = ['Description', 'Runtime', 'Rounds', 'Task Summary', 'Git Baseline', 'Workflow State', 'Status'];

interface Event {
	readonly event: string;
	readonly stage?: string;
	readonly result?: string;
	readonly sha256?: Readonly<Record<string, string>>;
}

/** @param called the stages that companions did, in a run that a session coordinates */
export async function faultsOf(sandbox: KillSandbox, run: string, called = ORDER): Promise<string[]> {
	const faults: string[] = [];
	const need = (holds: boolean, fault: string): void => {
		if (!holds) faults.push(fault);
	};
	const at = (name: string): string => path.join(run, name);
	const read = (name: string): string => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : '');

	const validation = await sandbox.execute(['validate', run, '--json']);
	need(validation.code === 0, `validate ended with ${validation.code}: ${validation.stdout}`);
	need(/"problems":\s*\[\]/.test(validation.stdout), `validate found ${validation.stdout}`);

	const runFile = read('run.md');
	need(/\n## Status\n+complete\n/.test(runFile), 'run.md: status');
	need(/^next_action: complete$/m.test(runFile), 'run.md: next_action');
	need(/^latest_verdict: APPROVE$/m.test(runFile), 'run.md: latest_verdict');
	need([...runFile.matchAll(/^## (.+)$/gm)].map((match) => match[1]).join() === SECTIONS.join(), 'run.md: sections');
	need(read('task.md').trim() !== '', 'task.md is empty');

	const names = [...ORDER].sort();
	const committed = readdirSync(at('state')).filter((name) => name.endsWith('.done'));
	need(committed.sort().join() === names.map((name) => `${name}.done`).join(), `done: ${committed}`);
	const artifacts = readdirSync(at('artifacts')).sort();
	need(artifacts.join() === names.map((name) => `${name}.md`).join(), `artifacts: ${artifacts}`);
	for (const [stage, verdict] of STAGES) {
		need(read(`state/${stage}.done`) === doneText(stage), `${stage}.done: ${read(`state/${stage}.done`)}`);
		if (verdict === undefined) continue;
		const verdicts = [...read(`artifacts/${stage}.md`).matchAll(/^VERDICT: (.*)$/gm)].map((match) => match[1]);
		need(verdicts.join() === verdict, `${stage}: verdict ${verdicts}`);
		need(read(`state/${stage}.review.raw.md`).trim() !== '', `${stage}: no transcript`);
	}
	faults.push(...ledgerFaults(read, called));
	const unfinished = readdirSync(run, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp'));
	need(unfinished.length === 0, `temporary files: ${unfinished}`);
	need(!existsSync(at('state/intent.json')), 'an intent is left');

	const { root } = sandbox.repository;
	const edits = ['value.txt', 'added.txt'].map((name) => readFileSync(path.join(root, name), 'utf8'));
	need(edits.join('') === 'value 1\nadded 1\n', `the code edit: ${edits}`);
	const left = await eventually(async () => sandbox.running().length === 0, 3000).catch(() => false);
	need(left, `processes left: ${sandbox.running().map(({ command }) => command)}`);
	return faults;
}

/** A commit for each stage, in their order and of the very files; one answer each; no guard that cried wolf. */
function ledgerFaults(read: (name: string) => string, called: readonly string[]): string[] {
	const faults: string[] = [];
	const events: Event[] = read('state/ledger.jsonl')
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line));
	const of = (kind: string): Event[] => events.filter(({ event }) => event === kind);
	const order = ORDER.join();
	const commits = of('commit');
	if (commits.map(({ stage }) => stage).join() !== order) faults.push(`commits: ${commits.map(({ stage }) => stage)}`);
	for (const { stage, sha256 } of commits) {
		if (sha256?.artifact !== hash(read(`artifacts/${stage}.md`))) faults.push(`${stage}: artifact hash`);
		const transcript = read(`state/${stage}.review.raw.md`);
		if (transcript !== '' && sha256?.transcript !== hash(transcript)) faults.push(`${stage}: transcript hash`);
	}
	const answers = of('call').filter(({ result }) => result === 'answered');
	if (answers.map(({ stage }) => stage).join() !== called.join())
		faults.push(`answers: ${answers.map(({ stage }) => stage)}`);
	for (const kind of ['start', 'complete']) if (of(kind).length !== 1) faults.push(`${kind}: ${of(kind).length} times`);
	const alarms = of('blocked').filter(({ result }) => result !== 'companion-failed');
	if (alarms.length > 0) faults.push(`blocked: ${JSON.stringify(alarms)}`);
	return faults;
}

function doneText(stage: string): string {
	return `---\nstage: ${stage}\nartifact: artifacts/${stage}.md\nstatus: complete\n---\nCompleted by CCC coordinator after artifact validation.\n`;
}

function hash(text: string): string {
	return createHash('sha256').update(text).digest('hex');
}
