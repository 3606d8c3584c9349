import { asDriver } from '../lib/run/session-run.ts';
import { submitStage } from '../lib/run/submit-stage.ts';
import type { Invocation } from './invocation.ts';
import { callerOf, inSession, shownFolder, surroundingsOf } from './session.ts';
import { takeStage, takeWords } from './words.ts';

export async function submit(invocation: Invocation): Promise<number> {
	const [given = '', name = ''] = takeWords(invocation.words, ['<folder>', '<stage>']);
	const stage = takeStage(name);
	const shown = shownFolder(given, invocation.cwd);
	const caller = callerOf(invocation);
	return inSession(shown, invocation, () =>
		asDriver(shown, 'submit', caller, surroundingsOf(invocation), (by, driver) =>
			submitStage(by, driver, caller, stage),
		),
	);
}
