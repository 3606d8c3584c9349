import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { planDocument } from '../fakes/documents.mjs';
import { eventually } from '../support/agent-bench.ts';
import { makeSandbox, type Sandbox, type Scenario } from '../support/sandbox.ts';
import { APPROVAL, MAJOR, seedRun } from '../support/seeded-run.ts';

const UP_TO_REVIEW = ['plan_v0', 'plan_v0_review', 'code_v0'];

async function resume(box: Sandbox, env: Record<string, string> = {}, ...words: string[]) {
	const { code, stdout, stderr } = await box.ccc(['run', 'resume', box.run, '--json', ...words], { env });
	expect(stderr).not.toMatch(/^ {4}at /m);
	return { code, stderr, report: JSON.parse(stdout) };
}

/** A run at its code review. */
async function atReview(scenario: Scenario, options: Parameters<typeof seedRun>[2] = {}): Promise<Sandbox> {
	const box = await makeSandbox(scenario);
	await seedRun(box, UP_TO_REVIEW, options);
	return box;
}

describe('an answer of the wrong form', () => {
	it('goes back to its owner once with what is wrong, and nothing else changes', async () => {
		const box = await makeSandbox({
			plan_v0: [{ answer: `Sure!\n\n${planDocument(0).replace('## Scope', '## Reach')}` }, {}],
			plan_v0_review: { answer: MAJOR },
		});
		await seedRun(box, []);
		const { code, stderr } = await resume(box);
		expect(code).toBe(3);
		expect(box.calls().map(({ stage }) => stage)).toEqual(['plan_v0', 'plan_v0', 'plan_v0_review']);
		const [first, second] = box.calls();
		expect(second?.prompt.startsWith(first?.prompt.trimEnd() ?? '-')).toBe(true);
		expect(second?.prompt).toMatch(/artifacts\/plan_v0\.md:\d+:\d+: .*Scope/);
		expect(second?.prompt).toContain('## Reach');
		expect(stderr).toContain('asking once more');
		expect(box.read('artifacts/plan_v0.md')).toBe(planDocument(0));
	});

	it.each([
		['no READY line', 'I like it.\n'],
		['prose that holds the words', 'Not READY: yes is what I would say.\n'],
		['two READY lines', 'READY: yes\n\nREADY: no\n'],
		['READY only where it is quoted', '```\nREADY: yes\n```\n\n> READY: yes\n'],
	])('a second time blocks the run: %s', async (_, answer) => {
		const box = await atReview({ review_v0: { answer } });
		const { code, report } = await resume(box);
		expect(report).toMatchObject({ status: 'blocked', code: 'companion-unreadable', next_action: 'blocked' });
		expect(code).toBe(3);
		expect(report.next).toContain('resume');
		expect(box.calls()).toHaveLength(2);
		expect(box.done()).not.toContain('review_v0');
		expect(box.has('state/review_v0.review.raw.md')).toBe(false);
		box.play({});
		expect((await resume(box)).code).toBe(0);
	});
});

