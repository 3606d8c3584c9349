import { readChanges } from '../lib/git/changes.ts';
import { openRun } from '../lib/run/run-folder.ts';
import { readRunFile } from '../lib/run/truth.ts';
import type { Invocation } from './invocation.ts';
import type { Output } from './outputs.ts';
import { printJson } from './print.ts';
import { takeWords } from './words.ts';

export async function diff({ words, json, cwd, env }: Invocation): Promise<number> {
	const [shown = ''] = takeWords(words, ['<folder>']);
	const { folder, repository, relative } = await openRun(shown, cwd, env);
	const { baseline } = await readRunFile(folder);
	const patch = await readChanges(repository, baseline, [relative]);
	if (json) printJson({ ccc_run: shown, diff: patch.toString('utf8'), exit_code: 0 } satisfies Output<'diff'>);
	// A patch is for `git apply` as much as for eyes: not a byte may be changed on the way.
	else process.stdout.write(patch);
	return 0;
}
