/** A hard failure blocks the run until somebody resumes it (protocol: Modes). */
import { CccError, EXIT } from '../kit/errors.ts';
import type { Coordinator } from './coordinator.ts';
import { recordEvent } from './ledger.ts';
import { updateRunFile } from './run-file-update.ts';
import { blockedReport, type RunReport } from './run-report.ts';
import { ownerOf, stageName } from './stages.ts';
import type { Step } from './transitions.ts';
import type { RunState } from './truth.ts';

export function isHardFailure(error: unknown): error is CccError {
	return error instanceof CccError && (error.exitCode === EXIT.blocked || error.exitCode === EXIT.companion);
}

/** Writes down that the run is blocked, and why. */
export async function blockRun(
	{ place, now }: Pick<Coordinator, 'place' | 'now'>,
	state: RunState,
	step: Step,
	error: CccError,
): Promise<RunReport> {
	const { folder, shown } = place;
	const report = blockedReport(shown, state, step, error);
	await updateRunFile(folder, state, step, `${error.code}: ${report.reason ?? error.message}`);
	const stage =
		step.kind === 'stage' ? { stage: stageName(step.stage), owner: ownerOf(step.stage, state.run.planCode) } : {};
	await recordEvent(
		folder,
		{ event: 'blocked', ...stage, result: error.code, ...(report.reason ? { reason: report.reason } : {}) },
		now(),
	);
	return report;
}
