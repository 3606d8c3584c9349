import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
	endsWithCommit,
	isCompletionRecorded,
	type LedgerEvent,
	lastCommitHash,
	readCommitDurations,
	recordEvent,
	recordEventOnce,
} from '../../scripts/lib/run/ledger.ts';
import { tempFolder } from '../support/temp-folder.ts';

const NOW = new Date('2024-01-02T03:04:05.678Z');
const PLAN = { kind: 'plan', version: 0 } as const;
const commit = (stage: string, artifact: string, durationMs?: number): LedgerEvent => ({
	event: 'commit',
	stage,
	sha256: { artifact },
	...(durationMs === undefined ? {} : { durationMs }),
});

async function ledger(...events: LedgerEvent[]): Promise<{ folder: string; file: string }> {
	const folder = await tempFolder();
	await mkdir(path.join(folder, 'state'));
	for (const event of events) await recordEvent(folder, event, NOW);
	return { folder, file: path.join(folder, 'state', 'ledger.jsonl') };
}

describe('the ledger', () => {
	it('has a line per event, with its time', async () => {
		const { file } = await ledger({ event: 'start' }, { event: 'blocked', reason: 'a\nb', result: 'x' });
		const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
		expect(lines.map((line) => JSON.parse(line))).toEqual([
			{ time: NOW.toISOString(), event: 'start' },
			{ time: NOW.toISOString(), event: 'blocked', reason: 'a\nb', result: 'x' },
		]);
	});

	it('records an event of one time once', async () => {
		const { folder, file } = await ledger();
		const event: LedgerEvent = { event: 'decide', stage: 'review_v0', result: 'accept' };
		for (const time of ['t1', 't1', 't2', 't1']) await recordEventOnce(folder, event, time);
		expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toHaveLength(2);
	});

	it('tells the last commit of a stage', async () => {
		const { folder } = await ledger(commit('plan_v0', 'a', 5), commit('plan_v0', 'b', 7), commit('code_v0', 'c'));
		expect(await lastCommitHash(folder, PLAN)).toBe('b');
		expect(await lastCommitHash(folder, { kind: 'review', version: 0 })).toBeUndefined();
		expect(await endsWithCommit(folder, 'code_v0', 'c')).toBe(true);
		expect(await endsWithCommit(folder, 'code_v0', 'd')).toBe(false);
		expect(await endsWithCommit(folder, 'plan_v0', 'b')).toBe(false);
		expect(await readCommitDurations(folder)).toEqual(new Map([['plan_v0', 7]]));
	});

	it('knows whether the end of the run is recorded', async () => {
		const { folder } = await ledger({ event: 'start' });
		expect(await isCompletionRecorded(folder)).toBe(false);
		await recordEvent(folder, { event: 'complete' }, NOW);
		await recordEvent(folder, { event: 'resume' }, NOW);
		expect(await isCompletionRecorded(folder)).toBe(true);
		await recordEvent(folder, { event: 'decide' }, NOW);
		expect(await isCompletionRecorded(folder)).toBe(false);
	});

	it('says nothing where there is none', async () => {
		const { folder } = await ledger();
		expect(await lastCommitHash(folder, PLAN)).toBeUndefined();
		expect(await isCompletionRecorded(folder)).toBe(false);
		expect(await readCommitDurations(folder)).toEqual(new Map());
	});

	it.each(['{', 'null', '5', '"commit"', '[]', '', '{"event":"commit","stage":"plan_v0","sha256":null}'])(
		'is not shaken by the line %j',
		async (line) => {
			const { folder, file } = await ledger(commit('code_v0', 'c', 3), { event: 'complete' });
			await writeFile(file, `${line}\n${await readFile(file, 'utf8')}`);
			await appendFile(file, line === '' || line.includes('commit') ? '' : line);
			expect(await lastCommitHash(folder, { kind: 'code', version: 0 })).toBe('c');
			expect(await lastCommitHash(folder, PLAN)).toBeUndefined();
			expect(await readCommitDurations(folder)).toEqual(new Map([['code_v0', 3]]));
			expect(typeof (await isCompletionRecorded(folder))).toBe('boolean');
			await recordEvent(folder, { event: 'complete' }, NOW);
			expect(await isCompletionRecorded(folder)).toBe(true);
		},
	);
});
