/** The files of a run folder as the validator reads them: what cannot be read becomes a problem. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../kit/errors.ts';
import { quoted } from '../markdown/quoted.ts';
import { describeRefusal, findInnerFile, type Refusal, readInnerFile } from './inner-file.ts';
import type { Problem } from './problem.ts';
import { parseStage, type Stage } from './stages.ts';

/** A problem of a whole file. */
export function fileProblem(
	file: string,
	code: string,
	found: string,
	expected: string,
	level: Problem['level'] = 'error',
): Problem {
	return { file, line: 1, column: 1, code, found, expected, level };
}

/** The bytes, or undefined and a problem. @param wanted what the file should be, for the message */
export async function readOrReport(
	folder: string,
	relative: string,
	{ maxBytes, wanted, optional = false }: { maxBytes: number; wanted: string; optional?: boolean },
	problems: Problem[],
): Promise<Uint8Array | undefined> {
	const result = await readInnerFile(folder, relative, maxBytes);
	if (result instanceof Uint8Array) return result;
	if (result !== 'missing' || !optional) report(relative, result, wanted, problems);
	return undefined;
}

/** Reports a file that is not there, not regular or not inside; its content may be anything. */
export async function requireFile(
	folder: string,
	relative: string,
	wanted: string,
	problems: Problem[],
): Promise<void> {
	const result = await findInnerFile(folder, relative);
	if (typeof result === 'string') report(relative, result, wanted, problems);
}

function report(file: string, refusal: Refusal, wanted: string, problems: Problem[]): void {
	const { code, found, expected } = describeRefusal(refusal, wanted);
	problems.push(fileProblem(file, code, found, expected));
}

/** The stages whose files (`<stage><extension>`) are in a subfolder, and the names that are no stage's. */
export async function listStages(
	folder: string,
	name: 'artifacts' | 'state',
	extension: '.md' | '.done',
	problems: Problem[],
): Promise<{ stages: Stage[]; others: string[] }> {
	let names: string[];
	try {
		names = await readdir(path.join(folder, name));
	} catch (error) {
		if (systemCode(error) === undefined) throw error;
		problems.push(
			fileProblem(name, 'missing-folder', `no folder that can be read (${systemCode(error)})`, `the folder ${name}`),
		);
		return { stages: [], others: [] };
	}
	const stages: Stage[] = [];
	const others: string[] = [];
	for (const entry of names.sort()) {
		const stage = entry.endsWith(extension) ? parseStage(entry.slice(0, -extension.length)) : undefined;
		if (stage) stages.push(stage);
		else others.push(entry);
	}
	return { stages, others };
}

/** A problem for each name that is none of a stage's. */
export function reportNames(
	name: string,
	others: readonly string[],
	code: string,
	level: Problem['level'],
	problems: Problem[],
): void {
	for (const entry of others) {
		problems.push(fileProblem(`${name}/${entry}`, code, quoted(entry), 'a name of a stage such as plan_v0', level));
	}
}
