import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CommandApproval, Decision, TurnResult } from './app-server.ts';
import { bytesOfCcc, type CodexBench, cccCommands, codexBench, killBetween, lastWords } from './codex-session.ts';
import { say, use } from './models/script.ts';
import { playedAtOnce, playedChange, TASK } from './played-change.ts';

// `$ccc` in the real Codex, whose played model follows packets; Claude is the real companion, its model played too.

const RUN = '.ccc/runs/played';
const RESUME = `$ccc resume ${RUN}`;
const VERIFY = 'verify="node --test"';
const AT_ONCE = `$ccc ${RUN} "${TASK}" p0-c0 plan-code=claude-codex ${VERIFY}`;
const STAGES = ['code_v0', 'plan_v0', 'plan_v0_review', 'review_v0'];
const WORKSPACE = ['--sandbox', 'workspace-write'];
const NO_TEMPORARY = {
	config: { sandbox_workspace_write: { exclude_slash_tmp: true, exclude_tmpdir_env_var: true } },
};
const REASON = 'ccc has the other agent do one stage of this run; that needs the network and outlasts the command';

const atOnce = () => codexBench({ script: playedAtOnce });

async function expectComplete({ run, git }: CodexBench): Promise<void> {
	expect(await run.status()).toBe('complete');
	await expectValid(run);
	expect(await run.gitFiles()).toEqual(git);
	expect(await run.nodeTest()).toBe(0);
}

async function expectValid(run: CodexBench['run']): Promise<void> {
	const { code, all } = await run.ccc('validate', run.folder);
	expect(code, all).toBe(0);
}

const expectEnd = (turn: TurnResult): void => {
	expect(turn, turn.error).toMatchObject({ status: 'completed' });
	expect(lastWords(turn)).toMatch(/\nCCC run: \S+\nStage completed: review_v\d\nNext action: complete\n*$/);
};

describe.runIf(process.platform === 'linux')('$ccc in Codex that asks before a command leaves the sandbox', () => {
	it('asks with command and reason, waits inside, and comes to the end, all without a temporary folder', async () => {
		const bench = await codexBench({ script: (_, repo) => playedChange(repo), waitSeconds: 1 });
		bench.run.play(async (turn, usual) => {
			if (turn.stage === 'plan_v0' && turn.step === 0) await delay(3000);
			return usual();
		});
		const thread = await bench.startThread(NO_TEMPORARY);
		const turn = await thread.prompt(`$ccc ${RUN} "${TASK}" p1-c1 plan-code=claude-codex ${VERIFY}`);
		expectEnd(turn);
		await expectComplete(bench);

		const call = `sh "${bench.launcher}" call ${bench.run.folder} --wait 1`;
		expect(turn.approvals.map(({ asked }) => asked)).toEqual(
			Array(4).fill(
				expect.objectContaining({
					command: `/bin/bash -lc '${call}'`,
					reason: `${REASON}; to verify the code it runs: node --test`,
					cwd: bench.run.sandbox.repo,
				}),
			),
		);
		const commands = cccCommands(turn);
		const waits = commands.filter(({ output }) => output.includes('still running'));
		// The first of them is that of the command that started Claude.
		expect(waits.filter(({ output }) => output.startsWith('plan_v0: claude')).length).toBeGreaterThan(1);
		for (const { output } of waits) expect(Buffer.byteLength(output)).toBeLessThan(200);
		// Each stage of Claude: refused once, asked for once; whatever else was called waited where it was.
		expect(commands.filter(({ output }) => output.includes('[companion-sandboxed]'))).toHaveLength(4);
		for (const stage of ['plan_v0', 'plan_v1', 'review_v0', 'review_v1']) expect(bench.run.asked(stage), stage).toBe(1);

		const next = `sh "${bench.launcher}" next ${RUN}`;
		bench.run.play(({ step }) => (step === 0 ? use({ shell: next }) : say('')));
		expect(cccCommands(await thread.prompt('Where does it stand?'))[0]?.output).toBe(commands.at(-1)?.output);
	});

	it('asks only once where the user allows the rule it proposes', async () => {
		const bench = await atOnce();
		const turn = await bench.prompt(AT_ONCE, {}, allowByRule);
		expectEnd(turn);
		await expectComplete(bench);
		expect(turn.approvals).toHaveLength(1);
		expect(turn.approvals[0]?.asked.proposedExecpolicyAmendment).toEqual(['sh', bench.launcher, 'call']);
	});

	it('stops when that is declined with nothing half done; another thread goes on, and the task is what was typed', async () => {
		const task = `It's "median" of $HOME, \`id\` and $(id), 'so' \\n \\\\ é — 中文「数」.\n\n  Two  lines: !! \${X} %s "quoted"\n\tEND_OF_CCC_ARGUMENTS`;
		const bench = await atOnce();
		const declined = await bench.prompt(
			`$ccc ${RUN} "${task}" p0-c0 plan-code=claude-codex ${VERIFY}`,
			{},
			() => 'decline',
		);
		expect(declined, declined.error).toMatchObject({ status: 'completed', approvals: [{ decision: 'decline' }] });
		expect(await bench.run.read('task.md')).toBe(`${task}\n`);
		expect(await bench.run.status()).toBe('active');
		expect(await bench.run.done()).toEqual([]);
		expect(bench.run.asked('plan_v0')).toBe(0);
		await expectValid(bench.run);
		expect(await bench.run.sandbox.processes()).toEqual([]);

		expectEnd(await bench.prompt(RESUME));
		await expectComplete(bench);
	});

	it('is called by name only, and costs the model little', async ({ annotate }) => {
		const bench = await atOnce();
		const settings = join(dirname(bench.launcher), 'agents', 'openai.yaml');
		expect(await readFile(settings, 'utf8')).toMatch(/^ +allow_implicit_invocation: false$/m);
		const turn = await bench.prompt(AT_ONCE);
		expectEnd(turn);
		await expectComplete(bench);
		expect(turn.approvals).toHaveLength(2);
		const bytes = bytesOfCcc(bench.sessions, turn);
		expect(bytes.skill + bytes.commands).toBeLessThan(9000);
		await annotate(`p0-c0: the model reads ${bytes.skill} bytes of the skill and ${bytes.commands} of what ccc prints`);
	});

	it('goes on in a new thread when Codex is killed between any two commands', async () => {
		const bench = await atOnce();
		expect(await killBetween(bench, AT_ONCE, 1)).toBe('killed');
		let sessions = 1;
		for (; (await killBetween(bench, RESUME, 2)) === 'killed'; sessions += 1) await expectValid(bench.run);
		// begin; then call, submit, submit and call, each after a resume of its own.
		expect(sessions).toBe(4);
		await expectComplete(bench);
		expect(await bench.run.done()).toEqual(STAGES);
		for (const stage of ['plan_v0', 'review_v0']) expect(bench.run.asked(stage), stage).toBe(1);
	});

	it('does a single stage by its own skill', async () => {
		const bench = await atOnce();
		const planned = await bench.prompt(`$ccc ${RUN} "${TASK}" p0-c0 plan-code=codex-codex manual ${VERIFY}`);
		expect(lastWords(planned)).toMatch(/^OWNER: user$[\s\S]*Stage completed: plan_v0\n/m);
		expect(lastWords(await bench.prompt(`$ccc-code ${RUN}`))).toMatch(/the next stage of this run is plan_v0_review/);
		expect(await bench.run.done()).toEqual(['plan_v0']);
		for (const [skill, stage] of [
			['ccc-plan-review', 'plan_v0_review'],
			['ccc-code', 'code_v0'],
			['ccc-code-review', 'review_v0'],
		]) {
			const turn = await bench.prompt(`$${skill} ${RUN}`);
			expect(turn.approvals).toEqual([]);
			expect(lastWords(turn)).toMatch(new RegExp(`(?:Stage completed: ${stage}|^STAGE: (?!${stage}))`, 'm'));
			expect(await bench.run.done()).toContain(stage);
		}
		await expectComplete(bench);
	});
});

