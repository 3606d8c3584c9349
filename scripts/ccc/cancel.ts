import { cancelRun } from '../lib/run/cancel-run.ts';
import { existingRunFolder } from '../lib/run/run-folder.ts';
import { withClosing } from './closing.ts';
import type { Invocation } from './invocation.ts';
import { printReport } from './print.ts';
import { takeWords } from './words.ts';

export async function cancel({ words, json, cwd }: Invocation): Promise<number> {
	const [shown = '', reason = ''] = takeWords(words, ['<folder>', '"<reason>"']);
	return withClosing(shown, { cwd, json }, async () => {
		const folder = await existingRunFolder(shown, cwd);
		const report = await cancelRun({ folder, shown, reason, now: () => new Date() });
		printReport(report, [], json);
		return report.exitCode;
	});
}
