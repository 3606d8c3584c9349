/** Finds <CCC_HOME> (protocol: CCC Home) and the prompt templates in it. */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { CccError, EXIT } from '../kit/errors.ts';
import type { PromptTemplates } from './prompt.ts';

/**
 * $CCC_HOME where it holds the protocol, otherwise the pack this code belongs to.
 * @throws CccError `incomplete-install` (exit 3) with the paths that were tried
 */
export async function findCccHome(fromEnvironment: string | undefined, pack: string): Promise<string> {
	const tried = [...(fromEnvironment ? [path.resolve(fromEnvironment)] : []), pack];
	for (const home of tried) {
		const protocol = path.join(home, 'protocol', 'CCC_PROTOCOL.md');
		if (await stat(protocol).catch(() => undefined)) return home;
	}
	throw new CccError('incomplete-install', 'The protocol of ccc is not where it should be.', {
		expected: 'protocol/CCC_PROTOCOL.md below CCC_HOME or the pack',
		found: `nothing in ${tried.join(', ')}`,
		next: `install the pack again: ${path.join(pack, 'scripts', 'ccc-install.sh')}`,
		exitCode: EXIT.blocked,
	});
}

/** @throws CccError `incomplete-install` naming the template that is missing */
export async function readPromptTemplates(home: string): Promise<PromptTemplates> {
	const [plan, planReview, code, review, correction] = await Promise.all(
		['plan', 'plan-review', 'code', 'code-review', 'correction'].map((name) => readTemplate(home, name)),
	);
	return { plan, plan_review: planReview, code, review, correction } as PromptTemplates;
}

async function readTemplate(home: string, name: string): Promise<string> {
	const file = path.join(home, 'protocol', 'prompts', `${name}.md`);
	try {
		return await readFile(file, 'utf8');
	} catch (cause) {
		throw new CccError('incomplete-install', 'A prompt template cannot be read.', {
			at: file,
			next: 'install the pack again',
			exitCode: EXIT.blocked,
			cause,
		});
	}
}
