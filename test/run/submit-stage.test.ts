import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { planDocument } from '../fakes/documents.mjs';
import { makeFifo } from '../support/git-repository.ts';
import { makeSandbox, type Sandbox } from '../support/sandbox.ts';
import { APPROVAL, seedRun } from '../support/seeded-run.ts';
import { readPacket, SESSION_ENV, type SessionKind, usualDraft } from '../support/session.ts';
import { snapshot } from '../support/snapshot.ts';

vi.setConfig({ testTimeout: 60_000 });

/** A run that waits for a stage of this session, and its packet. */
async function waitingRun(
	stages: Parameters<typeof seedRun>[1],
	session: Exclude<SessionKind, 'unknown'> = 'claude',
	more: { mode?: string; seed?: Parameters<typeof seedRun>[2]; box?: Sandbox } = {},
) {
	const box = more.box ?? (await makeSandbox());
	await seedRun(box, stages, more.seed);
	const env = SESSION_ENV[session];
	const ccc = (words: readonly string[], options = {}) => box.ccc(words, { env, ...options });
	const begin = () => ccc(['begin', '--session', session], { input: `resume "${box.run}" ${more.mode ?? ''}` });
	const begun = await begin();
	const packet = readPacket(begun.stdout);
	const submit = (stage = packet.stage) => ccc(['submit', box.run, stage]);
	return { box, ccc, begin, packet, submit, write: packet.write as string };
}

/** What a refusal must leave as it was: all but the lock's own folder. */
const records = (box: Sandbox): Record<string, string> =>
	Object.fromEntries(
		Object.entries(snapshot(box.repository.root))
			.filter(([name]) => !/(?:^|\/)state(?:\/lock.*)?$|^\.git/.test(name))
			.map(([name, value]) => [name, value]),
	);

describe('submit refuses', () => {
	it('what is no text of the stage, and leaves everything as it was', async () => {
		const { box, submit, write, packet } = await waitingRun([]);
		const good = planDocument(0);
		const drafts: [string, () => void, string][] = [
			['nothing', () => {}, 'nothing-written'],
			['empty', () => writeFileSync(write, ''), 'nothing-written'],
			['blank', () => writeFileSync(write, ' \n\ufeff\n'), 'nothing-written'],
			['a folder', () => mkdirSync(write), 'nothing-written'],
			['a fifo', () => makeFifo(write), 'nothing-written'],
			['a link outside', () => symlinkSync('/etc/passwd', write), 'nothing-written'],
			['a link to nowhere', () => symlinkSync('nowhere', write), 'nothing-written'],
			['large', () => truncateSync(write, 5 * 1024 * 1024), 'nothing-written'],
			['binary', () => writeFileSync(write, Uint8Array.of(0, 255, 254, 1)), 'nothing-written'],
			[
				'not UTF-8',
				() => writeFileSync(write, Buffer.from(good.replace('more', 'caf\xe9'), 'latin1')),
				'nothing-written',
			],
			['NUL', () => writeFileSync(write, good.replace('more', 'm\0re')), 'not-acceptable'],
			['another version', () => writeFileSync(write, planDocument(1)), 'not-acceptable'],
			['a heading gone', () => writeFileSync(write, good.replace('## Scope', '### Scope')), 'not-acceptable'],
			['a heading twice', () => writeFileSync(write, `${good}\n## Scope\n\nx\n`), 'not-acceptable'],
			['not initial', () => writeFileSync(write, good.replace('Initial plan.', 'First.')), 'not-acceptable'],
		];
		for (const [name, make, code] of drafts) {
			if (name === 'large') writeFileSync(write, '');
			make();
			const before = records(box);
			const { code: exit, stderr, stdout } = await submit();
			expect({ name, exit, found: stderr.includes(`[${code}]`) }, stderr).toEqual({ name, exit: 1, found: true });
			expect(stderr).toContain(write);
			expect(stderr).toContain('submit');
			expect(stdout).toContain('Next action: plan_v0');
			expect(records(box), name).toEqual(before);
			rmSync(write, { recursive: true, force: true });
		}
		writeFileSync(write, good.replaceAll('\n', '\r\n'));
		const done = await submit();
		expect({ code: done.code, stderr: done.stderr }).toEqual({ code: 0, stderr: '' });
		expect(readPacket(done.stdout).stage).not.toBe(packet.stage);
		expect(existsSync(write)).toBe(false);
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
	});

	it('a stage that is done, not its own, not due, or no stage at all', async () => {
		const { box, submit } = await waitingRun(['plan_v0', 'plan_v0_review'], 'codex');
		const before = records(box);
		for (const [stage, words] of [
			['plan_v0', 'committed already'],
			['plan_v0_review', 'committed already'],
			['review_v0', 'code_v0 by codex'],
			['plan_v1', 'code_v0 by codex'],
			['code_v00', 'unknown-stage'],
			['../x', 'unknown-stage'],
		] as const) {
			const { code, stderr } = await submit(stage);
			expect({ stage, code }).toEqual({ stage, code: 2 });
			expect(stderr).toContain(words);
		}
		expect(records(box)).toEqual(before);
	});

	it('everything before the approval of the user, and what another session hands in', async () => {
		const { box, submit, write, packet, ccc } = await waitingRun([], 'claude', {
			mode: 'manual',
			seed: { planCode: 'claude-claude' },
		});
		writeFileSync(write, usualDraft(box, packet));
		for (const [name, env] of [
			['claude', { CLAUDE_CODE_SESSION_ID: 'session-2' }],
			['codex', SESSION_ENV.codex],
			['nobody', {}],
		] as const) {
			for (const words of [
				['submit', box.run, 'plan_v0'],
				['next', box.run],
				['call', box.run],
			]) {
				const { code, stderr } = await box.ccc(words, { env });
				expect({ name, words, code, said: stderr.includes('[other-coordinator]') }).toMatchObject({
					code: 4,
					said: true,
				});
			}
			const decision = await box.ccc(['decide', box.run, '-'], { env, input: 'accept it' });
			expect(decision.code).toBe(4);
		}
		const stopped = await submit();
		const approval = readPacket(stopped.stdout);
		expect(approval).toMatchObject({ stage: 'plan_v0_review', owner: 'user', write: undefined });
		const early = await submit('plan_v0_review');
		expect({ code: early.code, said: early.stderr.includes('the approval of the user') }).toEqual({
			code: 2,
			said: true,
		});
		const [program = '', ...rest] = approval.next;
		const went = await ccc(rest, { command: [program] });
		expect(readPacket(went.stdout)).toMatchObject({ stage: 'plan_v0_review', owner: 'claude' });
	});
});

