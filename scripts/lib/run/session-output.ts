/** What a session command says at its end: a packet, and how the command ends. */
import path from 'node:path';
import { quoteWord } from '../kit/words.ts';
import type { Attempt } from './attempts.ts';
import { type Caller, commandLine } from './caller.ts';
import type { Driver } from './driver.ts';
import type { NumberedFinding } from './open-findings.ts';
import type { Packet } from './packet.ts';
import { forFolder, type RunReport, reportOf } from './run-report.ts';
import { openFindingsFor } from './stage-facts.ts';
import { stageForm } from './stage-form.ts';
import {
	artifactPath,
	draftPath,
	halfOf,
	isReview,
	ownerOf,
	parseStage,
	reviewOf,
	type Stage,
	type StageKind,
	stageName,
} from './stages.ts';
import { lastDone, nextStep, type Step } from './transitions.ts';
import type { RunState } from './truth.ts';
import { lastDoneName, type Turn } from './turn.ts';
import { readVerifyResult } from './verify-command.ts';

export interface SessionOutput {
	readonly packet: Packet;
	readonly report: RunReport;
}

export interface OutputFacts {
	readonly folder: string;
	readonly shown: string;
	readonly state: RunState;
	readonly driver: Driver;
	readonly caller: Caller;
}

const FINDING_CHARACTERS = 80;

/** The output for the turn a run is at. */
export async function outputOf(turn: Turn, facts: OutputFacts): Promise<SessionOutput> {
	const { folder, shown, state } = facts;
	const step = nextStep(state, facts.driver.mode);
	const report = reportOf(shown, state, step);
	switch (turn.kind) {
		case 'work':
			return { report, packet: await workPacket(turn.stage, filesOf(turn.attempt), facts) };
		case 'call':
			return { report, packet: callPacket(turn.stage, facts) };
		case 'approval':
			return { report: { ...report, waitingFor: 'approval' }, packet: approvalPacket(turn.step, facts) };
		case 'other':
			return { report, packet: await endPacket(folder, turn.step, report, facts) };
	}
}

/** What the packet names: the files, or the one that lists them. */
function filesOf(attempt: Attempt | undefined): readonly string[] | undefined {
	return attempt?.list === undefined ? attempt?.read : [attempt.list];
}

async function workPacket(stage: Stage, read: readonly string[] | undefined, facts: OutputFacts): Promise<Packet> {
	const { folder, state, caller } = facts;
	const findings = await openFindingsFor(folder, state, stage);
	const owner = ownerOf(stage, state.run.planCode);
	if (!read) return betweenPacket(stage, facts);
	return {
		stage: stageName(stage),
		owner,
		read: read.map((file) => path.join(folder, file)),
		write: path.join(folder, draftPath(stage)),
		headings: stageForm(stage, { baseline: state.run.baseline, answers: findings.length > 0 }),
		answer: [...findings.map(shortFinding), ...verifyNote(stage, facts)],
		next: commandLine(caller, ['submit', folder, stageName(stage)]),
	};
}

/**
 * The stage before is committed, and what follows (an override, what this one is to read) is not written yet: `call`
 * waits for the process that is at that, or does it.
 */
function betweenPacket(stage: Stage, { folder, state, caller }: OutputFacts): Packet {
	return {
		...empty(stageName(stage), ownerOf(stage, state.run.planCode)),
		answer: ['Do nothing yet but run NEXT: this stage is not prepared'],
		next: commandLine(caller, ['call', folder]),
	};
}

function callPacket(stage: Stage, { folder, state, caller }: OutputFacts): Packet {
	return {
		...empty(stageName(stage), ownerOf(stage, state.run.planCode)),
		next: commandLine(caller, ['call', folder]),
	};
}

function approvalPacket(step: Step, facts: OutputFacts): Packet {
	const { folder, state } = facts;
	const last = lastDone(state.done);
	const next = step.kind === 'stage' ? step.stage : undefined;
	const verdict = state.verdicts.get(lastDoneName(state));
	const who = next === undefined ? '' : ` with ${stageName(next)} by ${ownerOf(next, state.run.planCode)}`;
	return {
		...empty(next ? stageName(next) : lastDoneName(state), 'user'),
		read: last ? [path.join(folder, artifactPath(last))] : [],
		answer: [
			`Ask the user: ${lastDoneName(state)} is done${verdict ? ` (${verdict})` : ''}, go on${who}? They may also type ${slash(facts.driver)} resume ${quoteWord(facts.shown)} manual`,
		],
		next: resumeLine(facts),
	};
}