describe('the guard', () => {
	it.each([
		['a tracked file', 'printf evil >> a.txt', 'a.txt', 'git checkout -q HEAD -- a.txt; printf "one\\nv0\\n" > a.txt'],
		['an untracked file', 'printf evil > new.txt', 'new.txt', 'rm new.txt'],
		['the index', 'git add a.txt', 'a.txt', 'git reset -q'],
		['a mode', 'chmod +x tool.sh', 'tool.sh', 'chmod 644 tool.sh'],
		['a commit', 'git commit -qm evil --allow-empty', 'HEAD', 'git reset -q --soft HEAD~1', 'head-moved'],
		['a branch', 'git checkout -q -b other', 'HEAD', 'git checkout -q main'],
	])(
		'blocks a reviewer that changes %s until it is undone',
		async (_, shell, named, undo, code = 'repository-changed') => {
			const who = 'git config user.name a; git config user.email a@b; ';
			const box = await atReview({ review_v0: [{ shell: who + shell }, {}] });
			const first = await resume(box);
			expect(first.report).toMatchObject({ status: 'blocked', code });
			expect(first.report.reason).toContain(named);
			expect(first.code).toBe(3);
			expect(box.done()).toEqual(['code_v0', 'plan_v0', 'plan_v0_review']);
			const again = await resume(box);
			expect(again.code).toBe(3);
			expect(box.calls()).toHaveLength(1);
			execFileSync('sh', ['-c', undo], { cwd: box.repository.root });
			const last = await resume(box);
			expect(last.code, JSON.stringify(last.report)).toBe(0);
		},
	);

	it('wants a commit undone whole, not only HEAD', async () => {
		const evil = 'printf evil > new.txt; git add new.txt; git -c user.name=a -c user.email=a@b commit -qm evil';
		const box = await atReview({ review_v0: [{ shell: evil }, {}] });
		expect((await resume(box)).report.code).toBe('head-moved');
		box.repository.git('reset', '-q', '--soft', 'HEAD~1');
		expect((await resume(box)).report.code).toBe('repository-changed');
		box.repository.git('rm', '-q', '-f', 'new.txt');
		expect((await resume(box)).code).toBe(0);
	});

	it('lets `repair rerun` accept what a reviewer changed', async () => {
		const box = await atReview({ review_v0: [{ shell: 'printf wanted > new.txt' }, {}] });
		const { report } = await resume(box);
		expect(report.next).toContain('rerun review_v0');
		expect((await box.ccc(['repair', box.run, 'rerun', 'review_v0'])).code).toBe(0);
		expect((await resume(box)).code).toBe(0);
		expect(box.calls()[1]?.prompt).toContain('wanted');
	});

	it('holds a planner to the same, and a coder to HEAD', async () => {
		const planner = await makeSandbox({ plan_v0: { shell: 'printf x > sneaked.txt' } });
		await seedRun(planner, []);
		expect((await resume(planner)).report.code).toBe('repository-changed');

		const coder = await makeSandbox({
			code_v0: { shell: 'printf x > new.txt; git add .; git -c user.name=a -c user.email=a@b commit -qm x' },
		});
		await seedRun(coder, ['plan_v0', 'plan_v0_review']);
		const moved = await resume(coder);
		expect(moved.report).toMatchObject({ code: 'head-moved', status: 'blocked', stage_completed: 'plan_v0_review' });
		expect(moved.code).toBe(3);
		const still = await resume(coder);
		expect(still.code).toBe(3);
		expect(coder.calls()).toHaveLength(1);
		coder.repository.git('reset', '-q', '--soft', 'HEAD~1');
		coder.play({});
		expect((await resume(coder)).code).toBe(0);
	});

	it('does not mind what happens in another run, but in its own', async () => {
		const box = await atReview({ review_v0: [{ shell: 'echo x > .ccc/runs/y/state/x' }] });
		await seedRun({ ...box, run: path.join(box.repository.root, '.ccc/runs/y') }, ['plan_v0']);
		const { code, report } = await resume(box);
		expect(code, JSON.stringify(report)).toBe(0);

		const own = await atReview({ review_v0: { shell: 'echo x >> .ccc/runs/x/task.md' } });
		const meddled = await resume(own);
		expect(meddled.report).toMatchObject({ code: 'records-changed', status: 'blocked' });
		expect(meddled.code).toBe(3);
		expect(own.done()).not.toContain('review_v0');
	});
});

it('a coder that cleans the run folder away is named, and nothing is left in its place', async () => {
	const box = await makeSandbox({ code_v0: { shell: 'git clean -fdxq' } });
	await seedRun(box, ['plan_v0', 'plan_v0_review']);
	const { code, stdout, stderr } = await box.ccc(['run', 'resume', box.run]);
	expect(stderr).toContain('[records-gone]');
	expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
	expect(box.has('state/calls')).toBe(false);
	await eventually(async () => (await box.running()).length === 0);
});

