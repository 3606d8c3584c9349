import path from 'node:path';
import { writeFileAtomic } from '../kit/atomic-file.ts';
import { type RunFile, renderRunFile } from './run-file.ts';
import { effectiveRounds, type Step } from './transitions.ts';
import type { RunState } from './truth.ts';
import { deriveWorkflow } from './workflow-state.ts';

/**
 * Writes run.md anew from the truth: its Workflow State and Status are always derived, its rounds raised where a
 * decision asked for it.
 * @param blocked the hard failure the run stopped at, if any
 */
export async function updateRunFile(folder: string, state: RunState, step: Step, blocked?: string): Promise<RunFile> {
	const run: RunFile = { ...state.run, rounds: effectiveRounds(state), ...deriveWorkflow(state, step, blocked) };
	await writeRunFile(folder, run);
	return run;
}

/** Protocol, Run File: a temporary file in the same directory, then an atomic rename. */
export async function writeRunFile(folder: string, run: RunFile): Promise<void> {
	const file = path.join(folder, 'run.md');
	await writeFileAtomic(file, renderRunFile(run), { temporary: `${file}.tmp` });
}
