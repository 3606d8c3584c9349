import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Decision, readDecisions, recordDecision } from '../../scripts/lib/run/decisions.ts';
import { parseStage } from '../../scripts/lib/run/stages.ts';
import { rejectionOf } from '../support/ccc-error.ts';
import { tempFolder } from '../support/temp-folder.ts';

const TIME = '2024-01-01T00:00:00.000Z';

async function runFolder(text?: string): Promise<string> {
	const folder = await tempFolder();
	await mkdir(path.join(folder, 'state'));
	if (text !== undefined) await writeFile(path.join(folder, 'state', 'decisions.jsonl'), text);
	return folder;
}

describe('decisions', () => {
	it('are none without a file', async () => {
		expect(await readDecisions(await runFolder())).toEqual([]);
	});

	it('come back in their order, a line each', async () => {
		const folder = await runFolder();
		const taken: Decision[] = [
			{ decision: 'revise', stage: parseStage('plan_v0_review')!, reason: 'two\nlines "é"', time: TIME },
			{ decision: 'accept', stage: parseStage('review_v12')!, reason: '', time: TIME },
			{ decision: 'cancel', reason: 'enough', time: TIME },
		];
		for (const decision of taken) await recordDecision(folder, decision);
		expect(await readDecisions(folder)).toEqual(taken);
		const lines = (await readFile(path.join(folder, 'state', 'decisions.jsonl'), 'utf8')).split('\n');
		expect(lines).toHaveLength(4);
		expect(JSON.parse(lines[1]!)).toEqual({ decision: 'accept', stage: 'review_v12', reason: '', time: TIME });
	});

	it('may stand between blank lines and end without a newline', async () => {
		const line = JSON.stringify({ decision: 'cancel', reason: 'x', time: TIME });
		expect(await readDecisions(await runFolder(`\n${line}\r\n\n${line}`))).toHaveLength(2);
	});

	it.each([
		['no JSON', '{'],
		['a list', '[]'],
		['null', 'null'],
		['another word', '{"decision":"approve","stage":"review_v0","reason":"x","time":"t"}'],
		['no stage', '{"decision":"accept","reason":"x","time":"t"}'],
		['a stage that is no review', '{"decision":"accept","stage":"plan_v0","reason":"x","time":"t"}'],
		['a stage that is none', '{"decision":"revise","stage":"review_v01","reason":"x","time":"t"}'],
		['a reason that is no text', '{"decision":"cancel","reason":1,"time":"t"}'],
	])('are refused with their line: %s', async (_, line) => {
		const good = JSON.stringify({ decision: 'cancel', reason: 'x', time: TIME });
		const error = await rejectionOf(readDecisions(await runFolder(`${good}\n${line}\n`)));
		expect(error).toMatchObject({ code: 'bad-decisions', exitCode: 1, facts: { line: 2 } });
		expect(error.facts.next).toBeTruthy();
	});

	it('are read from any text, or refused', async () => {
		const folder = await runFolder();
		await fc.assert(
			fc.asyncProperty(fc.array(fc.oneof(fc.json(), fc.string()), { maxLength: 3 }), async (lines) => {
				await writeFile(path.join(folder, 'state', 'decisions.jsonl'), lines.join('\n'));
				const result = await readDecisions(folder).catch((error: unknown) => error);
				if (!Array.isArray(result)) expect(result).toMatchObject({ code: 'bad-decisions' });
			}),
			{ numRuns: 50 },
		);
	});
});