describe('the ceiling of a prompt', () => {
	it('counts bytes of UTF-8 to the last one', async () => {
		const task = 'я'.repeat(2000);
		const box = await makeSandbox({ plan_v0: { exit: 1 } });
		await seedRun(box, [], { task });
		await resume(box);
		const bytes = Buffer.byteLength(box.calls()[0]?.prompt ?? '');
		expect(bytes).toBeGreaterThan(4000);
		const below = await resume(box, { CCC_REVIEW_PROMPT_MAX_BYTES: String(bytes - 1) });
		expect(below.code).toBe(3);
		expect(below.report).toMatchObject({ code: 'prompt-too-large', status: 'blocked' });
		expect(below.report.reason).toContain(
			'Reviewer prompt exceeds CCC_REVIEW_PROMPT_MAX_BYTES; narrow the task, reduce the diff, or raise the limit explicitly.',
		);
		expect(box.calls()).toHaveLength(1);
		await resume(box, { CCC_REVIEW_PROMPT_MAX_BYTES: String(bytes) });
		expect(box.calls()).toHaveLength(2);
		expect(readdirSync(path.join(box.run, 'state')).filter((name) => name.includes('raw'))).toEqual([]);
	});

	it('of a 3 MB diff is an explicit refusal, or goes by stdin whole when it is raised', async () => {
		const box = await atReview({});
		box.repository.write('a.txt', `${'line of text\n'.repeat(240_000)}last line\n`);
		const refused = await resume(box);
		expect(refused.report).toMatchObject({ code: 'prompt-too-large', status: 'blocked' });
		expect(refused.code).toBe(3);
		const { code, report } = await resume(box, { CCC_REVIEW_PROMPT_MAX_BYTES: '9000000' });
		expect(code, JSON.stringify(report)).toBe(0);
		expect(box.calls()[0]?.prompt).toContain('+last line');
	});
});

describe('a companion that does not answer', () => {
	const CASES: readonly [string, string, Record<string, unknown>, Record<string, string>, string][] = [
		['companion-unavailable', 'codex', {}, { CCC_CODEX_BIN: '/nonexistent/codex' }, 'CCC_CODEX_BIN'],
		['companion-not-logged-in', 'codex', { exit: 1, stderr: 'ERROR: 401 Unauthorized\n' }, {}, 'codex login'],
		['companion-sandboxed', 'codex', { exit: 1, stderr: 'ERROR: connect EPERM 1.2.3.4:443\n' }, {}, 'outside'],
		['companion-failed', 'codex', { exit: 3, stderr: 'ERROR: \u001b[31mboom\n' }, {}, 'resume'],
		['companion-failed', 'codex', { exit: 1, stderr: 'Not inside a trusted directory\n' }, {}, 'Git repository'],
		['companion-empty', 'codex', { answer: '', stdout: 'READY: yes\n' }, {}, 'resume'],
		['companion-empty', 'codex', { noFile: true }, {}, 'resume'],
		['companion-failed', 'claude', { answer: 'API Error: 529 {"type":"overloaded_error"}' }, {}, 'resume'],
		['companion-not-logged-in', 'claude', { answer: 'Not logged in · Please run /login', exit: 1 }, {}, '/login'],
		['companion-empty', 'claude', { answer: '' }, {}, 'resume'],
	];
	it.each(CASES)('%s of %s (row %#)', async (code, agent, step, env, next) => {
		const box = await makeSandbox({ plan_v0_review: step });
		await seedRun(box, ['plan_v0'], { planCode: agent === 'codex' ? 'claude-codex' : 'codex-claude' });
		const { code: exit, report, stderr } = await resume(box, env);
		expect(report).toMatchObject({ code, status: 'blocked', next_action: 'blocked', stage_completed: 'plan_v0' });
		expect(exit, stderr).toBe(5);
		expect(report.next).toContain(next);
		expect(report.reason).not.toMatch(/\u001b/);
		expect(box.done()).toEqual(['plan_v0']);
		expect(box.has('state/plan_v0_review.review.raw.md')).toBe(false);
		expect(box.read('run.md')).toContain(`reason: ${code}`);
	});

	it('in time is stopped with everything it started; resume asks again', async () => {
		const box = await makeSandbox({
			plan_v0_review: [{ hang: true, orphan: true, stderr: 'thinking\n' }, { answer: MAJOR }],
		});
		await seedRun(box, ['plan_v0']);
		const { code, report } = await resume(box, { CCC_AGENT_TIMEOUT_SECONDS: '1' });
		expect(report).toMatchObject({ code: 'companion-timed-out', status: 'blocked' });
		expect(report.next).toContain('CCC_AGENT_TIMEOUT_SECONDS');
		expect(code).toBe(5);
		expect(await box.running()).toEqual([]);
		expect((await resume(box)).report.code).toBe('decision-needed');
		expect(box.calls()).toHaveLength(2);
	});
});

