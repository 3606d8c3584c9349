import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { splitWords } from '../../scripts/lib/kit/words.ts';
import { LAUNCHER, makeSandbox, type Sandbox, type Scenario } from '../support/sandbox.ts';
import { seedRun } from '../support/seeded-run.ts';
import { readPacket, SESSION_ENV } from '../support/session.ts';
import { snapshot } from '../support/snapshot.ts';

vi.setConfig({ testTimeout: 90_000 });
const RUN = '.ccc/runs/x';

/** A run of a Claude session in which Codex has to review the plan. */
async function atReview(scenario: Scenario = {}, more: Readonly<Record<string, string>> = {}) {
	const box = await makeSandbox(scenario);
	await seedRun(box, ['plan_v0'], { rounds: { plan: 1, code: 0 } });
	const env = { ...SESSION_ENV.claude, ...more };
	const ccc = (words: readonly string[], options = {}) => box.ccc(words, { env, ...options });
	const call = (...words: string[]) => ccc(['call', box.run, ...words]);
	const begin = (words = '') => ccc(['begin', '--session', 'claude'], { input: `resume ${RUN} ${words}` });
	await begin();
	return { box, ccc, call, begin };
}

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
	for (let tries = 0; tries < 400; tries++) {
		if (await what()) return;
		await sleep(50);
	}
	throw new Error('it never came to that');
}

/** The process that has the stage done. */
async function coordinatorOf(box: Sandbox): Promise<number | undefined> {
	for (const pid of await box.running()) {
		try {
			if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[2] === 'coordinate') return pid;
		} catch {}
	}
	return undefined;
}

const asked = (box: Sandbox): string[] => box.calls().map(({ who, stage }) => `${stage} ${who}`);
const ONCE = ['plan_v0_review codex'];
/** Another plan is wanted, which is the session's own to write. */
const SAID = '- [major] Wrong line.\n\nREADY: no\n';
const AFTER = { stage: 'plan_v1', owner: 'claude' };

describe('a call that takes long', () => {
	it('says so in time and in few bytes, goes on, and is taken over by another session', async () => {
		const { box, call, ccc, begin } = await atReview({
			plan_v0_review: { shell: 'while [ ! -e go ]; do sleep 0.1; done; rm go', answer: SAID },
		});
		const began = performance.now();
		const first = await call('--wait', '1');
		expect(performance.now() - began).toBeLessThan(20_000);
		expect(first).toMatchObject({ code: 0, stderr: '' });
		expect(first.stdout).toMatch(/^plan_v0_review: codex is still running \(.+\)\. Run the same command again\.\n$/);
		expect(Buffer.byteLength(first.stdout)).toBeLessThan(200);
		expect(JSON.parse((await call('--wait', '0', '--json')).stdout)).toMatchObject({
			still_running: true,
			owner: 'codex',
		});
		const waiting = readPacket((await ccc(['next', box.run])).stdout);
		expect(waiting).toMatchObject({ stage: 'plan_v0_review', owner: 'codex' });
		expect((await ccc(['submit', box.run, 'plan_v0_review'])).code).toBe(4);

		for (const words of ['auto', 'plan-code=codex-claude']) {
			const refused = await begin(words);
			expect({ code: refused.code, said: refused.stderr.includes('[locked]') }).toEqual({ code: 4, said: true });
		}
		const other = { env: { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'session-2' } };
		const joined = await box.ccc(['begin', '--session', 'claude'], { ...other, input: `resume ${RUN}` });
		expect(readPacket(joined.stdout)).toMatchObject({ stage: 'plan_v0_review', owner: 'codex' });
		expect((await call('--wait', '0')).code).toBe(4);
		box.repository.write('go', '');
		const ended = await box.ccc(['call', box.run], other);
		expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
		expect(readPacket(ended.stdout)).toMatchObject(AFTER);
		expect(asked(box)).toEqual(ONCE);
		expect((await box.ccc(['next', box.run], { env: SESSION_ENV.claude })).code).toBe(4);
		expect(box.read('state/driver.json')).toContain('session-');
	});

	it('outlives the command that waits for it', async () => {
		const { box, ccc, call } = await atReview({ plan_v0_review: { shell: 'sleep 2', answer: SAID } });
		await ccc(['call', box.run], { command: ['timeout', '-s', 'KILL', '1.5', process.execPath, LAUNCHER] });
		await until(() => box.calls().length === 1);
		const next = await call();
		expect(readPacket(next.stdout)).toMatchObject(AFTER);
		expect(asked(box)).toEqual(ONCE);
	});

	it('is attached to when its coordinator was killed', async () => {
		const { box, call } = await atReview({ plan_v0_review: { shell: 'sleep 2', answer: SAID } });
		await call('--wait', '0');
		await until(() => box.calls().length === 1);
		const pid = await coordinatorOf(box);
		process.kill(pid as number, 'SIGKILL');
		const next = await call();
		expect({ code: next.code, stderr: next.stderr }).toEqual({ code: 0, stderr: '' });
		expect(readPacket(next.stdout)).toMatchObject(AFTER);
		expect(asked(box)).toEqual(ONCE);
	});

	it('is started once by commands that come at once, and all of them hear of its end', async () => {
		const { box, call } = await atReview({ plan_v0_review: { shell: 'sleep 1', answer: SAID } });
		const ran = await Promise.all([call(), call(), call()]);
		for (const { code, stdout, stderr } of ran) {
			expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
			expect(readPacket(stdout)).toMatchObject(AFTER);
		}
		expect(asked(box)).toEqual(ONCE);
		expect(box.status()).toBe('active');
	});

	it('ends when the run is canceled', async () => {
		const { box, call, ccc } = await atReview({ plan_v0_review: { hang: true } });
		await call('--wait', '0');
		await until(() => box.calls().length === 1);
		const waiting = call();
		const canceled = await ccc(['cancel', box.run, 'enough']);
		expect({ code: canceled.code, stderr: canceled.stderr }).toEqual({ code: 0, stderr: '' });
		const ended = await waiting;
		expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 3, stderr: '' });
		expect(readPacket(ended.stdout)).toMatchObject({ stage: 'none', owner: 'user', next: [] });
		expect(box.status()).toBe('canceled');
		await until(async () => (await box.running()).length === 0);
	});
});

