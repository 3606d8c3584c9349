/** The hidden subcommand that has one stage done for a session, in a process of its own; `ccc call` starts it. */
import { coordinateStage } from '../lib/run/stage-coordinator.ts';
import type { Invocation } from './invocation.ts';
import { callerOf, surroundingsOf } from './session.ts';
import { takeWords } from './words.ts';

export async function coordinate(invocation: Invocation): Promise<number> {
	const [folder = ''] = takeWords(invocation.words, ['<folder>']);
	await coordinateStage({ folder, caller: callerOf(invocation) }, surroundingsOf(invocation));
	return 0;
}