describe('a review that a killed coordinator left', () => {
	it.each([
		['is taken when the code is as it was', '', 1],
		['is asked for again when the code has changed since', 'printf later >> a.txt', 2],
	])('%s', async (_, edit, calls) => {
		const box = await atReview({ review_v0: { shell: 'sleep 1' } });
		const killed = box.start(['run', 'resume', box.run]);
		await eventually(async () => box.calls().length === 1);
		killed.kill('SIGKILL');
		await eventually(async () => box.has('state/calls/review_v0.1/result.json'));
		execFileSync('sh', ['-c', edit], { cwd: box.repository.root });
		expect(box.done()).not.toContain('review_v0');
		expect((await resume(box)).code).toBe(0);
		expect(box.calls()).toHaveLength(calls);
		expect(box.calls().at(-1)?.prompt.includes('later')).toBe(calls === 2);
	});
});

describe('leftovers', () => {
	it('of an earlier try are never taken for an answer', async () => {
		const box = await atReview({ review_v0: { answer: '' } });
		box.write('state/review_v0.review.raw.md', APPROVAL);
		box.write('state/review_v0.review.raw.md.tmp', APPROVAL);
		box.write('artifacts/review_v0.md.tmp', '# Review v0\n');
		const { code, report } = await resume(box);
		expect(report.code).toBe('companion-empty');
		expect(code).toBe(5);
		expect(box.done()).not.toContain('review_v0');
		expect(box.has('artifacts/review_v0.md.tmp')).toBe(false);
		box.play({ review_v0: { answer: MAJOR } });
		await resume(box);
		expect(box.read('state/review_v0.review.raw.md')).toBe(MAJOR);
	});
});

describe('the surroundings of a companion', () => {
	it('are its own: no session of the coordinator’s, logins and homes kept', async () => {
		const session = {
			CLAUDECODE: '1',
			CLAUDE_CODE_SESSION_ID: 'x',
			CLAUDE_CODE_ENTRYPOINT: 'cli',
			CODEX_CI: '1',
			CODEX_THREAD_ID: 'y',
			AI_AGENT: 'z',
		};
		const kept = { ANTHROPIC_API_KEY: 'k', CODEX_HOME: '/codex', HTTPS_PROXY: 'http://127.0.0.1:9' };
		const box = await makeSandbox({ plan_v0: { exit: 1 } });
		await seedRun(box, []);
		await resume(box, { ...session, ...kept });
		const env = box.calls()[0]?.env ?? {};
		expect(Object.keys(session).filter((name) => name in env)).toEqual([]);
		expect(env).toMatchObject(kept);
	});

	it('ask for no more than the stage needs', async () => {
		const box = await makeSandbox({ review_v0: { answer: MAJOR } });
		await seedRun(box, []);
		await resume(box);
		const words = new Map(box.calls().map(({ stage, argv }) => [stage, argv]));
		expect(words.get('plan_v0_review')).toEqual(expect.arrayContaining(['exec', '--sandbox', 'read-only']));
		expect(words.get('code_v0')).toEqual(expect.arrayContaining(['exec', '--sandbox', 'workspace-write']));
		expect(words.get('review_v0')?.join(' ')).toContain('--tools  --disallowedTools mcp__*');
		expect(box.calls().some(({ argv }) => argv.includes('--bare'))).toBe(false);
	});
});

