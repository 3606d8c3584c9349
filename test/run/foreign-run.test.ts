import { rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { makeSandbox } from '../support/sandbox.ts';
import { seedRun } from '../support/seeded-run.ts';
import { readPacket, SESSION_ENV } from '../support/session.ts';

vi.setConfig({ testTimeout: 60_000 });
const env = SESSION_ENV.claude;

async function foreignRun() {
	const box = await makeSandbox({ code_v0: { exit: 1, stderr: 'ERROR: unexpected status 500\n' } });
	await seedRun(box, ['plan_v0', 'plan_v0_review']);
	rmSync(path.join(box.run, 'state/ledger.jsonl'));
	return box;
}

it('a run that another program made goes on in a session after it was resumed', async () => {
	const box = await foreignRun();
	const begun = await box.ccc(['begin', '--session', 'claude'], { env, input: `resume "${box.run}"` });
	expect(readPacket(begun.stdout)).toMatchObject({ stage: 'code_v0', owner: 'codex' });
	const next = await box.ccc(['next', box.run], { env });
	expect({ code: next.code, stderr: next.stderr }).toEqual({ code: 0, stderr: '' });
	const again = await box.ccc(['begin', '--session', 'claude'], { env, input: `resume "${box.run}"` });
	expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' });
});

it('a run that another program made can be resumed headless more than once', async () => {
	const box = await foreignRun();
	expect((await box.ccc(['run', 'resume', box.run])).code).toBe(5);
	box.play({});
	const again = await box.ccc(['run', 'resume', box.run]);
	expect({ code: again.code, status: box.status() }, again.stderr).toEqual({ code: 0, status: 'complete' });
});