/** The run is over or waits for a decision. */
async function endPacket(folder: string, step: Step, report: RunReport, facts: OutputFacts): Promise<Packet> {
	const { state, caller } = facts;
	if (step.kind === 'override') {
		return betweenPacket(step.review, facts);
	}
	if (step.kind === 'decide') {
		const work: Stage = { kind: halfOf(step.review), version: step.review.version + 1 };
		const open = (await openFindingsFor(folder, state, work)).map(shortFinding);
		return {
			...empty(stageName(step.review), 'user'),
			read: [path.join(folder, artifactPath(step.review))],
			answer: [`Ask the user: ${report.reason}. Give NEXT on stdin "accept" or "revise" and their reason`, ...open],
			next: commandLine(caller, ['decide', folder, '-']),
		};
	}
	const last = lastDone(state.done);
	const verdict = last && state.verdicts.get(stageName(reviewOf(last)));
	const said =
		step.kind === 'complete'
			? `the change is complete${verdict ? ` (${verdict})` : ''}; it is in the working tree, uncommitted${await verified(folder, last)}`
			: `${report.status}: ${report.reason ?? 'nothing is left to do'}`;
	return {
		...empty('none', 'user'),
		read: last ? [path.join(folder, artifactPath(last))] : [],
		answer: [`Tell the user: ${said}`],
	};
}

/** Whoever plans or codes should know what the result is held to. */
function verifyNote(stage: Stage, { state: { run } }: OutputFacts): string[] {
	return isReview(stage) || run.verify === undefined ? [] : [`the result will be verified by: ${run.verify}`];
}

/** A failed verify command stops nothing; it must not go unheard either. */
async function verified(folder: string, last: Stage | undefined): Promise<string> {
	const result = last && (await readVerifyResult(folder, { kind: 'code', version: last.version }));
	if (!result) return '';
	return `; ${result.command}: ${result.timedOut ? 'did not end in time' : `exit code ${result.exitCode ?? 'unknown'}`}`;
}

/** The output for a hard failure, once it is written down. */
export function blockedOutput(report: RunReport, advice: string | undefined, facts: OutputFacts): SessionOutput {
	const next = advice === undefined ? undefined : withCommands(forFolder(advice, facts.folder), facts.caller);
	return {
		report: { ...report, ...(next === undefined ? {} : { next }) },
		packet: {
			...empty('none', 'user'),
			answer: [
				`Tell the user: blocked: ${(report.reason ?? '').slice(0, 800)} [${report.code}]`,
				...(next === undefined ? [] : [next]),
				'run NEXT once that is done',
			],
			next: resumeLine(facts),
		},
	};
}

/** Advice names commands as a user types them; a session has no `ccc` in its PATH. */
export function withCommands(advice: string, caller: Caller): string {
	// A replacement text would give a meaning to `$`.
	return advice
		.replace(/\bccc run resume /g, '/ccc resume ')
		.replace(/\bccc (?=(?:repair|decide|cancel|status|validate) )/g, () => `${caller.command} `);
}

/** The command line that takes the run on, in this session and its mode. */
export function resumeLine({ folder, driver, caller }: Pick<OutputFacts, 'folder' | 'driver' | 'caller'>): string {
	const session = driver.session === 'unknown' || driver.session === 'headless' ? [] : ['--session', driver.session];
	const mode = driver.mode === 'normal' ? [] : [driver.mode];
	return commandLine(caller, ['begin', ...session, 'resume', folder, ...mode]);
}

const slash = ({ session }: Driver): string => (session === 'codex' ? '$ccc' : '/ccc');

function empty(stage: string, owner: Packet['owner']): Packet {
	return { stage, owner, read: [], headings: [], answer: [] };
}

function shortFinding({ id, severity, text }: NumberedFinding): string {
	const [line = ''] = text.split('\n');
	const characters = [...line];
	const cut =
		characters.length > FINDING_CHARACTERS ? `${characters.slice(0, FINDING_CHARACTERS - 3).join('')}...` : line;
	// No finding may look like two.
	return `${id} [${severity}] ${cut.replaceAll(';', ',')}`;
}

/** For a skill that does one stage: what is no stage of that kind is for the user to hear, not for it to do. */
export function onlyStage(output: SessionOutput, kind: StageKind | undefined): SessionOutput {
	const { stage, owner } = output.packet;
	if (kind === undefined || owner === 'user' || parseStage(stage)?.kind === kind) return output;
	const answer = [`Tell the user: the next stage of this run is ${stage}, by ${owner}; the skill ccc goes on with it`];
	return { ...output, packet: { ...empty(stage, 'user'), answer } };
}
