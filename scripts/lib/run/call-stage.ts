/** `call`: has the other agent do its stage, and waits for that only so long. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../agents/sandbox.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { advance } from './advance.ts';
import { type CallRecord, clearCallRecord, errorOfFailure, readCallRecord } from './call-record.ts';
import { type Caller, commandLine } from './caller.ts';
import { cancelRequested } from './cancel-run.ts';
import { confirmCommitted } from './confirm-committed.ts';
import type { Surroundings } from './coordinator.ts';
import { confirmDriver } from './driver.ts';
import { openRun } from './run-folder.ts';
import { reportOf } from './run-report.ts';
import { blockedOutput, type SessionOutput } from './session-output.ts';
import { asDriver } from './session-run.ts';
import { isStageUnderWay } from './stage-coordinator.ts';
import { ownerOf } from './stages.ts';
import { startCoordinator } from './start-coordinator.ts';
import { nextStep } from './transitions.ts';
import { readRunFile, readRunState } from './truth.ts';
import { turnOf } from './turn.ts';
import { oneLine } from './workflow-state.ts';

export interface CallOptions {
	/** The run folder. */
	readonly shown: string;
	readonly caller: Caller;
	/** The sandbox this command runs in, which nothing can be started from. */
	readonly sandbox: Sandbox | undefined;
	readonly waitMs: number;
	/** Starts the stage coordinator; the run folder is appended. */
	readonly coordinatorArgv: readonly [string, ...string[]];
	/** The environment it gets, with what `caller` was read from. */
	readonly context: Surroundings;
}

export interface StillRunning {
	readonly stage: string;
	readonly owner: string;
	/** Milliseconds. */
	readonly elapsedMs: number;
}

const POLL_MS = 200;
/** How long another command may take that works on the run once the stage is done. */
const LOCK_PATIENCE_MS = 10_000;
const CANCEL_PATIENCE_MS = 3_000;
/**
 * Starts the companion where none is at work for the run, waits, and goes on to what comes next.
 * @returns `StillRunning` when the time is up; the stage goes on, and calling again waits for it
 * @throws CccError `companion-sandboxed` (exit 5, nothing changed) with the command to run outside the sandbox,
 *   `other-coordinator` and `locked` (exit 4)
 */
export async function callStage(options: CallOptions): Promise<SessionOutput | StillRunning> {
	const { shown, caller, sandbox, waitMs, context } = options;
	const { folder } = await openRun(shown, context.cwd, context.env);
	const deadline = performance.now() + waitMs;
	await confirmDriver(folder, caller.sessionId);
	if (!(await isStageUnderWay(folder)) && (await readCallRecord(folder))?.failure === undefined) {
		if (await isCallDue(folder, caller)) {
			if (sandbox) throw await sandboxed('started', sandbox, caller, folder);
			await startCoordinator(folder, options.coordinatorArgv, context.env);
		}
	}
	while (await isStageUnderWay(folder)) {
		// While a command is in this sandbox, files that it must not make lie empty in the work tree, for everybody to see.
		if (sandbox?.name === 'claude') throw await sandboxed('awaited', sandbox, caller, folder);
		if (performance.now() >= deadline) return stillRunning(folder);
		await sleep(Math.max(1, Math.min(POLL_MS, deadline - performance.now())));
	}
	return goOn(options, folder);
}

async function isCallDue(folder: string, caller: Caller): Promise<boolean> {
	const driver = await confirmDriver(folder, caller.sessionId);
	await confirmCommitted(folder);
	return (await turnOf(folder, await readRunState(folder), driver)).kind === 'call';
}

async function stillRunning(folder: string): Promise<StillRunning> {
	const [record, state] = await Promise.all([readCallRecord(folder), readRunState(folder)]);
	const step = nextStep(state, 'normal');
	return {
		stage: record?.stage ?? state.run.workflow.nextAction,
		owner: step.kind === 'stage' ? ownerOf(step.stage, state.run.planCode) : 'the companion',
		elapsedMs: record ? Math.max(0, Date.now() - Date.parse(record.startedAt)) : 0,
	};
}

/** Somebody else who waited for the same stage may be at this very point. */
async function goOn(options: CallOptions, folder: string): Promise<SessionOutput> {
	// The stage ended because of it, and whoever canceled is about to say so in the run.
	const canceled = performance.now() + CANCEL_PATIENCE_MS;
	while ((await cancelRequested(folder)) && performance.now() < canceled) await sleep(POLL_MS);
	const deadline = performance.now() + LOCK_PATIENCE_MS;
	for (;;) {
		try {
			return await tellEnd(options);
		} catch (error) {
			if (!(error instanceof CccError) || error.code !== 'locked' || performance.now() > deadline) throw error;
			await sleep(POLL_MS);
		}
	}
}

/** Tells of a failure once; otherwise says what comes next. */
function tellEnd({ shown, caller, context }: CallOptions): Promise<SessionOutput> {
	return asDriver(shown, 'next', caller, context, async (by, driver) => {
		const { folder } = by.place;
		const record = await readCallRecord(folder);
		await clearCallRecord(folder);
		return record?.failure ? failed(record.failure, { folder, shown, caller, driver }) : advance(by, driver, caller);
	});
}

async function failed(
	failure: NonNullable<CallRecord['failure']>,
	facts: Omit<Parameters<typeof blockedOutput>[2], 'state'>,
): Promise<SessionOutput> {
	const error = errorOfFailure(failure);
	if (!failure.blocks) throw error;
	const state = await readRunState(facts.folder);
	const { found, next } = error.facts;
	const report = {
		...reportOf(facts.shown, state, nextStep(state, facts.driver.mode)),
		nextAction: 'blocked',
		status: 'blocked' as const,
		exitCode: error.exitCode,
		reason: found === undefined ? error.message : `${error.message} ${found}`,
		code: error.code,
	};
	return blockedOutput(report, next, { ...facts, state });
}

async function sandboxed(
	what: 'started' | 'awaited',
	sandbox: Sandbox,
	caller: Caller,
	folder: string,
): Promise<CccError> {
	const { verify } = await readRunFile(folder);
	// Whoever is asked should know of it: it runs outside the sandbox too.
	const also = verify === undefined ? '' : `; to verify the code it runs: ${oneLine(verify)}`;
	return new CccError(
		'companion-sandboxed',
		`A companion cannot be ${what} inside this sandbox; nothing was changed.`,
		{
			at: sandbox.sign,
			found: `the sandbox of ${sandbox.name}`,
			next: [
				`run this ${ESCALATION[sandbox.name](caller)}:`,
				commandLine(caller, ['call', folder]),
				`reason to give: ccc has the other agent do one stage of this run; that needs the network and outlasts the command${also}`,
			].join('\n  '),
			exitCode: EXIT.companion,
		},
	);
}

/** How each agent's shell tool is asked; Codex's user can allow all later calls at once by the rule. */
const ESCALATION: Readonly<Record<Sandbox['name'], (caller: Caller) => string>> = {
	codex: ({ launcher }) => {
		const rule = launcher ? `, prefix_rule: ${JSON.stringify([...launcher, 'call'])}` : '';
		return `with escalated permissions (sandbox_permissions: "require_escalated"${rule})`;
	},
	claude: () => 'with escalated permissions, outside the sandbox (dangerouslyDisableSandbox: true)',
};
