import { readdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { planDocument } from '../fakes/documents.mjs';
import { makeSandbox, type Sandbox } from '../support/sandbox.ts';
import { APPROVAL, MAJOR, seedRun } from '../support/seeded-run.ts';

const ALL = ['plan_v0', 'plan_v0_review', 'code_v0', 'review_v0'];

/** A command in the sandbox that has to say what is wrong in a few lines; wrong usage leaves stdout empty. */
async function complains(box: Sandbox, words: readonly string[], exit: number, code: string): Promise<string> {
	const ran = await box.ccc(words);
	expect(ran.stderr).toContain(`[${code}]`);
	expect(ran.stderr).not.toMatch(/^ {4}at /m);
	expect(ran.code).toBe(exit);
	if (exit === 2) expect(ran.stdout).toBe('');
	else expect(ran.stdout).toMatch(/^CCC run: .*\nStage completed: \w+\nNext action: \w+\n$/);
	return ran.stderr;
}

describe('an artifact without .done', () => {
	async function uncommitted(text = planDocument(0)): Promise<Sandbox> {
		const box = await makeSandbox({ plan_v0_review: { answer: MAJOR } });
		await seedRun(box, []);
		box.write('artifacts/plan_v0.md', text);
		return box;
	}

	it('stops resume until it is repaired', async () => {
		const box = await uncommitted();
		const said = await complains(box, ['run', 'resume', box.run], 3, 'uncommitted-artifact');
		expect(said).toContain('rerun|aside|adopt plan_v0');
		expect(box.calls()).toEqual([]);
		expect(box.read('artifacts/plan_v0.md')).toBe(planDocument(0));
	});

	it('adopt commits it as it is, byte for byte', async () => {
		const text = planDocument(0).replaceAll('\n', '\r\n');
		const box = await uncommitted(text);
		const { code, stdout, stderr } = await box.ccc(['repair', box.run, 'adopt', 'plan_v0']);
		expect(code, stderr).toBe(0);
		expect(stdout).toContain('Stage completed: plan_v0\nNext action: plan_v0_review\n');
		expect(box.read('artifacts/plan_v0.md')).toBe(text);
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
		await complains(box, ['repair', box.run, 'adopt', 'plan_v0'], 1, 'already-committed');
	});

	it('adopt refuses what the protocol refuses', async () => {
		const box = await uncommitted(planDocument(0).replace('## Scope', '## Scopes'));
		const said = await complains(box, ['repair', box.run, 'adopt', 'plan_v0'], 1, 'invalid-run');
		expect(said).toContain('Scope');
		expect(box.done()).toEqual([]);
		expect(box.has('artifacts/plan_v0.md')).toBe(true);
	});

	it('adopt of a review needs its transcript', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0', 'plan_v0_review']);
		rmSync(path.join(box.run, 'state/plan_v0_review.done'));
		rmSync(path.join(box.run, 'state/plan_v0_review.review.raw.md'));
		await complains(box, ['repair', box.run, 'adopt', 'plan_v0_review'], 1, 'invalid-run');
		box.write('state/plan_v0_review.review.raw.md', APPROVAL);
		expect((await box.ccc(['repair', box.run, 'adopt', 'plan_v0_review'])).code).toBe(0);
	});

	it.each(['rerun', 'aside'])('%s moves it away; resume does the stage anew', async (repair) => {
		const box = await uncommitted('mine\n');
		expect((await box.ccc(['repair', box.run, repair, 'plan_v0'])).code).toBe(0);
		expect(box.read('state/aside/plan_v0.1/plan_v0.md')).toBe('mine\n');
		await box.ccc(['run', 'resume', box.run]);
		expect(box.read('artifacts/plan_v0.md')).toBe(planDocument(0));
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
	});
});

describe('.done without its artifact', () => {
	it('is an invalid run; rerun does the stage again', async () => {
		const box = await makeSandbox({ plan_v0_review: { answer: MAJOR } });
		await seedRun(box, ['plan_v0', 'plan_v0_review']);
		rmSync(path.join(box.run, 'artifacts/plan_v0_review.md'));
		await complains(box, ['run', 'resume', box.run], 1, 'artifact-missing');
		expect((await box.ccc(['validate', box.run])).code).toBe(1);
		await complains(box, ['repair', box.run, 'adopt', 'plan_v0_review'], 2, 'nothing-to-repair');
		expect((await box.ccc(['repair', box.run, 'rerun', 'plan_v0_review'])).code).toBe(0);
		await box.ccc(['run', 'resume', box.run]);
		expect(box.calls().map(({ stage }) => stage)).toEqual(['plan_v0_review']);
		expect(box.read('state/plan_v0_review.review.raw.md')).toBe(MAJOR);
	});
});

