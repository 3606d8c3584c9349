import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { makeRepository } from '../support/git-repository.ts';
import { makeSandbox, type Sandbox } from '../support/sandbox.ts';
import { seedRun } from '../support/seeded-run.ts';
import { readPacket, SESSION_ENV } from '../support/session.ts';
import { snapshot } from '../support/snapshot.ts';

vi.setConfig({ testTimeout: 60_000 });
const RUN = '.ccc/runs/x';
const env = SESSION_ENV.claude;
const begin = (box: Sandbox, input: string, words: readonly string[] = ['--session', 'claude'], more = {}) =>
	box.ccc(['begin', ...words], { env, input, ...more });

describe('begin', () => {
	it('keeps every character of the task', async () => {
		const box = await makeSandbox();
		const task = 'Say "it\'s" $HOME `id` $(id) \\n \\\\ \n\nEND\n  漢字 ‘x’ “y” 🙂 !! %s {{task}} $& <b> p1-c1 auto';
		const { code, stderr, stdout } = await begin(box, `${RUN} "${task}" p1-c0 auto\n`);
		expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
		expect(box.read('task.md')).toContain(task);
		const packet = readPacket(stdout);
		expect(packet).toMatchObject({ stage: 'plan_v0', owner: 'claude', read: [path.join(box.run, 'task.md')] });
		expect(packet.write).toBe(path.join(box.run, 'artifacts/plan_v0.md.tmp'));
		expect(box.read('run.md')).toContain('session_detected: claude');
	});

	it('resumes and cancels by the words on standard input or on the command line', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		const resumed = await begin(box, ` resume  ${RUN} auto `);
		expect(readPacket(resumed.stdout)).toMatchObject({ stage: 'plan_v0_review', owner: 'codex', read: [] });
		const again = await box.ccc(['begin', '--session', 'codex', 'resume', RUN], { env: SESSION_ENV.codex });
		const review = readPacket(again.stdout);
		expect(review).toMatchObject({ stage: 'plan_v0_review', owner: 'codex' });
		expect(review.write).toBe(path.join(box.run, 'state/plan_v0_review.review.raw.md.tmp'));
		const canceled = await begin(box, `cancel ${RUN} "no longer"`);
		expect(canceled).toMatchObject({ code: 0, stderr: '' });
		expect(canceled.stdout).toContain('Next action: canceled');
		expect(box.status()).toBe('canceled');
		const over = await begin(box, `resume ${RUN}`);
		expect(over.code).toBe(3);
		expect(readPacket(over.stdout)).toMatchObject({ stage: 'none', owner: 'user', next: [] });
		expect(readPacket(over.stdout).answer).toContain('canceled: no longer');
	});

	it('creates nothing when it is refused', async () => {
		const box = await makeSandbox();
		const before = snapshot(box.root);
		const outside = path.join(box.root, 'elsewhere');
		const bad: [string, string, (readonly string[])?, object?][] = [
			['', 'missing-argument'],
			[' \n', 'missing-argument'],
			[`${RUN} task without quotes`, 'missing-quotes'],
			[`${RUN} "task`, 'unclosed-quote'],
			[`${RUN} "task" p1-c1 p2-c2`, 'duplicate-argument'],
			[`${RUN} "task" now`, 'unknown-word'],
			[`${RUN} "task" plan-code=claude`, 'bad-plan-code'],
			[`${RUN} ""`, 'empty-argument'],
			[`resume ${RUN}`, 'not-a-run'],
			[`cancel ${RUN} "why"`, 'not-a-run'],
			[`"${outside}" "task"`, 'folder-outside-repository'],
			[`. "task"`, 'folder-is-repository'],
			[`.git/x "task"`, 'reserved-folder'],
			[`"a\nb" "task"`, 'bad-folder'],
			[`"a\u202eb" "task"`, 'bad-folder'],
			[`"a\u200bb" "task"`, 'bad-folder'],
			[`${'d/'.repeat(200)}x "task"`, 'path-too-long'],
			[`"${"'".repeat(150)}/x" "task"`, 'path-too-long'],
			[`${RUN} "${'x'.repeat(1_200_000)}"`, 'too-large'],
			[`${RUN} "task"`, 'unknown-word', ['--session', 'gemini']],
			[`${RUN} "task"`, 'unknown-word', ['--session', '']],
			[`${RUN} "task"`, 'unknown-word', ['--stage', 'review']],
		];
		const said: string[] = [];
		for (const [input, code, words, more] of bad) {
			const ran = await begin(box, input, words, more);
			const clear = ran.stdout === '' && ran.stderr.includes(`[${code}]`) && !/^ {4}at /m.test(ran.stderr);
			if (ran.code !== 2 || !clear)
				said.push(`${code}: ${ran.code} ${input.slice(0, 80)}\n${ran.stderr.slice(0, 300)}`);
		}
		expect(said).toEqual([]);
		const nowhere = await begin(box, `${RUN} "task"`, [], { cwd: box.home });
		expect(nowhere.stderr).toContain('[not-a-repository]');
		expect(snapshot(box.root)).toEqual(before);
	});

	it('reads nothing from a closed or useless standard input', async () => {
		const box = await makeSandbox();
		const line = `"${process.execPath}" "$LAUNCHER" begin --session claude`;
		const { LAUNCHER } = await import('../support/sandbox.ts');
		for (const [redirection, code] of [
			['<&-', 'missing-argument'],
			['</dev/null', 'missing-argument'],
			['</', 'missing-argument'],
		]) {
			const ran = await box.ccc([], { command: ['sh', '-c', `${line} ${redirection}`], env: { LAUNCHER } });
			expect(ran.stderr, redirection).toContain(`[${code}]`);
			expect(ran.code).toBe(2);
		}
		const latin = await box.ccc(['begin', '--session', 'claude'], {
			input: Buffer.from(`${RUN} "caf\xe9"`, 'latin1'),
		});
		expect(latin.stderr).toContain('[not-utf-8]');
		expect({ code: latin.code, there: existsSync(box.run) }).toEqual({ code: 2, there: false });
	});

	it('does not start over a run that is there, and says how to go on', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		const before = snapshot(box.run);
		const { code, stderr } = await begin(box, `${RUN} "Another task"`);
		expect(code).not.toBe(0);
		expect(stderr).toContain('resume');
		expect(snapshot(box.run)).toEqual(before);
	});
});

