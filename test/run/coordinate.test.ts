import { describe, expect, it } from 'vitest';
import { makeSandbox } from '../support/sandbox.ts';
import { BLOCKED, MAJOR, MINOR, seedRun } from '../support/seeded-run.ts';

const closing = (stdout: string): string[] => stdout.trimEnd().split('\n').slice(-3);

describe('a whole run', () => {
	it('goes through every version to the end, each finding handed on and answered', async () => {
		const box = await makeSandbox({
			plan_v0_review: { answer: '- [major] Say which line.\n\nREADY: no\n' },
			code_v0: { shell: 'printf two >> a.txt; printf new > "b é.txt"' },
			review_v0: { answer: '1. [major] Off by one.\n2. [minor] Typo.\n\nREADY: no\n' },
			code_v1: { shell: 'printf three >> a.txt' },
		});
		const { code, stdout, stderr } = await box.ccc(['run', box.run, 'Append a line', 'p1-c1']);
		expect(stderr).not.toContain('warning');
		expect(code, stderr).toBe(0);
		expect(closing(stdout)).toEqual([`CCC run: ${box.run}`, 'Stage completed: review_v1', 'Next action: complete']);
		expect(box.calls().map(({ who, stage }) => `${who} ${stage}`)).toEqual([
			'claude plan_v0',
			'codex plan_v0_review',
			'claude plan_v1',
			'codex plan_v1_review',
			'codex code_v0',
			'claude review_v0',
			'codex code_v1',
			'claude review_v1',
		]);
		const prompts = new Map(box.calls().map(({ stage, prompt }) => [stage, prompt]));
		expect(prompts.get('plan_v1')).toContain('P1 [major] Say which line.');
		expect(prompts.get('code_v1')).toContain('C2 [minor] Typo.');
		expect(prompts.get('review_v0')).toMatch(/^\+onetwo|^\+two/m);
		expect(prompts.get('review_v0')).toContain('b é.txt');
		for (const { prompt, cwd, argv } of box.calls()) {
			expect(prompt).not.toContain('.ccc/runs');
			expect(cwd).toBe(box.repository.root);
			expect(argv.join(' ')).not.toContain('Append');
		}
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
		expect(await box.running()).toEqual([]);
	});

	it('with the same agent on both sides says that nobody else checks', async () => {
		const box = await makeSandbox();
		const { code } = await box.ccc(['run', box.run, 'Task', 'p0-c0', 'plan-code=codex-codex']);
		expect(code).toBe(0);
		expect(new Set(box.calls().map(({ who }) => who))).toEqual(new Set(['codex']));
		expect(box.read('run.md')).toContain('no cross-model review');
	});
});

describe('manual mode', () => {
	it('stops after each stage, and resume does exactly one more', async () => {
		const box = await makeSandbox();
		await box.ccc(['run', box.run, 'Task', 'p0-c0', 'manual']);
		const seen: string[] = [];
		for (let round = 0; round < 3; round++) {
			const { code, stdout } = await box.ccc(['run', 'resume', box.run, 'manual', '--json']);
			expect(code).toBe(0);
			const report = JSON.parse(stdout);
			seen.push(`${report.stage_completed} ${report.next_action} ${report.waiting_for ?? '-'}`);
			expect(box.calls()).toHaveLength(round + 2);
		}
		expect(seen).toEqual(['plan_v0_review code_v0 approval', 'code_v0 review_v0 approval', 'review_v0 complete -']);
	});
});