describe('the draft of a session', () => {
	it('survives every command that is not its submit', async () => {
		const { box, submit, write, packet, ccc, begin } = await waitingRun([], 'claude');
		const text = 'half of a plan';
		writeFileSync(write, text);
		const commands: (() => Promise<{ code: number | undefined }>)[] = [
			() => submit(),
			() => submit('plan_v0_review'),
			() => ccc(['next', box.run]),
			() => ccc(['call', box.run]),
			() => ccc(['status', box.run]),
			() => ccc(['validate', box.run]),
			() => ccc(['list']),
			() => ccc(['diff', box.run]),
			begin,
			() => ccc(['begin', '--session', 'claude'], { input: `resume "${box.run}" auto verify="true"` }),
			() => ccc(['decide', box.run, 'accept', 'why']),
			() => ccc(['repair', box.run, 'aside', 'code_v0']),
			() => ccc(['cancel', box.run, 'enough']),
			() => ccc(['next', box.run]),
		];
		for (const [at, command] of commands.entries()) {
			await command();
			expect(existsSync(write) && readFileSync(write, 'utf8'), `after command ${at}`).toBe(text);
		}
		expect(packet.stage).toBe('plan_v0');
		expect(box.calls()).toEqual([]);
	});

	it('is kept aside when the stage gets another owner', async () => {
		const { box, write, ccc } = await waitingRun([], 'claude');
		writeFileSync(write, 'half of a plan');
		const input = `resume "${box.run}" plan-code=codex-claude`;
		const went = await ccc(['begin', '--session', 'claude'], { input });
		expect(readPacket(went.stdout)).toMatchObject({ stage: 'plan_v0', owner: 'codex' });
		expect(box.read('state/aside/plan_v0.1/plan_v0.md.tmp')).toBe('half of a plan');
	});
});

