import { REPAIRS, repairStage } from '../lib/run/repair.ts';
import { existingRunFolder } from '../lib/run/run-folder.ts';
import { withClosing } from './closing.ts';
import type { Invocation } from './invocation.ts';
import { printReport } from './print.ts';
import { oneOf, takeStage, takeWords } from './words.ts';

export async function repair({ words, json, cwd }: Invocation): Promise<number> {
	const [shown = '', word = '', name = ''] = takeWords(words, ['<folder>', 'rerun|aside|adopt', '<stage>']);
	const kind = oneOf(word, REPAIRS);
	const stage = takeStage(name);
	return withClosing(shown, { cwd, json }, async () => {
		const folder = await existingRunFolder(shown, cwd);
		const report = await repairStage({ folder, shown, repair: kind, stage, now: () => new Date() });
		printReport(report, [], json);
		return report.exitCode;
	});
}