describe('a committed artifact that was edited', () => {
	it('stops resume; adopt takes it as it is now', async () => {
		const box = await makeSandbox({ plan_v0_review: { answer: MAJOR } });
		await seedRun(box, ['plan_v0']);
		const edited = planDocument(0).replace('Append a line.', 'Append two lines.');
		box.write('artifacts/plan_v0.md', edited);
		await complains(box, ['run', 'resume', box.run], 1, 'invalid-run');
		expect(box.calls()).toEqual([]);
		expect((await box.ccc(['repair', box.run, 'adopt', 'plan_v0'])).code).toBe(0);
		await box.ccc(['run', 'resume', box.run]);
		expect(box.calls()[0]?.prompt).toContain('Append two lines.');
	});

	it('a verdict that was edited is not believed', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0', ['plan_v0_review', MAJOR]]);
		const review = box.read('artifacts/plan_v0_review.md');
		box.write('artifacts/plan_v0_review.md', review.replace('VERDICT: NEEDS_CHANGES', 'VERDICT: APPROVE'));
		await complains(box, ['run', 'resume', box.run], 1, 'invalid-run');
		expect(box.calls()).toEqual([]);
	});
});

describe('repair', () => {
	it('aside of a committed stage uses the answer of its call again', async () => {
		const box = await makeSandbox({ plan_v0_review: { answer: MAJOR } });
		await seedRun(box, ['plan_v0']);
		await box.ccc(['run', 'resume', box.run]);
		const before = box.read('artifacts/plan_v0_review.md');
		expect((await box.ccc(['repair', box.run, 'aside', 'plan_v0_review'])).code).toBe(0);
		expect(box.has('artifacts/plan_v0_review.md')).toBe(false);
		expect((await box.ccc(['run', 'resume', box.run])).code).toBe(3);
		expect(box.calls()).toHaveLength(1);
		expect(box.read('artifacts/plan_v0_review.md')).toBe(before);
	});

	it('rerun of a code review asks for it again, with everything of the first kept aside', async () => {
		const box = await makeSandbox({ review_v0: [{ answer: MAJOR }, {}] });
		await seedRun(box, ALL.slice(0, 3), { verify: 'true' });
		await box.ccc(['run', 'resume', box.run]);
		expect((await box.ccc(['repair', box.run, 'rerun', 'review_v0'])).code).toBe(0);
		expect(readdirSync(path.join(box.run, 'state/aside/review_v0.1')).sort()).toEqual([
			'review_v0.1',
			'review_v0.1.json',
			'review_v0.done',
			'review_v0.md',
			'review_v0.review.raw.md',
		]);
		expect((await box.ccc(['run', 'resume', box.run])).code).toBe(0);
		expect(box.calls()).toHaveLength(2);
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
	});

	it('leaves stages alone that others build on, and stages that are not there', async () => {
		const box = await makeSandbox();
		await seedRun(box, ALL);
		await complains(box, ['repair', box.run, 'rerun', 'plan_v0'], 2, 'later-stages');
		await complains(box, ['repair', box.run, 'adopt', 'plan_v0_review'], 2, 'later-stages');
		await complains(box, ['repair', box.run, 'rerun', 'review_v1'], 2, 'nothing-to-repair');
		expect(box.done()).toEqual([...ALL].sort());
	});
});

