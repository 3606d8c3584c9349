/** A workflow command that fails still ends with where its run stands (protocol: Final Output). */
import { CccError, EXIT } from '../lib/kit/errors.ts';
import { confirmCommitted } from '../lib/run/confirm-committed.ts';
import { existingRunFolder } from '../lib/run/run-folder.ts';
import { readRunOverview } from '../lib/run/run-overview.ts';
import { forFolder } from '../lib/run/run-report.ts';
import { stageName } from '../lib/run/stages.ts';
import { lastDone } from '../lib/run/transitions.ts';
import { doneStages } from '../lib/run/truth.ts';
import { type Closing, printError } from './print.ts';

/**
 * Does the work of a workflow command; what it throws is printed with the closing lines, except for wrong usage, which
 * has not got as far as the run.
 */
export async function withClosing(
	shown: string,
	{ cwd, json }: { readonly cwd: string; readonly json: boolean },
	work: () => Promise<number>,
): Promise<number> {
	try {
		return await work();
	} catch (error) {
		if (!(error instanceof CccError) || error.exitCode === EXIT.usage) throw error;
		const closing = await closingOf(shown, cwd).catch(() => undefined);
		const next = error.facts.next === undefined ? {} : { next: forFolder(error.facts.next, shown) };
		return printError(new CccError(error.code, error.message, { ...error.facts, ...next }), json, closing);
	}
}

/** A run that has to be repaired first cannot say what comes next: it is blocked. */
async function closingOf(shown: string, cwd: string): Promise<Closing> {
	const folder = await existingRunFolder(shown, cwd);
	const overview = await confirmCommitted(folder)
		.then(() => readRunOverview(folder, new Date()))
		.catch(() => undefined);
	if (overview) {
		return { folder: shown, stageCompleted: overview.stageCompleted, nextAction: overview.run.workflow.nextAction };
	}
	const last = lastDone(new Set((await doneStages(folder)).map(stageName)));
	return { folder: shown, stageCompleted: last ? stageName(last) : 'none', nextAction: 'blocked' };
}