describe('a companion that fails', () => {
	const RETRIED = new Set(['failed', 'unavailable', 'unreadable', 'repository-changed', 'records-changed']);
	const UNREADABLE = 'Looks fine to me.\n';
	it.each<[string, Scenario[string], Record<string, string>, string, number]>([
		['with an exit code', { exit: 1, stderr: 'ERROR: unexpected status 500\nNEXT: sh x\n' }, {}, 'failed', 5],
		['not logged in', { exit: 1, stderr: 'ERROR: unexpected status 401 Unauthorized: no\n' }, {}, 'not-logged-in', 5],
		['without an answer', { answer: '' }, {}, 'empty', 5],
		['by its deadline', { hang: true }, { CCC_AGENT_TIMEOUT_SECONDS: '1' }, 'timed-out', 5],
		['to be there', {}, { CCC_CODEX_BIN: '/nonexistent/codex' }, 'unavailable', 5],
		['twice to keep the form', { answer: UNREADABLE }, {}, 'unreadable', 3],
		['to keep its hands off', { shell: 'echo more >> a.txt' }, {}, 'repository-changed', 3],
		[
			'by forging records',
			{ shell: 'cd .ccc/runs/x/state; for f in plan_v0_review.done call.json driver.json; do echo "{}" > $f; done' },
			{},
			'records-changed',
			3,
		],
	])('%s blocks the run, which is told once and tried again', async (_, step, more, code, exit) => {
		const { box, call, ccc } = await atReview({ plan_v0_review: step as Scenario[string] }, more);
		const failed = await call();
		expect({ code: failed.code, stderr: failed.stderr }).toEqual({ code: exit, stderr: '' });
		const packet = readPacket(failed.stdout);
		expect(packet).toMatchObject({ stage: 'none', owner: 'user', write: undefined });
		expect(packet.answer).toMatch(new RegExp(`^Tell the user: blocked: .*\\[[a-z-]*${code}\\]`));
		expect(packet.rest).toBe(`CCC run: ${RUN}\nStage completed: plan_v0\nNext action: blocked`);
		expect(packet.next.slice(-2)).toEqual(['resume', box.run]);
		expect(box.status()).toBe('blocked');
		expect(box.done()).toEqual(['plan_v0']);
		expect(box.has('state/call.json')).toBe(false);

		if (!RETRIED.has(code)) return;
		box.play({ plan_v0_review: { answer: SAID } });
		if (code === 'repository-changed') box.repository.write('a.txt', 'one\n');
		const [program = '', ...rest] = packet.next;
		const good = { CCC_CODEX_BIN: path.join(box.bin, 'codex'), CCC_AGENT_TIMEOUT_SECONDS: '60' };
		const env = { ...SESSION_ENV.claude, ...good };
		const resumed = await ccc(rest, { command: [program], env });
		expect(readPacket(resumed.stdout)).toMatchObject({ stage: 'plan_v0_review', owner: 'codex' });
		const went = await ccc(['call', box.run], { env });
		expect({ code: went.code, stderr: went.stderr }).toEqual({ code: 0, stderr: '' });
		expect(readPacket(went.stdout)).toMatchObject(AFTER);
	});

	it('once to keep the form is asked again', async () => {
		const { box, call } = await atReview({
			plan_v0_review: [{ answer: UNREADABLE }, { answer: SAID }],
		});
		expect(readPacket((await call()).stdout)).toMatchObject(AFTER);
		expect(asked(box)).toEqual([...ONCE, ...ONCE]);
	});
});

