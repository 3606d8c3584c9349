import path from 'node:path';
import { CccError, EXIT } from '../lib/kit/errors.ts';
import { quoteWord } from '../lib/kit/words.ts';
import { parseRunArguments } from '../lib/run/arguments.ts';
import { runHeadless } from '../lib/run/headless-run.ts';
import type { WorkArguments } from '../lib/run/new-run.ts';
import type { RunReport } from '../lib/run/run-report.ts';
import { readRunSettings } from '../lib/run/settings.ts';
import { cancel } from './cancel.ts';
import { withClosing } from './closing.ts';
import type { Invocation } from './invocation.ts';
import { printReport } from './print.ts';
import { progressView } from './progress-view.ts';

class Interrupted extends Error {
	override readonly name = 'Interrupted';
}

/** `ccc run`: the progress goes to stderr, the end to stdout. */
export async function run(invocation: Invocation): Promise<number> {
	const args = parseRunArguments(invocation.words);
	if (args.kind === 'cancel') return cancel({ ...invocation, words: [args.folder, args.reason] });
	return withClosing(args.folder, invocation, () => drive(args, invocation));
}

async function drive(args: WorkArguments, invocation: Invocation): Promise<number> {
	const view = progressView(process.stderr);
	const interrupt = new AbortController();
	const onSignal = (): void => interrupt.abort(new Interrupted());
	const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
	for (const signal of signals) process.on(signal, onSignal);
	let report: RunReport;
	try {
		report = await runHeadless(args, {
			cwd: invocation.cwd,
			env: invocation.env,
			settings: readRunSettings(invocation.env),
			pack: invocation.pack,
			supervisorArgv: [process.execPath, path.join(invocation.pack, 'scripts', 'ccc.mjs'), 'supervise'],
			now: () => new Date(),
			report: view.report,
			signal: interrupt.signal,
		});
	} catch (error) {
		view.end();
		if (!(error instanceof Interrupted)) throw error;
		throw new CccError('interrupted', 'Interrupted; the companion was stopped.', {
			at: args.folder,
			next: `ccc run resume ${quoteWord(args.folder)}`,
			exitCode: EXIT.interrupted,
		});
	} finally {
		for (const signal of signals) process.off(signal, onSignal);
	}
	view.end();
	printReport(report, view.warnings, invocation.json);
	return report.exitCode;
}
