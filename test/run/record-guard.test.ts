import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { confirmRecords, readRecords } from '../../scripts/lib/run/record-guard.ts';
import { tempFolder } from '../support/temp-folder.ts';

async function folder(): Promise<string> {
	const at = await tempFolder();
	for (const name of ['artifacts', 'state/calls/plan_v0.1', 'state/lock'])
		await mkdir(path.join(at, name), { recursive: true });
	for (const name of ['run.md', 'task.md', 'artifacts/plan_v0.md', 'state/plan_v0.done', 'state/ledger.jsonl']) {
		await writeFile(path.join(at, name), name);
	}
	return at;
}

type Change = (at: string) => Promise<void>;
const write =
	(name: string): Change =>
	(at) =>
		writeFile(path.join(at, name), 'else');

describe('the records of a run while a companion works', () => {
	it.each<[string, Change, string]>([
		['an artifact', write('artifacts/plan_v0.md'), 'artifacts/plan_v0.md'],
		['run.md', write('run.md'), 'run.md'],
		['a new .done', write('state/plan_v0_review.done'), 'state/plan_v0_review.done'],
		['the ledger', write('state/ledger.jsonl'), 'state/ledger.jsonl'],
		['an attempt at a stage to come', write('state/calls/review_v0.1.json'), 'state/calls/review_v0.1.json'],
		[
			'artifacts that became a link to elsewhere',
			async (at) => {
				await rename(path.join(at, 'artifacts'), path.join(at, 'state/calls/elsewhere'));
				await writeFile(path.join(at, 'state/calls/elsewhere/plan_v0.md'), 'else');
				await symlink('state/calls/elsewhere', path.join(at, 'artifacts'));
			},
			'artifacts, artifacts/plan_v0.md',
		],
		['a removed file', (at) => rm(path.join(at, 'state/plan_v0.done')), 'state/plan_v0.done'],
		[
			'a file replaced by a link to the same text',
			async (at) => {
				await writeFile(path.join(at, 'state/calls/plan_v0.1/copy'), 'task.md');
				await rm(path.join(at, 'task.md'));
				await symlink('state/calls/plan_v0.1/copy', path.join(at, 'task.md'));
			},
			'task.md',
		],
	])('%s is noticed, put back, and kept aside', async (_, change, file) => {
		const at = await folder();
		const before = await readRecords(at);
		await change(at);
		await expect(confirmRecords(at, 'run', 'code_v0', before)).rejects.toThrow(
			expect.objectContaining({ code: 'records-changed', facts: expect.objectContaining({ found: file }) }),
		);
		expect(await readRecords(at)).toEqual(before);
		if (!_.startsWith('a removed')) expect(await readdir(path.join(at, 'state/aside/records.1'))).toHaveLength(1);
	});

	it('a run that is gone is not written into', async () => {
		const at = await folder();
		const before = await readRecords(at);
		await rm(at, { recursive: true });
		await expect(confirmRecords(at, 'run', 'code_v0', before)).rejects.toThrow(
			expect.objectContaining({ code: 'records-gone' }),
		);
		await expect(readdir(at)).rejects.toThrow('ENOENT');
	});

	it('what calls, the lock and a request to cancel write is theirs', async () => {
		const at = await folder();
		const before = await readRecords(at);
		await write('state/calls/plan_v0.1/stdout.txt')(at);
		await write('state/lock/2.json')(at);
		await write('state/cancel.request')(at);
		await write('state/cancel.request.1f.tmp')(at);
		await confirmRecords(at, 'run', 'code_v0', before);
		await expect(readdir(path.join(at, 'state/aside'))).rejects.toThrow('ENOENT');
	});
});
