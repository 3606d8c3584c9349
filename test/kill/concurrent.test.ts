import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planDocument } from '../fakes/documents.mjs';
import { eventually } from '../support/agent-bench.ts';
import { faultsOf } from './faults.ts';
import { seeded } from './moments.ts';
import { type Command, type Ended, type KillSandbox, makeKillSandbox } from './sandbox.ts';

let sandbox: KillSandbox;
let run: string;

beforeEach(async () => {
	sandbox = await makeKillSandbox();
	run = sandbox.runAt('x');
});
afterEach(() => sandbox.dispose());

const ENDLESS = { FAKE_VERIFY_MS: String(2 ** 31 - 1) };
const hangAt = (stage: string): Record<string, string> => ({ FAKE_HANG_AT: stage });

const has = (name: string): boolean => existsSync(path.join(run, name));
const read = (name: string): string => readFileSync(path.join(run, name), 'utf8');
const until = (holds: () => boolean): Promise<true> => eventually(async () => holds(), 30_000);
const companionWorks = (stage: string) => (): boolean => has(`state/calls/${stage}.1/companion.json`);
const verifyRuns = (): boolean =>
	sandbox.running().some(({ command }) => /^\S*node .*quick-verify\.mjs$/.test(command));
const nothingRuns = (): Promise<true> => until(() => sandbox.running().length === 0);
const status = (): string | undefined => /\n## Status\n+(\w+)\n/.exec(read('run.md'))?.[1];

/** Starts the run and waits until it has come this far. */
async function startUntil(reached: () => boolean, env: Record<string, string>): Promise<Command> {
	const command = sandbox.start(sandbox.wordsFor(run), env);
	await until(reached);
	return command;
}

/** Leaves a run whose coordinator was killed while this stage's companion worked; it answers after a while. */
async function orphan(stage: string, answersAfterMs: number): Promise<void> {
	const env = { ...hangAt(stage), FAKE_HANG_MS: String(answersAfterMs) };
	const command = await startUntil(companionWorks(stage), env);
	command.kill();
	await command.ended;
}

function atOnce(count: number, words: readonly string[], env?: Record<string, string>): Promise<Ended[]> {
	return Promise.all(Array.from({ length: count }, () => sandbox.execute(words, env)));
}

/** `exit code` of a success, `exit code + error code` of a failure, from --json output. */
function endOf({ code, signal, stdout, stderr }: Ended): string {
	try {
		const { error } = JSON.parse(stdout) as { error?: { code: string } };
		return error === undefined ? String(code) : `${code} ${error.code}`;
	} catch {
		return `${code ?? signal}: ${stdout}${stderr}`;
	}
}

const events = (kind: string): unknown[] =>
	read('state/ledger.jsonl')
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line) as { event: string })
		.filter(({ event }) => event === kind);

describe('commands at once', () => {
	it('lets one of twenty commit a stage; the others say locked or already committed', async () => {
		const command = await startUntil(companionWorks('plan_v0'), hangAt('plan_v0'));
		command.child.kill('SIGINT');
		await command.ended;
		writeFileSync(path.join(run, 'artifacts', 'plan_v0.md'), planDocument(0));
		const ends = (await atOnce(20, ['repair', run, 'adopt', 'plan_v0', '--json'])).map(endOf);
		expect(ends.filter((end) => end === '0')).toHaveLength(1);
		expect(ends.filter((end) => !['0', '4 locked', '1 already-committed'].includes(end))).toEqual([]);
		expect(events('commit')).toHaveLength(1);
		expect(await sandbox.execute(['validate', run])).toMatchObject({ code: 0 });
		expect(await sandbox.execute(sandbox.wordsFor(run))).toMatchObject({ code: 0 });
	});

	it('lets one of twenty resume a run; the others find it locked or complete', async () => {
		await orphan('plan_v0_review', 3000);
		const ends = await atOnce(20, ['run', 'resume', run, '--json']);
		const drivers = ends.filter(({ stderr }) => /^review_v1\b/m.test(stderr));
		expect(drivers.map(endOf)).toEqual(['0']);
		expect(ends.map(endOf).filter((end) => end !== '0' && end !== '4 locked')).toEqual([]);
		expect(await faultsOf(sandbox, run)).toEqual([]);
	});

	it('lets one of five start a run in a folder', async () => {
		const ends = (await atOnce(5, [...sandbox.wordsFor(run), '--json'])).map(endOf);
		expect(ends.filter((end) => end === '0')).toHaveLength(1);
		expect(ends.filter((end) => !['0', '2 run-exists', '4 locked'].includes(end))).toEqual([]);
		expect(await faultsOf(sandbox, run)).toEqual([]);
	});

	it('lets one of ten take over from a dead coordinator', async () => {
		await orphan('plan_v1', 60_000);
		const ends = (await atOnce(10, ['cancel', run, 'No longer wanted', '--json'])).map(endOf);
		expect(ends.filter((end) => end === '0')).toHaveLength(1);
		expect(ends.filter((end) => end !== '0' && end !== '3 already-canceled' && end !== '4 locked')).toEqual([]);
		expect(read('state/decisions.jsonl').trimEnd().split('\n')).toHaveLength(1);
		expect(status()).toBe('canceled');
		await nothingRuns();
	});
});

