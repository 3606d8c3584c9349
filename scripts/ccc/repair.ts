import { CccError, EXIT } from '../lib/kit/errors.ts';
import { REPAIRS, repairStage } from '../lib/run/repair.ts';
import { existingRunFolder } from '../lib/run/run-folder.ts';
import { parseStage } from '../lib/run/stages.ts';
import { withClosing } from './closing.ts';
import type { Invocation } from './invocation.ts';
import { printReport } from './print.ts';
import { oneOf, takeWords } from './words.ts';

export async function repair({ words, json, cwd }: Invocation): Promise<number> {
	const [shown = '', word = '', name = ''] = takeWords(words, ['<folder>', 'rerun|aside|adopt', '<stage>']);
	const kind = oneOf(word, REPAIRS);
	const stage = parseStage(name);
	if (!stage) {
		throw new CccError('unknown-stage', 'This is not a stage.', {
			expected: 'plan_v0, plan_v0_review, code_v0, review_v0 or a later version',
			found: name,
			exitCode: EXIT.usage,
		});
	}
	return withClosing(shown, { cwd, json }, async () => {
		const folder = await existingRunFolder(shown, cwd);
		const report = await repairStage({ folder, shown, repair: kind, stage, now: () => new Date() });
		printReport(report, [], json);
		return report.exitCode;
	});
}
