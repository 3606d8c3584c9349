/** What single moments of a kill leave behind; test/kill/ hits them at random. */
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { takePicture } from '../../scripts/lib/git/guard.ts';
import { ownIdentity } from '../../scripts/lib/kit/process-identity.ts';
import { sha256 } from '../../scripts/lib/kit/sha256.ts';
import { type Attempt, callFolderOf, writeAttempt } from '../../scripts/lib/run/attempts.ts';
import { openRun } from '../../scripts/lib/run/run-folder.ts';
import { makeSandbox, type Sandbox } from '../support/sandbox.ts';
import { seedRun } from '../support/seeded-run.ts';

const PROMPT = 'CCC stage: plan_v0_review\n';

/** A run whose plan is done, with the record of an attempt at its review that nobody has looked at. */
async function leftAttempt(box: Sandbox): Promise<string> {
	await seedRun(box, ['plan_v0']);
	const { repository, relative } = await openRun(box.run, box.repository.root, box.env);
	const attempt: Attempt = {
		version: 1,
		stage: 'plan_v0_review',
		number: 1,
		owner: 'claude',
		purpose: 'first',
		prompt: { sha256: sha256(PROMPT), bytes: PROMPT.length },
		root: repository.root,
		exclude: [relative],
		before: await takePicture(repository, [relative]),
	};
	await writeAttempt(box.run, attempt);
	return callFolderOf(box.run, attempt);
}

/** Gives the attempt a call, as far as these files say. */
function leaveCall(box: Sandbox, folder: string, files: Readonly<Record<string, unknown>>): void {
	mkdirSync(folder);
	const request = {
		version: 1,
		id: '0'.repeat(32),
		agent: 'codex',
		stage: 'plan_v0_review',
		access: 'review',
		argv: ['codex'],
		cwd: box.repository.root,
		timeoutMs: 1000,
		promptSha256: sha256(PROMPT),
		startedAt: new Date().toISOString(),
	};
	for (const [name, content] of Object.entries({ 'request.json': request, ...files })) {
		writeFileSync(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
	}
}

const result = (outcome: object) => ({
	version: 1,
	id: '0'.repeat(32),
	outcome: { lastWords: '', nextStep: '', ...outcome },
	exitCode: null,
	signal: null,
	timedOut: false,
	durationMs: 7,
	endedAt: '2026-01-02T03:04:06.000Z',
	leftovers: 0,
	stdoutBytes: 0,
	stderrBytes: 0,
});

const reviews = (box: Sandbox): unknown[] => box.calls().filter(({ stage }) => stage === 'plan_v0_review');
const events = (box: Sandbox): { event: string; stage?: string }[] =>
	box
		.read('state/ledger.jsonl')
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line));

async function resumed(box: Sandbox): Promise<void> {
	expect(await box.ccc(['run', 'resume', box.run])).toMatchObject({ code: 0 });
	expect(box.status()).toBe('complete');
}

describe('a coordinator killed', () => {
	it.each([
		['before the folder of the call', undefined],
		['before the request', ['prompt.md.0a1b2c3d4e5f.tmp', 'request.json.0a1b2c3d4e5f.tmp']],
	])('%s has started nothing: the stage is asked for', async (_, names) => {
		const box = await makeSandbox();
		const call = await leftAttempt(box);
		if (names) mkdirSync(call);
		for (const name of names ?? []) writeFileSync(path.join(call, name), '{');
		await resumed(box);
		expect(reviews(box)).toHaveLength(1);
		if (names) expect(readdirSync(call)).toEqual([]);
	});

	it('when it had stopped its call leaves no failure: the stage is asked for again', async () => {
		const box = await makeSandbox();
		const stopped = { kind: 'failed', lastWords: 'stopped' };
		leaveCall(box, await leftAttempt(box), { stop: '', 'result.json': result(stopped) });
		await resumed(box);
		expect(reviews(box)).toHaveLength(1);
		expect(events(box).filter(({ event }) => event === 'blocked')).toEqual([]);
	});

	it('after it recorded the answer, but before the commit, has it recorded once', async () => {
		const box = await makeSandbox();
		const call = await leftAttempt(box);
		const { repository, relative } = await openRun(box.run, box.repository.root, box.env);
		const answer = { kind: 'answered', answer: 'Good.\n\nREADY: yes\n' };
		const after = await takePicture(repository, [relative]);
		leaveCall(box, call, { 'result.json': { ...result(answer), after } });
		const line = {
			time: '2026-01-02T03:04:06.000Z',
			event: 'call',
			stage: 'plan_v0_review',
			owner: 'claude',
			durationMs: 7,
			bytes: { prompt: PROMPT.length },
			sha256: { prompt: sha256(PROMPT) },
			result: 'answered',
		};
		box.write('state/ledger.jsonl', `${box.read('state/ledger.jsonl')}${JSON.stringify(line)}\n`);
		await resumed(box);
		expect(reviews(box)).toHaveLength(0);
		const calls = events(box).filter(({ event, stage }) => event === 'call' && stage === 'plan_v0_review');
		expect(calls).toEqual([line]);
	});

	it('between run.md and the ledger is recorded as complete by the next, and only once', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0', 'plan_v0_review', 'code_v0', 'review_v0']);
		expect(box.status()).toBe('complete');
		for (let times = 0; times < 2; times++) await resumed(box);
		expect(events(box).filter(({ event }) => event === 'complete')).toHaveLength(1);
	});
});

describe('a supervisor killed', () => {
	it('in a write leaves no temporary file, and the stage is asked for again', async () => {
		const box = await makeSandbox();
		const call = await leftAttempt(box);
		const dead = { ...(await ownIdentity()), startTime: '1' };
		leaveCall(box, call, { 'supervisor.json': dead, 'result.json.0a1b2c3d4e5f.tmp': '{' });
		await resumed(box);
		expect(readdirSync(call).filter((name) => name.endsWith('.tmp'))).toEqual([]);
	});
});

describe('a start killed', () => {
	it('leaves a draft that a later start removes, when nobody can be filling it', async () => {
		const box = await makeSandbox({ plan_v0: { exit: 1 } });
		const parent = path.dirname(box.run);
		const [old, fresh, other] = ['.ccc-new-aB3dE6', '.ccc-new-Zz9Yy8', '.ccc-new-mine'].map((name) =>
			path.join(parent, name),
		) as [string, string, string];
		for (const folder of [old, fresh, other]) mkdirSync(folder, { recursive: true });
		writeFileSync(path.join(old, 'task.md'), 'Task\n');
		const longAgo = new Date(Date.now() - 3_600_000);
		for (const folder of [old, other]) utimesSync(folder, longAgo, longAgo);
		await box.ccc(['run', box.run, 'Task']);
		expect([old, fresh, other].map((folder) => existsSync(folder))).toEqual([false, true, true]);
	});
});
