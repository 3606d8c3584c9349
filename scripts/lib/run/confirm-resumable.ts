import { confirmCommitted } from './confirm-committed.ts';
import { stageName } from './stages.ts';
import { lastDone } from './transitions.ts';
import { readRunState } from './truth.ts';
import { validateRun } from './validate-run.ts';
import { validationFailure } from './validation-failure.ts';

/**
 * A run is resumed only from files that fit together; the state in run.md is no reason to refuse, it is derived anew.
 * @throws CccError `uncommitted-artifact` (exit 3), `artifact-missing` and `invalid-run` (exit 1), each with the repair
 */
export async function confirmResumable(folder: string): Promise<void> {
	const { done } = await readRunState(folder);
	const { problems } = await validateRun(folder, { withoutState: true });
	const standing = problems.filter(({ level }) => level === 'error');
	if (standing.length > 0) {
		const last = lastDone(done);
		const repair = last ? `, or go back stage by stage: ccc repair <folder> rerun ${stageName(last)}` : '';
		throw validationFailure(standing, { next: `restore those files${repair}, or start a new run` });
	}
	await confirmCommitted(folder);
}