describe('run.md', () => {
	it.each([
		['behind', /current_stage: .*\nlatest_artifact: .*\n/, 'current_stage: plan_v0\nlatest_artifact: none\n'],
		['with a next action that contradicts the verdict', /next_action: .*/, 'next_action: code_v0'],
		['with an unknown word in its state', /current_stage: .*/, 'current_stage: somewhere'],
		['without its state', /## Workflow State[\s\S]*?(?=## Status)/, ''],
		['with keys twice', /latest_verdict: .*/, 'latest_verdict: none\nlatest_verdict: APPROVE'],
		['without a status', /## Status[\s\S]*/, ''],
		['with a status of its own', /## Status[\s\S]*/, '## Status\n\nfinished\n'],
	])('%s is derived anew from the truth', async (_, pattern, replacement) => {
		const box = await makeSandbox({ plan_v1: { exit: 1 } });
		await seedRun(box, ['plan_v0', ['plan_v0_review', MAJOR]], { rounds: { plan: 1, code: 0 } });
		const whole = box.read('run.md');
		box.write('run.md', whole.replace(pattern, replacement));
		expect(box.read('run.md')).not.toBe(whole);
		expect((await box.ccc(['validate', box.run])).code).toBe(1);
		expect((await box.ccc(['status', box.run])).code).toBe(0);
		const { code, stdout } = await box.ccc(['run', 'resume', box.run]);
		expect(stdout).toContain('companion-failed');
		expect(code).toBe(5);
		expect(box.calls().map(({ stage }) => stage)).toEqual(['plan_v1']);
		expect((await box.ccc(['validate', box.run])).code).toBe(0);
	});

	it.each([
		['plan_code', /plan_code: .*/, 'plan_code: claude-gpt'],
		['plan_code', /planner: .*/, 'planner: codex'],
		['plan_rounds', /plan_rounds: .*/, 'plan_rounds: 01'],
		['run_start_ref', /run_start_ref: .*/, `run_start_ref: ${'0'.repeat(39)}`],
		['Git Baseline', /## Git Baseline[\s\S]*?(?=## Workflow)/, ''],
	])('damaged in %s is refused with the place, and left as it is', async (name, pattern, replacement) => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		box.write('run.md', box.read('run.md').replace(pattern, replacement));
		const damaged = box.read('run.md');
		const said = await complains(box, ['run', 'resume', box.run], 1, 'invalid-run');
		expect(said).toContain(name);
		expect(said).toContain('run.md:');
		expect(box.read('run.md')).toBe(damaged);
		expect(box.calls()).toEqual([]);
	});

	it('with a baseline of zeros blocks before anybody is called', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		box.write('run.md', box.read('run.md').replace(/run_start_ref: .*/, `run_start_ref: ${'0'.repeat(40)}`));
		const { code, stderr } = await box.ccc(['run', 'resume', box.run]);
		expect(stderr).not.toMatch(/^ {4}at /m);
		expect(code).toBe(3);
		expect(box.calls()).toEqual([]);
	});
});

describe('records that are damaged', () => {
	it.each([
		['state/decisions.jsonl', 'nonsense\n', 1, 'bad-decisions'],
		['state/calls/plan_v0_review.1.json', '{"version":9}', 1, 'bad-attempt'],
	])('%s is named', async (file, text, exit, code) => {
		const box = await makeSandbox({ plan_v0_review: { answer: MAJOR } });
		await seedRun(box, ['plan_v0']);
		await box.ccc(['run', 'resume', box.run]);
		await box.ccc(['repair', box.run, 'aside', 'plan_v0_review']);
		box.write(file, text);
		const said = await complains(box, ['run', 'resume', box.run], exit, code);
		expect(said).toContain(file);
	});

	it('a run folder whose state leads elsewhere is not followed', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		rmSync(path.join(box.run, 'artifacts/plan_v0.md'));
		box.repository.write('secret.md', planDocument(0));
		symlinkSync(path.join(box.repository.root, 'secret.md'), path.join(box.run, 'artifacts/plan_v0.md'));
		await complains(box, ['run', 'resume', box.run], 1, 'outside-run-folder');
	});
});

describe('adopt', () => {
	it('does not skip a stage', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		box.write('artifacts/code_v0.md', 'not even read\n');
		const said = await complains(box, ['repair', box.run, 'adopt', 'code_v0'], 2, 'not-due');
		expect(said).toContain('expected: plan_v0_review');
		expect(box.done()).toEqual(['plan_v0']);
	});

	it.each([
		['a softer verdict', (text: string) => text.replace('VERDICT: NEEDS_CHANGES', 'VERDICT: APPROVE')],
		['a softer severity', (text: string) => text.replace('[major]', '[minor]')],
		['a finding less', (text: string) => text.replace(/^- P1 .*$/m, 'None.')],
		['other words', (text: string) => text.replace('wrong line', 'right line')],
	])('takes no review with %s than its transcript', async (_, soften) => {
		const box = await makeSandbox({ plan_v0_review: { answer: '- [major] The wrong line.\n\nREADY: no\n' } });
		expect(await box.ccc(['run', box.run, 'Change a.txt', 'p0-c0'])).toMatchObject({ code: 3 });
		const artifact = box.read('artifacts/plan_v0_review.md');
		expect(soften(artifact)).not.toBe(artifact);
		box.write('artifacts/plan_v0_review.md', soften(artifact));
		await complains(box, ['repair', box.run, 'adopt', 'plan_v0_review'], 1, 'unfaithful-review');
		box.write('artifacts/plan_v0_review.md', artifact);
		await complains(box, ['repair', box.run, 'adopt', 'plan_v0_review'], 1, 'already-committed');
	});
});