describe.runIf(process.platform === 'linux')('$ccc in Codex without a sandbox', () => {
	it('comes to the end without a question, planning and reviewing', async () => {
		const bench = await atOnce();
		const turn = await bench.prompt(`$ccc ${RUN} "${TASK}" p0-c0 plan-code=codex-claude ${VERIFY}`, {
			approvalPolicy: 'never',
			sandbox: 'danger-full-access',
		});
		expectEnd(turn);
		expect(turn.approvals).toEqual([]);
		await expectComplete(bench);
		for (const stage of ['plan_v0_review', 'code_v0']) expect(bench.run.asked(stage), stage).toBe(1);
	});
});

describe.runIf(process.platform === 'linux')('$ccc in codex exec, where nobody can be asked', () => {
	it('is told why it must stop; ccc run goes on', async () => {
		const bench = await atOnce();
		const ended = await bench.exec(AT_ONCE, ...WORKSPACE);
		expect(ended).toMatchObject({ exitCode: 0 });
		expect(bench.lastResult()).toMatch(/approval policy/i);
		expect(await bench.run.done()).toEqual([]);
		expect(await bench.run.status()).toBe('active');
		await expectValid(bench.run);

		const resumed = await bench.run.ccc('run', 'resume', bench.run.folder);
		expect(resumed.code, resumed.all).toBe(0);
		await expectComplete(bench);
	});

	it('comes to the end where a rule of the user allows the calls', async () => {
		const bench = await atOnce();
		await bench.allowCalls();
		const ended = await bench.exec(AT_ONCE, ...WORKSPACE);
		expect(ended).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/\nNext action: complete\n*$/) });
		await expectComplete(bench);
	});

	it('cannot begin where nothing may be written, nor call Claude in a sandbox with the network', async () => {
		const bench = await atOnce();
		const readOnly = await bench.exec(AT_ONCE, '--sandbox', 'read-only');
		expect(readOnly.exitCode).toBe(0);
		expect(bench.lastResult()).toMatch(
			/exited with code 2\n[\s\S]*\[folder-not-usable\]\n[\s\S]*read-only \(EROFS\)\n {2}next: /,
		);
		expect(bench.sessions.at(-1)?.step).toBe(1);
		expect(existsSync(join(bench.run.sandbox.repo, '.ccc'))).toBe(false);

		await bench.exec(AT_ONCE, ...WORKSPACE, '-c', 'sandbox_workspace_write.network_access=true');
		expect(bench.sessions.at(-1)?.toolResults.at(-2)).toMatch(/bwrap[\s\S]*\[companion-sandboxed\]/);
		expect(await readdir(join(bench.run.folder, 'artifacts'))).toEqual([]);
		await expectValid(bench.run);
	});
});

function allowByRule({ proposedExecpolicyAmendment: rule }: CommandApproval): Decision {
	if (!rule) throw new Error('no rule was proposed');
	return { acceptWithExecpolicyAmendment: { execpolicy_amendment: rule } };
}