describe('the verify command', () => {
	it('is run after the coder, and its result goes to the reviewer', async () => {
		const box = await makeSandbox();
		box.repository.write('check.sh', 'printf "\\033[31mred\\007 one\\n"; echo two >&2; exit 4\n');
		await seedRun(box, ['plan_v0', 'plan_v0_review'], { verify: 'sh check.sh' });
		const { code, stderr } = await resume(box);
		expect(code).toBe(0);
		expect(stderr).toContain('failed (exit 4)');
		const [coder, reviewer] = box.calls();
		expect(coder?.prompt).toContain('sh check.sh');
		expect(reviewer?.prompt).toContain('exit code 4');
		expect(reviewer?.prompt).toMatch(/red one\n+two\n/);
		expect(reviewer?.prompt).not.toMatch(/[\u0007\u001b]/);
	});

	it('that is missing blocks; resume takes another, whose result counts', async () => {
		const box = await atReview({}, { verify: 'no-such-program-here' });
		const { code, report } = await resume(box);
		expect(report).toMatchObject({ code: 'verify-unavailable', status: 'blocked' });
		expect(code).toBe(3);
		expect(box.calls()).toEqual([]);
		expect((await resume(box, {}, 'verify=true')).code).toBe(0);
		expect(box.calls()[0]?.prompt).toContain('command: true\nresult: exit code 0');
		expect(box.read('run.md')).toContain('verify: true');
	});

	it('runs again when the code has changed since, and only then', async () => {
		const box = await makeSandbox({ review_v0: [{ exit: 1 }, { exit: 1 }, {}] });
		box.repository.write('check.sh', 'echo x >> runs; grep -q mended a.txt\n');
		box.repository.write('.gitignore', 'runs\n');
		await seedRun(box, UP_TO_REVIEW, { verify: 'sh check.sh' });
		const runs = (): number => readFileSync(path.join(box.repository.root, 'runs'), 'utf8').length / 2;
		await resume(box);
		await resume(box);
		expect(runs()).toBe(1);
		box.repository.write('a.txt', 'one\nmended\n');
		expect((await resume(box)).code).toBe(0);
		expect(runs()).toBe(2);
		expect(box.calls().map(({ prompt }) => /^result: (.*)$/m.exec(prompt)?.[1])).toEqual([
			'exit code 1',
			'exit code 1',
			'exit code 0',
		]);
	});

	it('that hangs is stopped at the deadline, with what it started', async () => {
		const box = await makeSandbox();
		box.repository.write('check.sh', 'setsid sleep 987 & sleep 987\n');
		await seedRun(box, UP_TO_REVIEW, { verify: 'sh check.sh' });
		const { code, report } = await resume(box, { CCC_AGENT_TIMEOUT_SECONDS: '1' });
		expect(code, JSON.stringify(report)).toBe(0);
		expect(box.calls()[0]?.prompt).toContain('did not end in time');
		expect(await box.running()).toEqual([]);
	});
});

describe('resume with another plan-code', () => {
	it('hands the next stages to their new owners and keeps what is done', async () => {
		const box = await atReview({});
		const { code } = await resume(box, {}, 'plan-code=codex-claude');
		expect(code).toBe(0);
		expect(box.calls().map(({ who, stage }) => `${who} ${stage}`)).toEqual(['codex review_v0']);
		expect(box.read('run.md')).toContain(
			'planner: codex\ncoder: claude\nplan_code: codex-claude\nsession_detected: unknown\nplan_code_source: explicit',
		);
		await resume(box, { CCC_PLAN_CODE: 'claude-claude' });
		expect(box.read('run.md')).toContain(
			'plan_code: codex-claude\nsession_detected: unknown\nplan_code_source: persisted',
		);
	});
});

describe('HEAD away from the baseline', () => {
	it('blocks before anybody is called', async () => {
		const box = await atReview({});
		box.repository.write('b.txt', 'b\n');
		box.repository.commit();
		const { code, report } = await resume(box);
		expect(code).toBe(3);
		expect(report.status).toBe('blocked');
		expect(report.next).toBeTruthy();
		expect(box.calls()).toEqual([]);
	});
});

describe('a run folder that cannot be written to', () => {
	it('is no reason for a stack trace', async () => {
		const box = await atReview({});
		execFileSync('sh', ['-c', 'rm -r state/lock; printf x > state/lock'], { cwd: box.run });
		const { code, stderr, stdout } = await box.ccc(['run', 'resume', box.run]);
		expect(code).not.toBe(0);
		expect(stdout).toMatch(/^CCC run: .*\nStage completed: code_v0\nNext action: \w+\n$/);
		expect(stderr).not.toMatch(/^ {4}at /m);
		expect(stderr).toContain('[lock-folder]');
	});
});
