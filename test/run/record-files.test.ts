import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cancelRun } from '../../scripts/lib/run/cancel-run.ts';
import { decide } from '../../scripts/lib/run/decide.ts';
import { confirmRecordFiles, readRecord } from '../../scripts/lib/run/record-files.ts';
import { repairStage } from '../../scripts/lib/run/repair.ts';
import { listRuns, readRunOverview } from '../../scripts/lib/run/run-overview.ts';
import { makeFifo } from '../support/git-repository.ts';
import { makeSandbox, type Sandbox } from '../support/sandbox.ts';
import { MAJOR, seedRun } from '../support/seeded-run.ts';
import { tempFolder } from '../support/temp-folder.ts';

const KINDS = {
	folder: (file: string) => mkdirSync(file),
	fifo: makeFifo,
};
type Kind = keyof typeof KINDS;

const RECORDS = [
	...['run.md', 'task.md', 'artifacts/plan_v0.md', 'artifacts/plan_v0_review.md', 'state/plan_v0.done'],
	...['state/plan_v0_review.done', 'state/plan_v0_review.review.raw.md', 'state/decisions.jsonl'],
	...['state/ledger.jsonl', 'state/intent.json', 'state/verify.running', 'state/cancel.request'],
];

async function brokenRun(record: string, kind: Kind): Promise<Sandbox> {
	const box = await makeSandbox();
	await seedRun(box, ['plan_v0', ['plan_v0_review', MAJOR]]);
	const file = path.join(box.run, record);
	rmSync(file, { force: true });
	KINDS[kind](file);
	return box;
}

describe('a record that is no file', () => {
	it.each(RECORDS.flatMap((record) => (Object.keys(KINDS) as Kind[]).map((kind) => [record, kind] as const)))(
		'%s as a %s is refused before anything is done',
		async (record, kind) => {
			const box = await brokenRun(record, kind);
			const options = { folder: box.run, shown: box.run, reason: 'why', now: () => new Date() };
			const stage = { kind: 'plan_review', version: 0 } as const;
			for (const work of [
				() => readRunOverview(box.run, new Date()),
				() => decide({ ...options, decision: 'accept' }),
				() => repairStage({ ...options, repair: 'rerun', stage }),
				() => cancelRun(options),
			]) {
				await expect(work()).rejects.toMatchObject({
					code: 'not-a-file',
					exitCode: 1,
					facts: { at: path.join(box.run, record), expected: expect.any(String), next: expect.any(String) },
				});
			}
			expect(await listRuns(box.repository.root)).toEqual([{ folder: box.run, run: undefined }]);
			if (record !== 'state/decisions.jsonl') expect(box.has('state/decisions.jsonl')).toBe(false);
		},
	);

	it.each(['run.md', 'artifacts/plan_v0_review.md'])('%s is what each command says is wrong', async (record) => {
		const box = await brokenRun(record, 'fifo');
		const commands = [
			['status', box.run],
			['run', 'resume', box.run],
			['decide', box.run, 'accept', 'why'],
			['repair', box.run, 'aside', 'plan_v0_review'],
			['cancel', box.run, 'why'],
		];
		for (const words of commands) {
			const { code, stderr } = await box.ccc(words);
			expect(stderr).toContain('[not-a-file]');
			expect(stderr).toContain(record);
			expect(code).toBe(1);
		}
		const listed = await box.ccc(['list']);
		expect(listed.code).toBe(0);
		expect(listed.stdout).toContain('unreadable');
		expect(box.calls()).toEqual([]);
	});
});

describe('records', () => {
	it('may be links inside the run folder, or missing, beside other folders', async () => {
		const folder = await tempFolder();
		mkdirSync(path.join(folder, 'state/calls'), { recursive: true });
		writeFileSync(path.join(folder, 'real.md'), 'text');
		symlinkSync('real.md', path.join(folder, 'run.md'));
		await confirmRecordFiles(folder);
		expect((await readRecord(folder, 'run.md'))?.toString()).toBe('text');
		expect(await readRecord(folder, 'task.md')).toBeUndefined();
		expect(await readRecord(path.join(folder, 'gone'), 'run.md')).toBeUndefined();
	});

	it('may not be links to somewhere else', async () => {
		const folder = await tempFolder();
		const outside = path.join(await tempFolder(), 'run.md');
		writeFileSync(outside, 'text');
		symlinkSync(outside, path.join(folder, 'run.md'));
		await expect(confirmRecordFiles(folder)).rejects.toMatchObject({ code: 'outside-run-folder' });
		await expect(readRecord(folder, 'run.md')).rejects.toMatchObject({ code: 'outside-run-folder' });
	});
});