describe('in a sandbox', () => {
	it.each([
		['codex', { CODEX_SANDBOX: 'seatbelt' }, 'require_escalated'],
		['claude', { SANDBOX_RUNTIME: '1' }, 'dangerouslyDisableSandbox'],
	])('of %s starting a companion is refused, with the command to run outside', async (agent, sandbox, word) => {
		const { box, call, ccc } = await atReview({ plan_v0_review: { shell: 'sleep 1', answer: SAID } });
		const inside = { env: { ...SESSION_ENV.claude, ...sandbox } };
		const before = snapshot(box.repository.root);
		const refused = await ccc(['call', box.run], inside);
		expect(refused.code).toBe(5);
		expect(refused.stderr).toContain('[companion-sandboxed]');
		expect(refused.stderr).toContain(word);
		expect(snapshot(box.repository.root)).toEqual(before);
		const line = refused.stderr.split('\n').find((text) => text.includes(' call ')) ?? '';
		const [program = '', ...words] = splitWords(line);
		expect(words.slice(1)).toEqual(['call', box.run]);
		const started = await ccc([...words, '--wait', '0'], { command: [program] });
		expect(started.stdout).toContain('still running');
		const waited = await ccc(['call', box.run], inside);
		// Claude Code's sandbox would show up in the work tree when the companion is judged.
		if (agent === 'codex') expect(readPacket(waited.stdout)).toMatchObject(AFTER);
		else expect(waited).toMatchObject({ code: 5, stderr: expect.stringContaining(`\n  ${line.trim()}\n`) });
		expect(readPacket((await call()).stdout)).toMatchObject(AFTER);
		expect(asked(box)).toEqual(ONCE);
	});
});

it('a fault of the coordinator is told, not answered with the same call for ever', async () => {
	const { box, call } = await atReview({ plan_v0_review: { answer: SAID } });
	rmSync(path.join(box.run, 'state/calls'), { recursive: true, force: true });
	box.write('state/calls', '');
	const failed = await call();
	expect(failed.code, failed.stdout).not.toBe(0);
	expect(failed.stderr + failed.stdout).toMatch(/\[[a-z-]+\]/);
	expect(asked(box)).toEqual([]);
	rmSync(path.join(box.run, 'state/calls'));
	expect(readPacket((await call()).stdout)).toMatchObject(AFTER);
});

it.each(['folder', 'file'])('a link in the place of the coordinator’s log (%s) leads nowhere', async (which) => {
	const { box, call } = await atReview({ plan_v0_review: { answer: SAID } });
	const victim = path.join(box.home, which === 'file' ? 'victim' : 'output.log');
	writeFileSync(victim, 'precious');
	const own = path.join(box.run, 'state/coordinator');
	if (which === 'file') mkdirSync(own, { recursive: true });
	symlinkSync(which === 'file' ? victim : box.home, which === 'file' ? path.join(own, 'output.log') : own);
	expect(readPacket((await call()).stdout)).toMatchObject(AFTER);
	expect(readFileSync(victim, 'utf8')).toBe('precious');
});

it('next changes nothing, wherever the run stands', async () => {
	const { box, call, ccc, begin } = await atReview({
		plan_v0_review: { exit: 1, stderr: 'no' },
	});
	const looks = async (where: string): Promise<void> => {
		const before = snapshot(box.repository.root);
		const first = await ccc(['next', box.run]);
		expect({ where, stderr: first.stderr }).toEqual({ where, stderr: '' });
		expect((await ccc(['next', RUN])).stdout).toBe(first.stdout);
		expect(snapshot(box.repository.root), where).toEqual(before);
	};
	await looks('before a call');
	await call();
	await looks('blocked');
	box.play({ plan_v0_review: { answer: '- [major] Wrong.\n\nBLOCKED: no access\n\nREADY: no\n' } });
	await begin();
	await call();
	await looks('waiting for a decision');
	await ccc(['decide', box.run, '-'], { input: 'revise Say how.' });
	await looks('a stage of its own');
	await begin('manual');
	await looks('in manual mode');
	await ccc(['cancel', box.run, 'enough']);
	await looks('canceled');
});
