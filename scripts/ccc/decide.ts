import { decide as decideRun } from '../lib/run/decide.ts';
import { existingRunFolder } from '../lib/run/run-folder.ts';
import { withClosing } from './closing.ts';
import type { Invocation } from './invocation.ts';
import { printReport } from './print.ts';
import { oneOf, takeWords } from './words.ts';

export async function decide({ words, json, cwd }: Invocation): Promise<number> {
	const [shown = '', word = '', reason = ''] = takeWords(words, ['<folder>', 'accept|revise', '"<reason>"']);
	const decision = oneOf(word, ['accept', 'revise'] as const);
	return withClosing(shown, { cwd, json }, async () => {
		const folder = await existingRunFolder(shown, cwd);
		const report = await decideRun({ folder, shown, decision, reason, now: () => new Date() });
		printReport(report, [], json);
		return report.exitCode;
	});
}
