import { CccError, type ErrorFacts, EXIT } from '../kit/errors.ts';
import { formatProblem, type Problem } from './problem.ts';

/** One error for a list of problems: the first in its facts, all of them in its message. */
export function validationFailure(
	problems: readonly Problem[],
	facts: Pick<ErrorFacts, 'next' | 'exitCode'> = {},
): CccError {
	const errors = problems.filter((problem) => problem.level === 'error');
	const list = errors.map((problem) => `  ${formatProblem(problem)}`).join('\n');
	const count = errors.length === 1 ? 'a problem' : `${errors.length} problems`;
	return new CccError('invalid-run', `The run folder has ${count}:\n${list}`, { exitCode: EXIT.invalid, ...facts });
}
