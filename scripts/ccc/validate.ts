import path from 'node:path';
import { CccError, EXIT } from '../lib/kit/errors.ts';
import { formatProblem } from '../lib/run/problem.ts';
import { type RunValidation, validateRun } from '../lib/run/validate-run.ts';
import type { Invocation } from './invocation.ts';
import type { Output } from './outputs.ts';
import { printJson, printText } from './print.ts';

export async function validate({ words, json, cwd }: Invocation): Promise<number> {
	if (words.length === 0) {
		throw new CccError('missing-argument', '<folder> is missing.', { expected: '<folder>..', exitCode: EXIT.usage });
	}
	const results: RunValidation[] = [];
	for (const word of words) results.push({ ...(await validateRun(path.resolve(cwd, word))), folder: word });
	const exitCode = results.every(({ valid }) => valid) ? EXIT.ok : EXIT.invalid;
	if (json) {
		printJson({ runs: results, exit_code: exitCode } satisfies Readonly<Record<string, unknown>> & {
			exit_code: Output<'validate'>['exit_code'];
		});
	} else {
		for (const result of results) printText(describe(result));
	}
	return exitCode;
}

function describe({ folder, valid, stages, problems }: RunValidation): string {
	const lines = problems.map(
		(problem) => `${problem.level === 'warning' ? 'warning: ' : ''}${path.join(folder, formatProblem(problem))}`,
	);
	const errors = problems.filter(({ level }) => level === 'error').length;
	const count = stages.length === 1 ? '1 stage' : `${stages.length} stages`;
	const verdict = valid ? `valid (${count})` : `invalid: ${errors} ${errors === 1 ? 'error' : 'errors'}`;
	return [...lines, `${folder}: ${verdict}`].join('\n');
}
