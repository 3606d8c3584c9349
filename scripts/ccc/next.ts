import { existingRunFolder } from '../lib/run/run-folder.ts';
import { currentOutput } from '../lib/run/session-run.ts';
import type { Invocation } from './invocation.ts';
import { callerOf, inSession, shownFolder } from './session.ts';
import { takeWords } from './words.ts';

export async function next(invocation: Invocation): Promise<number> {
	const [given = ''] = takeWords(invocation.words, ['<folder>']);
	const shown = shownFolder(given, invocation.cwd);
	return inSession(shown, invocation, async () =>
		currentOutput(await existingRunFolder(given, invocation.cwd), shown, callerOf(invocation)),
	);
}
