/** Plays the sessions of an agent that coordinate a run: each does what its packets say, and forgets all when it ends. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeDocument, planDocument } from '../fakes/documents.mjs';
import { faultsOf } from './faults.ts';
import type { Command, Ended, KillSandbox } from './sandbox.ts';

export type Agent = 'claude' | 'codex';
export type PlanCode = 'claude-codex' | 'codex-claude';

/** The parts of `--json` output that are used here. */
export interface Packet {
	readonly stage: string;
	readonly owner: Agent | 'user';
	readonly write?: string;
	readonly headings: readonly string[];
	readonly answer: readonly string[];
	readonly next?: string;
	readonly status: string;
}

export interface SessionScene {
	readonly sandbox: KillSandbox;
	readonly run: string;
	readonly agent: Agent;
	readonly planCode: PlanCode;
	readonly env?: Readonly<Record<string, string>>;
}

export type Session = ReturnType<typeof newSession>;

let sessions = 0;

/** @param id by default one that no other session has */
export function newSession({ sandbox, run, agent, planCode, env = {} }: SessionScene, id = `session-${++sessions}`) {
	const marks: Record<string, string> =
		agent === 'claude' ? { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: id } : { CODEX_CI: '1', CODEX_THREAD_ID: id };
	const own = { ...env, ...marks, FAKE_ASKED: askedFile(run) };
	const begin = (text: string): Command => sandbox.start(['begin', '--session', agent, '--json'], own, text);
	return {
		id,
		/** Starts the run, or resumes it once its folder exists. */
		begin: (): Command =>
			begin(
				existsSync(run)
					? `resume "${run}"\n`
					: `"${run}" "Change the value" p1-c1 plan-code=${planCode} verify='${sandbox.verify.replace(/^verify=/, '')}'\n`,
			),
		/** A command line of a packet; its process is the command's own. */
		run: (next: string): Command => sandbox.startLine(`exec ${next} --json`, own),
		/** The same below a shell that waits for it, as an agent's tool has it. */
		runBelowShell: (next: string, extra: Readonly<Record<string, string>>): Command =>
			sandbox.startLine(`${next} --json; exit $?`, { ...own, ...extra }),
		/** A subcommand of the run. */
		command: (...words: string[]): Command => sandbox.start([...words, '--json'], own),
	};
}

/** Beside the sandbox's repository, where no guard looks. */
const askedFile = (run: string): string => path.resolve(run, '../../../..', `asked-${path.basename(run)}`);

/** How often each stage was asked of a companion. */
export function asked(run: string): Map<string, number> {
	const counts = new Map<string, number>();
	if (!existsSync(askedFile(run))) return counts;
	for (const stage of readFileSync(askedFile(run), 'utf8').trim().split('\n')) {
		counts.set(stage, (counts.get(stage) ?? 0) + 1);
	}
	return counts;
}

/** @throws with all the command said, where it ended in another way than well */
export function packetOf(ended: Ended): Packet {
	if (ended.code !== 0) throw new Error(describeEnd(ended));
	return JSON.parse(ended.stdout) as Packet;
}

export const describeEnd = ({ code, signal, stdout, stderr }: Ended): string =>
	`exit ${code ?? signal}\n${stdout}\n${stderr}`;

/** `exit code`, with the code of the error where there is one. */
export function endOf(ended: Ended): string {
	try {
		const { error } = JSON.parse(ended.stdout) as { error?: { code: string } };
		return error === undefined ? String(ended.code) : `${ended.code} ${error.code}`;
	} catch {
		return describeEnd(ended);
	}
}

/** Does the stage of a packet that is the session's own: sends version 0 back, approves version 1. Returns the draft. */
export function work({ stage, write, headings, answer }: Packet, { sandbox: { repository } }: SessionScene): string {
	const version = Number(/\d+/.exec(stage)?.[0]);
	const ids = answer.map((finding) => /^[PC]\d+/.exec(finding)?.[0] ?? '');
	const draft = (): string => {
		if (stage.includes('review')) {
			return version === 0 ? '## Findings\n- [major] Not good enough yet.\n\nREADY: no\n' : 'Good.\n\nREADY: yes\n';
		}
		if (stage.startsWith('plan')) return planDocument(version, ids);
		repository.write('value.txt', `value ${version}\n`);
		repository.write('added.txt', `added ${version}\n`);
		const form = headings.join('\n');
		const [, ref = ''] = /run_start_ref: (\w+)/.exec(form) ?? [];
		const [, head = ''] = /current_head: (\w+)/.exec(form) ?? [];
		return codeDocument(version, { ref, head, ids });
	};
	const text = draft();
	writeFileSync(write ?? '', text);
	return text;
}

const REVIEWS = ['plan_v0_review', 'plan_v1_review'];
const CODES = ['code_v0', 'code_v1'];
const PLANNERS = ['plan_v0', 'plan_v1', 'review_v0', 'review_v1'];
const CODERS = [...REVIEWS, ...CODES];

/** The stages that companions do, in their order. */
function companionStages({ agent, planCode }: Pick<SessionScene, 'agent' | 'planCode'>): string[] {
	return planCode.startsWith(agent) ? CODERS : PLANNERS;
}

/** What is wrong with a run that sessions brought to its end. @param most how often a companion may be asked a stage */
export async function sessionFaults(scene: SessionScene, most: number): Promise<string[]> {
	const { sandbox, run } = scene;
	const called = companionStages(scene);
	const faults = await faultsOf(sandbox, run, called);
	const counts = asked(run);
	for (const [stage, count] of counts) {
		if (!called.includes(stage)) faults.push(`${stage} was asked of a companion`);
		if (count > most) faults.push(`${stage} was asked ${count} times`);
	}
	for (const stage of called) if (!counts.has(stage)) faults.push(`${stage} was never asked`);
	return faults;
}

/** The hash of each committed artifact. */
export function committedIn(run: string): Map<string, string> {
	const state = path.join(run, 'state');
	const done = existsSync(state) ? readdirSync(state).filter((name) => name.endsWith('.done')) : [];
	const names = done.map((name) => name.slice(0, -'.done'.length));
	return new Map(names.map((name) => [name, hashOf(path.join(run, 'artifacts', `${name}.md`))]));
}

function hashOf(file: string): string {
	return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : 'missing';
}
