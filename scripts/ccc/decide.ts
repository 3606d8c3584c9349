import { CccError, EXIT } from '../lib/kit/errors.ts';
import { decide as decideRun } from '../lib/run/decide.ts';
import { decideInSession } from '../lib/run/decide-in-session.ts';
import { existingRunFolder } from '../lib/run/run-folder.ts';
import { withClosing } from './closing.ts';
import type { Invocation } from './invocation.ts';
import { printReport } from './print.ts';
import { callerOf, inSession, readStdin, shownFolder, surroundingsOf } from './session.ts';
import { oneOf, takeWords } from './words.ts';

const DECISIONS = ['accept', 'revise'] as const;

/** With `-` a session passes on what its user said, and goes on with the run. */
export async function decide(invocation: Invocation): Promise<number> {
	const { words, json, cwd } = invocation;
	if (words[1] === '-') return decideFromStdin(invocation);
	const [shown = '', word = '', reason = ''] = takeWords(words, ['<folder>', 'accept|revise', '"<reason>"']);
	const decision = oneOf(word, DECISIONS);
	return withClosing(shown, { cwd, json }, async () => {
		const folder = await existingRunFolder(shown, cwd);
		const report = await decideRun({ folder, shown, decision, reason, now: () => new Date() });
		printReport(report, [], json);
		return report.exitCode;
	});
}

async function decideFromStdin(invocation: Invocation): Promise<number> {
	const [given = ''] = takeWords(invocation.words, ['<folder>', '-']);
	const text = (await readStdin('The decision')).trim();
	const [word = ''] = text.split(/\s/, 1);
	const decision = DECISIONS.find((known) => known === word.toLowerCase().replace(/[:,.]$/, ''));
	const reason = text.slice(word.length).trim();
	if (decision === undefined || reason === '') {
		throw new CccError('missing-argument', 'The decision or its reason is missing.', {
			expected: 'accept or revise, then the reason',
			found: text,
			next: 'ask the user which of the two they choose, and why',
			exitCode: EXIT.usage,
		});
	}
	const shown = shownFolder(given, invocation.cwd);
	return inSession(shown, invocation, () =>
		decideInSession(shown, { decision, reason }, callerOf(invocation), surroundingsOf(invocation)),
	);
}
