import { checkAgent as check } from '../lib/agents/check-agent.ts';
import { readAgentConfig } from '../lib/agents/config.ts';
import { EXIT } from '../lib/kit/errors.ts';
import { AGENTS } from '../lib/run/stages.ts';
import type { Invocation } from './invocation.ts';
import type { Output } from './outputs.ts';
import { printJson, printText } from './print.ts';
import { oneOf, takeWords } from './words.ts';

export async function checkAgent({ words, json, env }: Invocation): Promise<number> {
	const [word] = takeWords(words, ['claude|codex']);
	const agent = oneOf(word, AGENTS);
	const result = await check(agent, readAgentConfig(env), env);
	const exitCode = result.ok ? EXIT.ok : EXIT.companion;
	if (json) {
		const { missingFlags, ...rest } = result;
		printJson({ ...rest, missing_flags: missingFlags, exit_code: exitCode } satisfies Output<'check-agent'>);
		return exitCode;
	}
	printText(`${agent}: ${result.ok ? 'ok' : 'not usable'}`);
	printText(`  program: ${result.bin}${result.version === undefined ? '' : `, version ${result.version}`}`);
	printText(`  logged in: ${result.login}`);
	if (result.missingFlags.length > 0) printText(`  missing options: ${result.missingFlags.join(', ')}`);
	if (result.problem !== undefined) printText(`  problem: ${result.problem}`);
	if (result.next !== undefined) printText(`  next: ${result.next}`);
	return exitCode;
}