describe('cancel', () => {
	it.each([
		['a companion', companionWorks('plan_v1'), hangAt('plan_v1')],
		['the verify command', verifyRuns, ENDLESS],
	])('ends a run that works in another shell, and %s with it', async (_, reached, env) => {
		const command = await startUntil(reached, env);
		const canceled = await sandbox.execute(['cancel', run, 'No longer wanted', '--json']);
		const ended = await command.ended;
		expect(endOf(canceled)).toBe('0');
		expect(ended).toMatchObject({ code: 3, stdout: expect.stringContaining('Next action: canceled') });
		expect(status()).toBe('canceled');
		expect(sandbox.running()).toEqual([]);
		expect(await sandbox.execute(['validate', run])).toMatchObject({ code: 0 });
		expect(await sandbox.execute(['run', 'resume', run])).toMatchObject({ code: 3 });
		expect(events('call').length).toBeLessThan(8);
	});

	it('ends the verify command that a killed coordinator left behind', async () => {
		const command = await startUntil(verifyRuns, ENDLESS);
		command.kill();
		await command.ended;
		expect(verifyRuns()).toBe(true);
		expect(endOf(await sandbox.execute(['cancel', run, 'No longer wanted', '--json']))).toBe('0');
		expect(sandbox.running()).toEqual([]);
	});
});

describe('resume', () => {
	it('ends the verify command that a killed coordinator left behind, and runs it again', async () => {
		const command = await startUntil(verifyRuns, ENDLESS);
		command.kill();
		await command.ended;
		expect(await sandbox.execute(sandbox.wordsFor(run))).toMatchObject({ code: 0 });
		expect(await faultsOf(sandbox, run)).toEqual([]);
	});
});

describe('SIGINT', () => {
	it.each([
		['a companion', companionWorks('code_v0'), hangAt('code_v0')],
		['the verify command', verifyRuns, ENDLESS],
	])('ends the run with %s, exit 130, and the run can be resumed', async (_, reached, env) => {
		const command = await startUntil(reached, env);
		command.child.kill('SIGINT');
		expect(await command.ended).toMatchObject({ code: 130 });
		expect(sandbox.running()).toEqual([]);
		expect(await sandbox.execute(sandbox.wordsFor(run))).toMatchObject({ code: 0 });
		expect(status()).toBe('complete');
	});

	it('is no failure at any moment', async () => {
		const random = seeded(7);
		let landed = 0;
		for (;;) {
			const command = sandbox.start(sandbox.wordsFor(run));
			const timer = setTimeout(() => command.child.kill('SIGINT'), 150 + random() * (landed < 12 ? 900 : 60_000));
			const ended = await command.ended;
			clearTimeout(timer);
			// In the first moments of the process nobody has been asked to handle the signal yet, and nothing has begun.
			const ends = ended.signal === 'SIGINT' ? ended.stderr === '' : [0, 130].includes(ended.code ?? 70);
			expect(ends, `${ended.code} ${ended.signal}: ${ended.stdout}${ended.stderr}`).toBe(true);
			await nothingRuns();
			if (ended.code === 0) break;
			landed += 1;
		}
		expect(landed).toBeGreaterThan(5);
		expect(status()).toBe('complete');
		expect(events('blocked')).toEqual([]);
	});
});