describe('a review that does not approve', () => {
	// Mode table of the protocol: [what the review says, a version left, mode, exit code, verdict, next action]
	it.each([
		['changes', MAJOR, true, 'normal', 0, 'NEEDS_CHANGES', 'complete'],
		['changes', MAJOR, true, 'manual', 0, 'NEEDS_CHANGES', 'plan_v1'],
		['blocker', BLOCKED, true, 'normal', 3, 'BLOCKER', 'blocked'],
		['blocker', BLOCKED, true, 'manual', 3, 'BLOCKER', 'blocked'],
		['blocker', BLOCKED, true, 'auto', 0, 'BLOCKER', 'complete'],
		['minor', MINOR, false, 'normal', 0, 'APPROVE_WITH_MINOR_COMMENTS', 'complete'],
		['minor', MINOR, false, 'auto', 0, 'APPROVE_AUTO_OVERRIDE', 'complete'],
		['major', MAJOR, false, 'normal', 3, 'NEEDS_CHANGES', 'blocked'],
		['major', MAJOR, false, 'manual', 3, 'NEEDS_CHANGES', 'blocked'],
		['major', MAJOR, false, 'auto', 0, 'APPROVE_AUTO_OVERRIDE', 'complete'],
		['blocker', BLOCKED, false, 'normal', 3, 'BLOCKER', 'blocked'],
		['blocker', BLOCKED, false, 'auto', 0, 'APPROVE_AUTO_OVERRIDE', 'complete'],
	] as const)('%s (row %#)', async (_, said, left, mode, exit, verdict, next) => {
		const half = left ? 'plan' : 'code';
		const review = left ? 'plan_v0_review' : 'review_v0';
		const box = await makeSandbox({ [review]: { answer: said } });
		// One stage each way is enough: what comes before is seeded, what comes after a next version is one more round.
		await seedRun(box, half === 'plan' ? ['plan_v0'] : ['plan_v0', 'plan_v0_review', 'code_v0'], {
			rounds: { plan: left ? 1 : 0, code: 0 },
		});
		const { code, stdout, stderr } = await box.ccc(['run', 'resume', box.run, mode, '--json']);
		const report = JSON.parse(stdout);
		expect({ code, next: report.next_action }, stderr).toEqual({ code: exit, next });
		expect(box.read(`artifacts/${review}.md`)).toContain(`VERDICT: ${verdict}\n`);
		expect(box.status()).toBe(exit === 3 ? 'blocked' : next === 'complete' ? 'complete' : 'active');
		if (exit === 3) expect(report).toMatchObject({ code: 'decision-needed', waiting_for: 'decision' });
		if (verdict === 'APPROVE_AUTO_OVERRIDE') {
			expect(box.read(`artifacts/${review}.md`).match(/^AUTO OVERRIDE:/gm)).toHaveLength(1);
		}
		expect((await box.ccc(['validate', box.run])).stdout).toContain(': valid');
	});

	it('blocks in normal mode; resumed with auto it is attested again and the run ends', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0', 'plan_v0_review', 'code_v0', ['review_v0', MAJOR]]);
		expect((await box.ccc(['run', 'resume', box.run])).code).toBe(3);
		expect((await box.ccc(['run', 'resume', box.run, 'auto'])).code).toBe(0);
		const review = box.read('artifacts/review_v0.md');
		expect(review).toContain('VERDICT: APPROVE_AUTO_OVERRIDE');
		expect(review).toContain('C1 [major] Wrong line.');
		expect(box.calls()).toEqual([]);
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
	});
});

describe('a complete or canceled run', () => {
	it('is not worked on again', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0', 'plan_v0_review', 'code_v0', 'review_v0']);
		const again = await box.ccc(['run', 'resume', box.run]);
		expect(again.code).toBe(0);
		expect(closing(again.stdout)[2]).toBe('Next action: complete');
		expect(box.calls()).toEqual([]);
	});

	it('is not worked on again when it was canceled', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0', 'plan_v0_review', 'code_v0']);
		expect((await box.ccc(['cancel', box.run, 'changed my\u001b[31m mind'])).code).toBe(0);
		const { code, stdout } = await box.ccc(['run', 'resume', box.run]);
		expect(code).toBe(3);
		expect(stdout).not.toContain('\u001b');
		expect(closing(stdout)[2]).toBe('Next action: canceled');
		expect((await box.ccc(['cancel', box.run, 'again'])).code).toBe(3);
		expect(box.calls()).toEqual([]);
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
	});
});
