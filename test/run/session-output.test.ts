import { expect, it } from 'vitest';
import { makeSandbox } from '../support/sandbox.ts';
import { MAJOR, seedRun } from '../support/seeded-run.ts';
import { readPacket, SESSION_ENV } from '../support/session.ts';
import { snapshot } from '../support/snapshot.ts';

const RUN = '.ccc/runs/x';
const env = SESSION_ENV.claude;

/** A run of a Claude session that waits for a decision about its plan. */
async function undecided() {
	const box = await makeSandbox();
	await seedRun(box, ['plan_v0', ['plan_v0_review', MAJOR]]);
	const begun = await box.ccc(['begin', '--session', 'claude'], { env, input: `resume ${RUN}` });
	return { box, packet: readPacket(begun.stdout) };
}

it('a run cut between a review and its override says how to go on, from any folder', async () => {
	const { box } = await undecided();
	box.write('state/driver.json', box.read('state/driver.json').replace('"normal"', '"auto"'));
	const cut = readPacket((await box.ccc(['next', box.run], { env, cwd: box.home })).stdout);
	expect(cut).toMatchObject({ stage: 'plan_v0_review', owner: 'codex', write: undefined });
	expect(cut.answer).toMatch(/run NEXT/);
	expect(cut.next.slice(-2)).toEqual(['call', box.run]);
	const [program = '', ...words] = cut.next;
	const went = await box.ccc(words, { command: [program], env, cwd: box.home });
	expect(readPacket(went.stdout)).toMatchObject({ stage: 'code_v0', owner: 'codex' });
	expect(box.read('artifacts/plan_v0_review.md')).toContain('APPROVE_AUTO_OVERRIDE');
});

it('a decision that is none is refused, and one that is goes on', async () => {
	const { box, packet } = await undecided();
	expect(packet).toMatchObject({
		stage: 'plan_v0_review',
		owner: 'user',
		next: expect.arrayContaining(['decide', '-']),
	});
	const [program = '', ...words] = packet.next;
	const before = snapshot(box.run);
	for (const input of ['', ' \n', 'accept', 'maybe later', 'acceptance of it', 'revise:']) {
		const refused = await box.ccc(words, { command: [program], env, input });
		expect({ input, code: refused.code, stdout: refused.stdout }).toEqual({ input, code: 2, stdout: '' });
		expect(refused.stderr).toMatch(/\[(missing-argument|unknown-word)\]/);
	}
	for (const wait of ['-1', '1.5', '3601', 'x', '']) {
		const refused = await box.ccc(['call', box.run, `--wait=${wait}`], { env });
		expect({ wait, code: refused.code, said: refused.stderr.includes('[bad-wait]') }).toMatchObject({
			code: 2,
			said: true,
		});
	}
	expect(snapshot(box.run)).toEqual(before);
	const went = await box.ccc(words, {
		command: [program],
		env,
		input: 'Revise: name the “file”\nand the line `$HOME`.\n',
	});
	const plan = readPacket(went.stdout);
	expect(plan).toMatchObject({ stage: 'plan_v1', owner: 'claude', answer: 'P1 [major] Wrong line.' });
	expect(plan.read.some((file) => file.endsWith('direction.md'))).toBe(true);
	expect(box.read('state/decisions.jsonl')).toContain('name the “file”\\nand the line `$HOME`.');
});
