/** Everything `ccc` prints. Results go to stdout, progress and errors to stderr. */

import type { z } from 'zod';
import { CccError, describeError, EXIT } from '../lib/kit/errors.ts';
import type { RunReport } from '../lib/run/run-report.ts';
import { oneLine } from '../lib/run/workflow-state.ts';
import type { errorOutput, Output } from './outputs.ts';

/** Control characters, and what turns or hides text on a screen: writing direction, zero width, tags. */
const UNPRINTABLE =
	/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g;

/** Text that may come from a model or a repository must not steer or deceive the terminal; line ends stay. */
export function printable(text: string): string {
	return text.replace(UNPRINTABLE, '\uFFFD');
}

export function printText(text: string): void {
	process.stdout.write(`${printable(text)}\n`);
}

export function printWarning(text: string): void {
	process.stderr.write(`Warning: ${printable(text)}\n`);
}

export function printJson(value: unknown): void {
	const text = JSON.stringify(value, null, 2);
	// The same value for a program, harmless for a screen.
	process.stdout.write(`${text.replace(UNPRINTABLE, escaped)}\n`);
}

const escaped = (found: string): string =>
	[...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

/** The end of a workflow command: reason and next step, then the protocol's closing lines (Final Output). */
export function printReport(report: RunReport, warnings: readonly string[], json: boolean): void {
	if (json) {
		printJson(workflowOutput(report, warnings));
		return;
	}
	if (report.reason !== undefined) printText(`${capital(report.status)}: ${oneLine(report.reason)}${codeOf(report)}`);
	if (report.waitingFor === 'approval') printText('Waiting for your approval before the next stage.');
	if (report.next !== undefined) printText(`Next: ${report.next}`);
	printText('');
	printText(closingLines(report.folder, report.stageCompleted, report.nextAction));
}

export function closingLines(folder: string, stageCompleted: string, nextAction: string): string {
	return `CCC run: ${oneLine(folder)}\nStage completed: ${stageCompleted}\nNext action: ${nextAction}`;
}

function workflowOutput(report: RunReport, warnings: readonly string[]): Output<'run'> {
	return {
		ccc_run: report.folder,
		stage_completed: report.stageCompleted,
		next_action: report.nextAction,
		status: report.status,
		exit_code: report.exitCode,
		waiting_for: report.waitingFor,
		code: report.code,
		reason: report.reason,
		next: report.next,
		warnings: [...warnings],
	};
}

const codeOf = ({ code }: RunReport): string => (code === undefined ? '' : ` [${code}]`);
const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

export interface Closing {
	readonly folder: string;
	readonly stageCompleted: string;
	readonly nextAction: string;
}

/**
 * @param closing where the run stands, for workflow commands that got as far as a run
 * @returns the exit code for this error; anything but a CccError is a fault of ours
 */
export function printError(error: unknown, json: boolean, closing?: Closing): number {
	const known = error instanceof CccError ? error : internalError(error);
	if (json) printJson(errorValue(known, closing));
	else {
		process.stderr.write(`${printable(describeError(known))}\n`);
		if (closing) printText(closingLines(closing.folder, closing.stageCompleted, closing.nextAction));
	}
	return known.exitCode;
}

function errorValue(error: CccError, closing: Closing | undefined): z.infer<typeof errorOutput> {
	const { at, line, expected, found, next } = error.facts;
	return {
		error: { code: error.code, message: error.message, at, line, expected, found, next },
		exit_code: error.exitCode,
		ccc_run: closing?.folder,
		stage_completed: closing?.stageCompleted,
		next_action: closing?.nextAction,
	};
}

function internalError(error: unknown): CccError {
	return new CccError(
		'internal',
		`Unexpected failure in ccc: ${error instanceof Error ? error.message : String(error)}`,
		{
			next: 'run the command again with CCC_DEBUG=1 and report what it prints',
			exitCode: EXIT.internal,
			cause: error,
		},
	);
}
