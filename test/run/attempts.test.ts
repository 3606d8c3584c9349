import { mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
	type Attempt,
	attemptOfCall,
	callFolderOf,
	callsFolder,
	latestAttempt,
	liveAttempts,
	writeAttempt,
} from '../../scripts/lib/run/attempts.ts';
import { parseStage } from '../../scripts/lib/run/stages.ts';
import { rejectionOf } from '../support/ccc-error.ts';
import { tempFolder } from '../support/temp-folder.ts';

const attempt = (stage: string, number: number, over: Partial<Attempt> = {}): Attempt => ({
	version: 1,
	stage,
	number,
	owner: 'claude',
	purpose: 'first',
	prompt: { sha256: 'a', bytes: 10 },
	root: '/repository',
	exclude: ['.ccc/runs/x'],
	before: { head: null, headRef: null, entries: {} },
	...over,
});

describe('attempts', () => {
	it('are none before the first', async () => {
		const folder = await tempFolder();
		expect(await latestAttempt(folder, parseStage('plan_v0')!)).toBeUndefined();
		expect(await liveAttempts(folder)).toEqual([]);
	});

	it('are found by number, not by name, and each by its call folder', async () => {
		const folder = await tempFolder();
		const attempts = [2, 10, 9, 1].map((number) => attempt('plan_v0', number));
		for (const one of attempts) await writeAttempt(folder, one);
		await writeAttempt(folder, attempt('plan_v0_review', 30));
		expect(await latestAttempt(folder, parseStage('plan_v0')!)).toEqual(attempts[1]);
		expect(await attemptOfCall(callFolderOf(folder, attempts[2]!))).toEqual(attempts[2]);
	});

	it('are private', async () => {
		const folder = await tempFolder();
		await writeAttempt(folder, attempt('plan_v0', 1));
		expect((await stat(callsFolder(folder))).mode & 0o777).toBe(0o700);
		expect((await stat(`${callFolderOf(folder, attempt('plan_v0', 1))}.json`)).mode & 0o777).toBe(0o600);
	});

	it('are live while the latest of a stage is not handled', async () => {
		const folder = await tempFolder();
		await writeAttempt(folder, attempt('plan_v0', 1));
		await writeAttempt(folder, attempt('plan_v0', 2, { handled: 'committed' }));
		await writeAttempt(folder, attempt('code_v0', 1, { handled: 'unreadable', problems: ['x'] }));
		await writeAttempt(folder, attempt('code_v0', 2, { purpose: 'correction', diff: { sha256: 'd', bytes: 1 } }));
		expect((await liveAttempts(folder)).map(({ stage, number }) => [stage, number])).toEqual([['code_v0', 2]]);
	});

	it('leave other files alone', async () => {
		const folder = await tempFolder();
		await mkdir(path.join(callsFolder(folder), 'plan_v0.7'), { recursive: true });
		for (const name of [
			'plan_v0.01.json',
			'plan_v0.8.json.abc.tmp',
			'notes.1.json',
			'plan_v0x9.json',
			'plan_v0.json',
		]) {
			await writeFile(path.join(callsFolder(folder), name), '{');
		}
		expect(await latestAttempt(folder, parseStage('plan_v0')!)).toBeUndefined();
		expect(await liveAttempts(folder)).toEqual([]);
	});

	it.each(['', '{', 'null', '{"version":1}', JSON.stringify({ ...attempt('plan_v0', 1), version: 2 })])(
		'that are damaged say what to do: %j',
		async (text) => {
			const folder = await tempFolder();
			await mkdir(callsFolder(folder), { recursive: true });
			await writeFile(path.join(callsFolder(folder), 'plan_v0.1.json'), text);
			const error = await rejectionOf(latestAttempt(folder, parseStage('plan_v0')!));
			expect(error.code).toBe('bad-attempt');
			expect(error.facts.at).toContain('plan_v0.1.json');
			expect(error.facts.next).toContain('ccc repair');
		},
	);

	it('that are gone are damaged too', async () => {
		const folder = await tempFolder();
		expect(await rejectionOf(attemptOfCall(path.join(folder, 'plan_v0.1')))).toMatchObject({ code: 'bad-attempt' });
	});
});
