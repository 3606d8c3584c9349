import { stat } from 'node:fs/promises';
import path from 'node:path';
import { openRepository } from '../lib/git/repository.ts';
import { CccError, EXIT } from '../lib/kit/errors.ts';
import { type ListedRun, listRuns, readRunOverview } from '../lib/run/run-overview.ts';
import type { Invocation } from './invocation.ts';
import type { Output } from './outputs.ts';
import { printJson, printText } from './print.ts';

export async function list({ words, json, cwd, env }: Invocation): Promise<number> {
	if (words.length > 1) {
		throw new CccError('unknown-word', 'One word too many.', {
			expected: '[dir]',
			found: words[1] ?? '',
			exitCode: EXIT.usage,
		});
	}
	const top = words[0] === undefined ? (await openRepository(cwd, { env })).root : path.resolve(cwd, words[0]);
	if (!(await stat(top).catch(() => undefined))?.isDirectory()) {
		throw new CccError('not-a-folder', 'There is no such folder.', { at: words[0] ?? top, exitCode: EXIT.usage });
	}
	const runs = await Promise.all((await listRuns(top)).map((listed) => row(listed, cwd)));
	if (json) {
		printJson({ runs, exit_code: 0 } satisfies Output<'list'>);
		return 0;
	}
	if (runs.length === 0) printText(`No runs below ${path.relative(cwd, top) || '.'}`);
	for (const { folder, status, stage_completed, next_action, task } of runs) {
		printText(`${folder}\n  ${status}, done: ${stage_completed}, next: ${next_action}\n  ${task}`);
	}
	return 0;
}

/** What cannot be read, or has to be repaired first, is still listed. */
async function row({ folder, run }: ListedRun, cwd: string): Promise<Output<'list'>['runs'][number]> {
	const overview = await readRunOverview(folder, new Date()).catch(() => undefined);
	const known = overview?.run ?? run;
	return {
		folder: path.relative(cwd, folder) || '.',
		status: known?.status ?? 'unreadable',
		stage_completed: overview?.stageCompleted ?? 'none',
		next_action: known?.workflow.nextAction ?? 'none',
		task: known?.taskSummary.split('\n')[0] ?? '',
	};
}
