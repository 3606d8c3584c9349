/** `ccc run`: starts or resumes a run and drives it headless, every stage through its owner's CLI. */
import { rm } from 'node:fs/promises';
import { companionEnvironment } from '../agents/environment.ts';
import { detectSandbox } from '../agents/sandbox.ts';
import { detectSession } from '../agents/session.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import type { Lock } from '../kit/lock.ts';
import { ownIdentity } from '../kit/process-identity.ts';
import { type RunArguments, selectPlanCode } from './arguments.ts';
import { CancelRequested, canceledReport, cancelRequested, cancelRequestFile } from './cancel-run.ts';
import { findCccHome, readPromptTemplates } from './ccc-home.ts';
import { confirmResumable } from './confirm-resumable.ts';
import { coordinate } from './coordinate.ts';
import { writeDriver } from './driver.ts';
import { withRunLock } from './locked-run.ts';
import type { Report } from './progress.ts';
import { resumeRun } from './resume-run.ts';
import { openRun, placeNewRun, type RunPlace } from './run-folder.ts';
import type { RunReport } from './run-report.ts';
import type { RunSettings } from './settings.ts';
import { coderOf } from './stages.ts';
import { startRun } from './start-run.ts';
import { readRunFile } from './truth.ts';

export type WorkArguments = Exclude<RunArguments, { kind: 'cancel' }>;

export interface HeadlessContext {
	readonly cwd: string;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly settings: RunSettings;
	/** Root of the pack this code belongs to. */
	readonly pack: string;
	readonly supervisorArgv: readonly [string, ...string[]];
	readonly now: () => Date;
	readonly report: Report;
	/** Aborted by the user (Ctrl-C); its reason is thrown once the companion is gone. */
	readonly signal: AbortSignal;
}

const CANCEL_POLL_MS = 500;

/**
 * @throws CccError `companion-sandboxed` (exit 5, before anything is created), usage errors (exit 2), `locked` (exit 4),
 *   `invalid-run` (exit 1). Hard failures of a stage are reported, not thrown.
 */
export async function runHeadless(args: WorkArguments, context: HeadlessContext): Promise<RunReport> {
	refuseSandbox(context.env);
	const home = await findCccHome(context.env.CCC_HOME, context.pack);
	const templates = await readPromptTemplates(home);
	const place =
		args.kind === 'start' ? await begin(args, home, context) : await openRun(args.folder, context.cwd, context.env);
	const controller = new AbortController();
	const signal = AbortSignal.any([context.signal, controller.signal]);
	try {
		return await withRunLock(place.folder, 'run', context.now, async (lock) => {
			await rm(cancelRequestFile(place.folder), { force: true });
			if (args.kind === 'resume') {
				await confirmResumable(place.folder);
				await resumeRun(place.folder, args, context.now());
			}
			await writeDriver(place.folder, {
				session: 'headless',
				mode: args.mode,
				owner: await ownIdentity(),
				since: context.now().toISOString(),
			});
			await announce(place, context);
			const stopWatching = watchForCancel(place.folder, controller);
			try {
				return await coordinate(coordinatorOf(place, lock, args, context, templates, signal));
			} finally {
				stopWatching();
			}
		});
	} catch (error) {
		if (error instanceof CancelRequested) return canceledReport(place.folder, place.shown);
		throw error;
	}
}

function coordinatorOf(
	place: RunPlace,
	lock: Lock,
	args: WorkArguments,
	context: HeadlessContext,
	templates: Parameters<typeof coordinate>[0]['templates'],
	signal: AbortSignal,
): Parameters<typeof coordinate>[0] {
	const { settings, env, supervisorArgv, now, report } = context;
	return {
		place,
		lock,
		mode: args.mode,
		agents: settings.agents,
		promptMaxBytes: settings.promptMaxBytes,
		diffBudget: settings.diffBudget,
		templates,
		env: companionEnvironment(env, {}),
		supervisorArgv,
		now,
		report,
		signal,
	};
}

async function begin(
	args: Extract<RunArguments, { kind: 'start' }>,
	home: string,
	{ cwd, env, settings, now, report }: HeadlessContext,
): Promise<RunPlace> {
	const place = await placeNewRun(args.folder, cwd, env);
	const { planCode, source } = selectPlanCode(args.planCode, settings.planCode);
	const verify = args.verify ?? settings.verify;
	const { changes } = await startRun(place, {
		task: args.task,
		rounds: args.rounds,
		planCode,
		planCodeSource: source,
		sessionDetected: detectSession(env),
		cccHome: home,
		...(verify === undefined ? {} : { verify }),
		now: now(),
	});
	if (changes > 0) {
		const what = changes === 1 ? '1 file' : `${changes} files`;
		report({ kind: 'warning', text: `${what} had changes before this run: they will be part of what is reviewed` });
	}
	return place;
}

/** Companions reach their models over the network and outlive a command; a sandbox allows neither. */
function refuseSandbox(env: HeadlessContext['env']): void {
	const sandbox = detectSandbox(env);
	if (!sandbox) return;
	throw new CccError('companion-sandboxed', 'Companions cannot be started inside a sandbox.', {
		at: sandbox.variable,
		found: `the sandbox of ${sandbox.name}`,
		next: 'run the same command outside the sandbox (with escalated permissions)',
		exitCode: EXIT.companion,
	});
}

async function announce(place: RunPlace, { settings, report }: HeadlessContext): Promise<void> {
	const { planCode } = await readRunFile(place.folder);
	if (coderOf(planCode) !== 'claude') return;
	report({ kind: 'note', text: `Claude codes with the tools ${settings.agents.claudeCoderTools}` });
}

function watchForCancel(folder: string, controller: AbortController): () => void {
	const timer = setInterval(() => {
		cancelRequested(folder).then(
			(requested) => {
				if (requested) controller.abort(new CancelRequested());
			},
			() => {},
		);
	}, CANCEL_POLL_MS);
	return () => clearInterval(timer);
}