describe('the packets of the longest folder begin accepts', () => {
	it.each([
		['d', false],
		["'", false],
		['漢', true],
	])('%s: have at most 2,000 bytes and lead on', async (letter, sha256) => {
		const root = await makeRepository({ sha256 });
		root.write('a.txt', 'one\n');
		root.commit();
		const depth = (length: number): string => {
			const parts = Array.from({ length: Math.ceil(length / 20) }, () => letter.repeat(20));
			return parts.join('/').slice(0, length).replace(/\/$/, `/${letter}`);
		};
		const probe = await makeSandbox({}, { repository: root });
		const refused = await begin(probe, `"${depth(600)}" "t"`);
		const most = Number(/at most (\d+) bytes/.exec(refused.stderr)?.[1]);
		let length = 600;
		const quoted = (text: string): number => Buffer.byteLength(`'${text.replaceAll("'", "'\\''")}'`);
		while (quoted(path.join(root.root, depth(length))) > most) length -= 1;
		const finding = `- [major] ${'wrong 漢字 '.repeat(20)}\n`;
		const said = `${finding.repeat(60)}\nREADY: no\n`;
		const box = await makeSandbox({}, { repository: root, run: depth(length) });
		await seedRun(box, ['plan_v0', 'plan_v0_review', 'code_v0', ['review_v0', said]], {
			rounds: { plan: 1, code: 1 },
			planCode: 'claude-claude',
		});
		const { code, stdout, stderr } = await begin(box, `resume "${depth(length)}"`);
		expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
		const packet = readPacket(stdout);
		expect(packet.bytes).toBeLessThanOrEqual(2000);
		expect(packet).toMatchObject({ stage: 'code_v1', write: path.join(box.run, 'artifacts/code_v1.md.tmp') });
		expect(packet.next.slice(-3)).toEqual(['submit', box.run, 'code_v1']);
		expect(packet.headings).toContain('## Changes Since Previous Code Version');
		expect(packet.answer).toMatch(/more, in READ$/);
		for (const file of packet.read) expect(existsSync(file), file).toBe(true);
	});
});

describe('begin --stage', () => {
	const only = (box: Sandbox, kind: string, input: string, session: 'claude' | 'codex' = 'claude') =>
		begin(box, input, ['--session', session, '--stage', kind], { env: SESSION_ENV[session] });

	it('takes the folder alone, in quotes too, and does no stage of another kind', async () => {
		const box = await makeSandbox({}, { run: 'my runs/x' });
		mkdirSync(path.join(box.repository.root, 'my runs'));
		await seedRun(box, ['plan_v0']);
		for (const words of ['"my runs/x"', 'resume "my runs/x" manual', `'${box.run}'`]) {
			const wrong = await only(box, 'plan', words, 'codex');
			expect(wrong).toMatchObject({ code: 0, stderr: '' });
			const packet = readPacket(wrong.stdout);
			expect(packet).toMatchObject({ stage: 'plan_v0_review', owner: 'user', write: undefined, next: [] });
			expect(packet.answer).toContain('plan_v0_review, by codex');
		}
		const right = readPacket((await only(box, 'plan-review', '"my runs/x"', 'codex')).stdout);
		expect(right).toMatchObject({ stage: 'plan_v0_review', owner: 'codex' });
		expect(right.next.slice(-3)).toEqual(['submit', box.run, 'plan_v0_review']);
		const other = readPacket((await only(box, 'plan-review', '"my runs/x"')).stdout);
		expect(other).toMatchObject({ stage: 'plan_v0_review', owner: 'codex', next: expect.arrayContaining(['call']) });
	});

	it('makes nothing of a folder without a run', async () => {
		const box = await makeSandbox();
		const before = readdirSync(box.repository.root);
		for (const words of [RUN, `resume ${RUN}`, '']) {
			const { code, stderr } = await only(box, 'code', words);
			expect(code).toBe(2);
			expect(stderr).toMatch(/\[(not-a-run|missing-argument|missing-quotes)\]/);
		}
		expect(readdirSync(box.repository.root)).toEqual(before);
	});
});

it('a run that began headless is driven by the session that resumes it, and given back', async () => {
	const box = await makeSandbox();
	await seedRun(box, ['plan_v0']);
	await begin(box, `resume ${RUN}`);
	expect((await box.ccc(['run', 'resume', RUN, 'manual'])).code).toBe(0);
	const refused = await box.ccc(['next', RUN], { env });
	expect(refused.code).toBe(4);
	expect(refused.stderr).toContain('[other-coordinator]');
	expect(readPacket((await begin(box, `resume ${RUN}`)).stdout)).toMatchObject({ stage: 'code_v0', owner: 'codex' });
});
