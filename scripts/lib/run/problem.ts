/** What the validator reports: one fault at one place of one file. */
import { visible } from '../markdown/quoted.ts';

export interface Problem {
	/** Path relative to the run folder, with forward slashes, where the caller knows it. */
	readonly file: string;
	/** 1-based, in the file as it is on disk. */
	readonly line: number;
	/** 1-based, in UTF-16 units of that line. */
	readonly column: number;
	/** Stable, kebab-case, one for each kind of fault. */
	readonly code: string;
	readonly found: string;
	readonly expected: string;
	/** Only an error makes a run invalid. */
	readonly level: 'error' | 'warning';
}

/** One line, `file:line:column: code: found, expected`; nothing in it can break the line or steer a terminal. */
export function formatProblem({ file, line, column, code, found, expected }: Problem): string {
	return visible(`${file}:${line}:${column}: ${code}: found ${found}, expected ${expected}`);
}

/** Whether none of the problems is an error. */
export function noErrors(problems: readonly Problem[]): boolean {
	return problems.every((problem) => problem.level !== 'error');
}
