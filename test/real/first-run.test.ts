import { expect, it } from 'vitest';
import { playedChange, TASK } from './played-change.ts';
import { playedRun } from './played-run.ts';

const STAGES = [
	['claude', 'plan_v0'],
	['codex', 'plan_v0_review'],
	['claude', 'plan_v1'],
	['codex', 'plan_v1_review'],
	['codex', 'code_v0'],
	['claude', 'review_v0'],
	['codex', 'code_v1'],
	['claude', 'review_v1'],
] as const;

it('takes a task to an approved change with the real Claude Code and the real Codex', async () => {
	const run = await playedRun((_, repo) => playedChange(repo));
	const before = await run.gitFiles();
	expect(await run.nodeTest()).toBe(1);

	const result = await run.ccc('run', run.folder, TASK, 'p1-c1', 'verify=node --test');
	expect(result.code, result.all).toBe(0);
	expect(await run.sandbox.processes()).toEqual([]);

	const closing = result.stdout.trimEnd().split('\n').slice(-3);
	expect(closing).toEqual([
		expect.stringMatching(/^CCC run: .*played$/),
		'Stage completed: review_v1',
		'Next action: complete',
	]);
	expect(await run.status()).toBe('complete');
	expect(await run.done()).toEqual(STAGES.map(([, stage]) => stage).sort());
	expect(run.turns.filter(({ turn }) => turn.step === 0).map(({ agent, turn }) => [agent, turn.stage])).toEqual(STAGES);
	const verdicts = await Promise.all(
		STAGES.filter(([, stage]) => stage.includes('review')).map(([, stage]) => run.verdict(stage)),
	);
	expect(verdicts).toEqual(['NEEDS_CHANGES', 'APPROVE', 'NEEDS_CHANGES', 'APPROVE']);

	const validation = await run.ccc('validate', run.folder);
	expect(validation.code, validation.all).toBe(0);
	expect(await run.nodeTest()).toBe(0);
	expect(await run.sandbox.git('status', '--short')).toBe(' M src/median.mjs\n');
	expect(await run.gitFiles()).toEqual(before);
});