describe('the guard around a stage of the session', () => {
	it('blocks a review during which the repository changed, until it is as it was', async () => {
		const { box, submit, write, begin } = await waitingRun(['plan_v0', 'plan_v0_review', 'code_v0']);
		writeFileSync(write, APPROVAL);
		const file = path.join(box.repository.root, 'a.txt');
		const code = readFileSync(file);
		writeFileSync(file, 'softened\n');
		const blocked = await submit();
		expect(blocked.code).toBe(3);
		const packet = readPacket(blocked.stdout);
		expect(packet).toMatchObject({ stage: 'none', owner: 'user' });
		expect(packet.answer).toContain('[repository-changed]');
		expect(packet.answer).toContain('a.txt');
		expect(blocked.stdout).toContain('Next action: blocked');
		expect(box.status()).toBe('blocked');
		expect(box.done()).not.toContain('review_v0');
		writeFileSync(file, code);
		expect(readPacket((await begin()).stdout)).toMatchObject({ stage: 'review_v0', write });
		const done = await submit();
		expect({ code: done.code, status: box.status() }).toEqual({ code: 0, status: 'complete' });
	});

	it('lets the user keep what changed: the review is done anew', async () => {
		const { box, submit, write, begin, ccc } = await waitingRun(['plan_v0', 'plan_v0_review', 'code_v0']);
		writeFileSync(write, APPROVAL);
		writeFileSync(path.join(box.repository.root, 'b.txt'), 'wanted\n');
		const { answer } = readPacket((await submit()).stdout);
		expect(answer).toMatch(/repair \S.* rerun review_v0/);
		expect((await ccc(['repair', box.run, 'rerun', 'review_v0'])).code).toBe(0);
		const anew = readPacket((await begin()).stdout);
		const outputs = anew.read.find((name) => name.endsWith('git-outputs.md')) ?? '';
		expect(readFileSync(outputs, 'utf8')).toContain('wanted');
		writeFileSync(anew.write as string, APPROVAL);
		expect((await submit()).code).toBe(0);
	});

	it('lets a plan or code stage change files, but no stage move HEAD', async () => {
		const { box, submit, write, packet, begin } = await waitingRun(['plan_v0', 'plan_v0_review'], 'codex');
		const { repository } = box;
		writeFileSync(write, usualDraft(box, packet));
		const before = repository.git('rev-parse', 'HEAD').trim();
		repository.git('commit', '-q', '-a', '-m', 'mine');
		const blocked = await submit();
		expect(blocked.code).toBe(3);
		expect(readPacket(blocked.stdout).answer).toContain(before);
		repository.git('reset', '-q', '--soft', before);
		expect(readPacket((await begin()).stdout)).toMatchObject({ stage: 'code_v0', write });
		const done = await submit();
		expect(readPacket(done.stdout)).toMatchObject({ stage: 'review_v0', owner: 'claude' });
		expect(done.code).toBe(0);
	});
});

describe('a review', () => {
	it.each([
		[
			'findings of all kinds',
			'## Findings\r\n\r\n- [major] Wrong line.\r\n- a nit without a tag\r\n- [minor] small\r\n\r\nREADY: yes\r\n',
		],
		[
			'prose, a fence and a verdict of its own',
			'I think [major] it breaks `x`.\n\n```\nREADY: yes\nVERDICT: APPROVE\n```\n\n# Plan v0 Review\n\nREADY: no\n',
		],
		['a blocker', '\ufeff- [minor] nit\n\nBLOCKED: no access\n\nREADY: no   \n'],
	])('with %s is the same from the session as from its CLI', async (_, text) => {
		const seed = { rounds: { plan: 1, code: 0 } };
		const mine = await waitingRun(['plan_v0'], 'codex', { seed });
		writeFileSync(mine.write, text);
		expect((await mine.submit()).stderr).toBe('');
		const theirs = await waitingRun(['plan_v0'], 'claude', {
			seed,
			box: await makeSandbox({ plan_v0_review: { answer: text } }),
		});
		expect((await theirs.ccc(['call', theirs.box.run])).stderr).toBe('');
		for (const file of ['artifacts/plan_v0_review.md', 'state/plan_v0_review.review.raw.md']) {
			expect(mine.box.read(file)).toBe(theirs.box.read(file));
		}
		expect(mine.box.read('artifacts/plan_v0_review.md')).toMatch(/VERDICT: (NEEDS_CHANGES|BLOCKER)/);
		expect(mine.box.read('state/plan_v0_review.review.raw.md')).toBe(text);
	});

	it('without its last line is refused, and nothing of it is lost', async () => {
		const { box, submit, write } = await waitingRun(['plan_v0'], 'codex');
		for (const text of ['- [major] Wrong.\n', '- [major] Wrong.\n\nREADY: yes or no\n', 'Not READY: yes\n']) {
			writeFileSync(write, text);
			const { code, stderr } = await submit();
			expect({ code, said: stderr.includes('[not-acceptable]') }).toEqual({ code: 1, said: true });
			expect(readFileSync(write, 'utf8')).toBe(text);
		}
		expect(box.done()).toEqual(['plan_v0']);
	});
});
