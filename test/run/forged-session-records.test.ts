import { expect, it, vi } from 'vitest';
import { renderDone } from '../../scripts/lib/run/done-file.ts';
import { parseStage, type Stage } from '../../scripts/lib/run/stages.ts';
import { makeSandbox, type Sandbox } from '../support/sandbox.ts';
import { seedRun } from '../support/seeded-run.ts';
import { readPacket, SESSION_ENV } from '../support/session.ts';

vi.setConfig({ testTimeout: 60_000 });
const env = SESSION_ENV.claude;
const ANOTHER = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'session-2' };
const begin = (box: Sandbox, mode = '', by: Readonly<Record<string, string>> = env) =>
	box.ccc(['begin', '--session', 'claude'], { env: by, input: `resume "${box.run}" ${mode}` });
const REVIEW = ['artifacts/plan_v0_review.md', 'state/plan_v0_review.review.raw.md'];

it('a review with artifact, transcript and .done by hand counts only once it is adopted', async () => {
	const real = await makeSandbox();
	await seedRun(real, ['plan_v0', 'plan_v0_review']);
	const box = await makeSandbox();
	await seedRun(box, ['plan_v0']);
	await begin(box);
	const forge = (): void => {
		for (const file of REVIEW) box.write(file, real.read(file));
		box.write('state/plan_v0_review.done', renderDone(parseStage('plan_v0_review') as Stage));
	};
	forge();
	for (const words of [
		['next', box.run],
		['call', box.run],
		['run', 'resume', box.run],
	]) {
		const { code, stderr } = await box.ccc(words, { env });
		expect({ words, code, said: stderr.includes('not-in-ledger') }, stderr).toEqual({ words, code: 1, said: true });
	}
	expect(box.calls()).toEqual([]);
	expect((await box.ccc(['repair', box.run, 'rerun', 'plan_v0_review'], { env })).code).toBe(0);
	expect(readPacket((await begin(box)).stdout)).toMatchObject({ stage: 'plan_v0_review', owner: 'codex' });
	forge();
	expect((await box.ccc(['repair', box.run, 'adopt', 'plan_v0_review'], { env })).code).toBe(0);
	expect(readPacket((await begin(box)).stdout)).toMatchObject({ stage: 'code_v0', owner: 'codex' });
});

it('a takeover while a companion works in manual mode asks for no approval of what runs', async () => {
	const box = await makeSandbox({ plan_v0_review: { shell: 'while [ ! -e go ]; do sleep 0.1; done; rm go' } });
	await seedRun(box, ['plan_v0']);
	await begin(box, 'manual');
	await box.ccc(['call', box.run, '--wait', '0'], { env });
	const joined = readPacket((await begin(box, 'manual', ANOTHER)).stdout);
	expect(joined).toMatchObject({ stage: 'plan_v0_review', owner: 'codex' });
	box.repository.write('go', '');
	const ended = readPacket((await box.ccc(['call', box.run], { env: ANOTHER })).stdout);
	expect(ended).toMatchObject({ stage: 'code_v0', owner: 'user' });
	expect(box.calls()).toHaveLength(1);
});
