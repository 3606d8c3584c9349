import { detectSession as detect } from '../lib/agents/session.ts';
import type { Invocation } from './invocation.ts';
import type { Output } from './outputs.ts';
import { printJson, printText } from './print.ts';
import { takeWords } from './words.ts';

export async function detectSession({ words, json, env }: Invocation): Promise<number> {
	takeWords(words, []);
	const session = detect(env);
	if (json) printJson({ session, exit_code: 0 } satisfies Output<'detect-session'>);
	else printText(session);
	return 0;
}
