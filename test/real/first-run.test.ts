import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { type ProcessResult, runProcess } from '../../scripts/lib/kit/run-process.ts';
import { type RealSandbox, realSandbox } from './harness.ts';
import { startAnthropicModel } from './models/anthropic.ts';
import { startOpenAiModel } from './models/openai.ts';
import type { PlayedModel, Turn } from './models/script.ts';
import { FILES, playedChange, TASK } from './played-change.ts';

const CCC = fileURLToPath(new URL('../../scripts/ccc.mjs', import.meta.url));
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

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

it('takes a task to an approved change with the real Claude Code and the real Codex', async () => {
	const { sandbox, turns } = await start();
	const run = join(sandbox.repo, '.ccc', 'runs', 'first');
	await sandbox.git('status');
	const before = await gitFiles(sandbox);
	expect((await nodeTest(sandbox)).exitCode).toBe(1);

	const result = await ccc(sandbox, 'run', run, TASK, 'p1-c1', 'verify=node --test');
	expect(result.exitCode, said(result)).toBe(0);
	expect(result.leftovers).toBe(0);
	expect(await sandbox.processes()).toEqual([]);
	expect(sandbox.outsideAttempts).toEqual([]);

	const closing = result.stdout.trimEnd().split('\n').slice(-3);
	expect(closing).toEqual([
		expect.stringMatching(/^CCC run: .*first$/),
		'Stage completed: review_v1',
		'Next action: complete',
	]);
	expect(await readFile(join(run, 'run.md'), 'utf8')).toMatch(/^## Status\n+complete$/m);
	const done = (await readdir(join(run, 'state'))).filter((name) => name.endsWith('.done')).sort();
	expect(done).toEqual(STAGES.map(([, stage]) => `${stage}.done`).sort());
	expect(turns.filter(({ turn }) => turn.step === 0).map(({ agent, turn }) => [agent, turn.stage])).toEqual(STAGES);
	const verdicts = await Promise.all(
		STAGES.filter(([, stage]) => stage.includes('review')).map(([, stage]) => verdict(run, stage)),
	);
	expect(verdicts).toEqual(['NEEDS_CHANGES', 'APPROVE', 'NEEDS_CHANGES', 'APPROVE']);

	const validation = await ccc(sandbox, 'validate', run);
	expect(validation.exitCode, said(validation)).toBe(0);
	expect((await nodeTest(sandbox)).exitCode).toBe(0);
	expect(await sandbox.git('status', '--short')).toBe(' M src/median.mjs\n');
	expect(await gitFiles(sandbox)).toEqual(before);
});

/** A sandbox with the broken repository and both models, and the turns they are asked for, in order. */
async function start(): Promise<{ sandbox: RealSandbox; turns: { agent: string; turn: Turn }[] }> {
	const turns: { agent: string; turn: Turn }[] = [];
	let sandbox: RealSandbox | undefined;
	const script = (agent: string) => (turn: Turn) => {
		turns.push({ agent, turn });
		return playedChange(sandbox?.repo ?? '')(turn);
	};
	const closing = (model: PlayedModel): PlayedModel => {
		cleanups.push(() => model.close());
		return model;
	};
	const anthropic = closing(await startAnthropicModel(script('claude')));
	const openAi = closing(await startOpenAiModel(script('codex')));
	sandbox = await realSandbox({ anthropicUrl: anthropic.url, openAiUrl: openAi.url, files: FILES });
	cleanups.push(() => sandbox?.cleanup() ?? Promise.resolve());
	return { sandbox, turns };
}

function ccc(sandbox: RealSandbox, ...args: string[]): Promise<ProcessResult> {
	const argv = [process.execPath, CCC, ...args] as const;
	return runProcess({ argv: [...argv], cwd: sandbox.repo, env: sandbox.env, timeoutMs: 110_000 });
}

function nodeTest(sandbox: RealSandbox): Promise<ProcessResult> {
	const argv = [process.execPath, '--test'] as const;
	return runProcess({ argv: [...argv], cwd: sandbox.repo, env: sandbox.env, timeoutMs: 30_000 });
}

/** What a failed command printed, for the message of a failed expectation. */
function said({ stdout, stderr }: ProcessResult): string {
	return `${stdout}\n${stderr}`;
}

async function verdict(run: string, stage: string): Promise<string | undefined> {
	const artifact = await readFile(join(run, 'artifacts', `${stage}.md`), 'utf8');
	return /^VERDICT: (.*)$/m.exec(artifact)?.[1];
}

/** Every file below .git with the hash of its content: the run has no business there at all. */
async function gitFiles(sandbox: RealSandbox): Promise<Record<string, string>> {
	const folder = join(sandbox.repo, '.git');
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
	const hashes = await Promise.all(
		files.map(
			async (file) =>
				[
					file,
					createHash('sha256')
						.update(await readFile(file))
						.digest('hex'),
				] as const,
		),
	);
	return Object.fromEntries(hashes);
}
