/** `ccc run`: starts or resumes a run and drives it headless, every stage through its owner's CLI. */
import { rm } from 'node:fs/promises';
import { CancelRequested, canceledReport, cancelRequestFile, watchForCancel } from './cancel-run.ts';
import { findCccHome, readPromptTemplates } from './ccc-home.ts';
import { confirmResumable } from './confirm-resumable.ts';
import { coordinate } from './coordinate.ts';
import { coordinatorOf, type Surroundings } from './coordinator.ts';
import { readDriver, writeDriver } from './driver.ts';
import { withRunLock } from './locked-run.ts';
import { newRun, type WorkArguments } from './new-run.ts';
import { refuseSandbox } from './refuse-sandbox.ts';
import { resumeRun } from './resume-run.ts';
import { openRun, type RunPlace } from './run-folder.ts';
import type { RunReport } from './run-report.ts';
import { coderOf } from './stages.ts';
import { readRunFile } from './truth.ts';

/**
 * @throws CccError `companion-sandboxed` (exit 5, before anything is created), usage errors (exit 2), `locked` (exit 4),
 *   `invalid-run` (exit 1). Hard failures of a stage are reported, not thrown.
 */
export async function runHeadless(args: WorkArguments, context: Surroundings): Promise<RunReport> {
	await refuseSandbox(context.env);
	const home = await findCccHome(context.env.CCC_HOME, context.pack);
	const templates = await readPromptTemplates(home);
	const place =
		args.kind === 'start' ? await newRun(args, home, context) : await openRun(args.folder, context.cwd, context.env);
	const controller = new AbortController();
	const signal = AbortSignal.any([context.signal, controller.signal]);
	try {
		return await withRunLock(place.folder, 'run', context.now, async (lock) => {
			await rm(cancelRequestFile(place.folder), { force: true });
			if (args.kind === 'resume') {
				await confirmResumable(place.folder);
				await resumeRun(place.folder, args, context.now());
			}
			const driver = await readDriver(place.folder);
			if (driver && driver.session !== 'headless') {
				context.report({ kind: 'note', text: 'taken over from the session that drove this run' });
			}
			await writeDriver(place.folder, {
				session: 'headless',
				mode: args.mode,
				since: context.now().toISOString(),
			});
			await announce(place, context);
			const stopWatching = watchForCancel(place.folder, controller);
			try {
				return await coordinate(coordinatorOf({ place, lock, mode: args.mode, templates }, { ...context, signal }));
			} finally {
				stopWatching();
			}
		});
	} catch (error) {
		if (error instanceof CancelRequested) return canceledReport(place.folder, place.shown);
		throw error;
	}
}

async function announce(place: RunPlace, { settings, report }: Surroundings): Promise<void> {
	const { planCode } = await readRunFile(place.folder);
	if (coderOf(planCode) !== 'claude') return;
	report({ kind: 'note', text: `Claude codes with the tools ${settings.agents.claudeCoderTools}` });
}
