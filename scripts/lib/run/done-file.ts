/** The commit point of a stage (protocol: Validation Before .done, Done file content). */
import { readFrontMatter } from '../markdown/front-matter.ts';
import { quoted } from '../markdown/quoted.ts';
import type { Problem } from './problem.ts';
import { artifactPath, type Stage, stageName } from './stages.ts';

const CLOSING = 'Completed by CCC coordinator after artifact validation.';

const fieldsOf = (stage: Stage): Record<string, string> => ({
	stage: stageName(stage),
	artifact: artifactPath(stage),
	status: 'complete',
});

/** The exact content of `state/<stage>.done`, ending in one newline. */
export function renderDone(stage: Stage): string {
	const fields = Object.entries(fieldsOf(stage)).map(([key, value]) => `${key}: ${value}\n`);
	return `---\n${fields.join('')}---\n${CLOSING}\n`;
}

/**
 * All that is wrong with a `.done` file of `stage`. Line ends, a byte order mark and blank lines around the closing
 * line make no difference; any other key, value or text does.
 */
export function parseDone(bytes: Uint8Array, file: string, stage: Stage): Problem[] {
	const result = readFrontMatter(bytes);
	if ('problem' in result) {
		const { code, line, column, found, expected } = result.problem;
		return [{ file, line, column, code, found, expected, level: 'error' }];
	}
	const { data, keyLines, body, bodyLine } = result.frontMatter;
	const problems: Problem[] = [];
	const report = (line: number, code: string, found: string, expected: string) =>
		problems.push({ file, line, column: 1, code, found, expected, level: 'error' });
	const fields = fieldsOf(stage);
	for (const [key, value] of Object.entries(fields)) {
		const actual = data[key];
		if (actual === undefined) report(1, 'missing-key', `no '${key}:'`, `'${key}: ${value}'`);
		else if (actual !== value)
			report(keyLines[key] ?? 1, `wrong-${key}`, quoted(`${key}: ${actual}`), `'${key}: ${value}'`);
	}
	for (const key of Object.keys(data)) {
		if (!Object.hasOwn(fields, key))
			report(keyLines[key] ?? 1, 'unknown-key', quoted(key), 'only stage, artifact and status');
	}
	if (body.trim() !== CLOSING) {
		const blank = /^\s*/.exec(body)![0].split('\n').length - 1;
		report(bodyLine + (body.trim() === '' ? 0 : blank), 'wrong-closing', quoted(body.trim()), `'${CLOSING}'`);
	}
	return problems;
}
