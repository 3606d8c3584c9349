import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { planDocument } from '../fakes/documents.mjs';
import { makeSandbox } from '../support/sandbox.ts';
import { seedRun } from '../support/seeded-run.ts';

describe('cancel', () => {
	it('records the reason in run.md and deletes nothing', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0', 'plan_v0_review']);
		const { code, stdout } = await box.ccc(['run', 'cancel', box.run, 'no\n\n## Status\n\ncomplete']);
		expect(code).toBe(0);
		expect(stdout).toContain('Next action: canceled');
		expect(box.status()).toBe('canceled');
		expect(box.read('run.md')).toMatch(/^next_action: canceled\nreason: .*no ## Status complete/m);
		expect(box.done()).toEqual(['plan_v0', 'plan_v0_review']);
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
	});

	it.each([
		['an artifact without .done', 'state/plan_v0.done'],
		['a .done without its artifact', 'artifacts/plan_v0.md'],
	])('works in a run that has %s', async (_, missing) => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		rmSync(path.join(box.run, missing));
		const { code, stderr } = await box.ccc(['cancel', box.run, 'broken']);
		expect(code, stderr).toBe(0);
		expect(box.status()).toBe('canceled');
		expect(box.read('run.md')).toContain('reason: broken');
		if (missing.startsWith('state')) expect(box.read('artifacts/plan_v0.md')).toBe(planDocument(0));
	});

	it('that was cut before run.md was written is finished by the next one', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		const active = box.read('run.md');
		await box.ccc(['cancel', box.run, 'first']);
		box.write('run.md', active);
		expect((await box.ccc(['cancel', box.run, 'second'])).code).toBe(0);
		expect(box.read('run.md')).toMatch(/^reason: .*first/m);
		expect(box.read('state/decisions.jsonl').trimEnd().split('\n')).toHaveLength(1);
		expect((await box.ccc(['cancel', box.run, 'third'])).stderr).toContain('[already-canceled]');
	});

	it('records nothing where run.md cannot be read', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		box.write('run.md', 'nothing\n');
		const { code, stderr } = await box.ccc(['cancel', box.run, 'broken']);
		expect(code).toBe(1);
		expect(stderr).toContain('[invalid-run]');
		expect(box.read('run.md')).toBe('nothing\n');
		expect(box.has('state/decisions.jsonl')).toBe(false);
	});
});

it('a complete run has nothing to cancel', async () => {
	const box = await makeSandbox();
	expect(await box.ccc(['run', box.run, 'Change a.txt', 'p0-c0'])).toMatchObject({ code: 0 });
	const { code, stderr } = await box.ccc(['cancel', box.run, 'no']);
	expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('[nothing-to-cancel]') });
	expect(box.status()).toBe('complete');
	expect(box.has('state/decisions.jsonl')).toBe(false);
});
