import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Agent } from '../../scripts/lib/agents/agent.ts';
import {
	type ClaudeBench,
	cccOutputs,
	claudeBench,
	gate,
	handsFrom,
	killBetween,
	patientHands,
} from './claude-bench.ts';
import { parsePacket } from './follow-packets.ts';
import { type Script, say } from './models/script.ts';
import { playedAtOnce, playedChange, TASK } from './played-change.ts';

// `/ccc` in the real Claude Code, whose played model follows packets; Codex is the real companion, its model played too.

const RUN = '.ccc/runs/played';
const VERIFY = 'verify="node --test"';
const AT_ONCE = `/ccc ${RUN} "${TASK}" p0-c0 ${VERIFY}`;
const RESUME = `/ccc resume ${RUN}`;
const STAGES = ['code_v0', 'plan_v0', 'plan_v0_review', 'review_v0'];
const COMPLETE = /\nCCC run: \S+\nStage completed: review_v\d\nNext action: complete$/;
/** What a user allows who lets the session code: nothing of it is ours. */
const CODER = ['--permission-mode', 'acceptEdits', '--allowedTools', 'Bash(node --test)'];

/** As a planner, Codex looks at nothing first. */
const change = (agent: Agent, repo: string): Script => {
	const play = playedChange(repo);
	return (turn) =>
		agent === 'codex' && turn.stage === 'plan_v0'
			? play({ ...turn, step: 1, toolResults: ['sorted[Math.floor'] })
			: play(turn);
};

async function expectComplete(bench: ClaudeBench): Promise<void> {
	const { run, git } = bench;
	expect(await run.status()).toBe('complete');
	await expectValid(bench);
	expect(await run.gitFiles()).toEqual(git);
	expect(await run.nodeTest()).toBe(0);
	expect(await run.sandbox.processes()).toEqual([]);
}

async function expectValid({ run }: ClaudeBench): Promise<void> {
	const { code, all } = await run.ccc('validate', run.folder);
	expect(code, all).toBe(0);
}

describe('/ccc in Claude Code', () => {
	it('plans and reviews to the end, and nothing has to be approved: skills linked to a checkout', async () => {
		const bench = await claudeBench(change, { installation: 'linked' });
		const end = await bench.session(`/ccc ${RUN} "${TASK}" p1-c1 ${VERIFY}`);
		expect(end, end.all).toMatchObject({ code: 0, denials: [], said: expect.stringMatching(COMPLETE) });
		await expectComplete(bench);
		expect(await bench.run.sandbox.git('status', '--short')).toBe(' M src/median.mjs\n');
		for (const stage of ['plan_v0_review', 'plan_v1_review', 'code_v0', 'code_v1']) {
			expect(bench.run.asked(stage), stage).toBe(1);
		}
	});

	it('codes, and nothing of ours has to be approved: skills copied, the program inside ccc', async () => {
		const bench = await claudeBench(change);
		const end = await bench.session(`/ccc ${RUN} "${TASK}" p1-c1 plan-code=codex-claude ${VERIFY}`, { words: CODER });
		expect(end, end.all).toMatchObject({ code: 0, denials: [], said: expect.stringMatching(COMPLETE) });
		await expectComplete(bench);
		expect(await bench.run.sandbox.git('status', '--short')).toBe(' M src/median.mjs\n');
		expect(bench.turns.at(-1)?.toolResults.filter((text) => /^# tests 2$/m.test(text))).toHaveLength(2);
	});

	it('bears blanks in the paths of repository, run and skills', async () => {
		const bench = await claudeBench(playedAtOnce, { configFolder: 'my settings', repoName: 'my repo' });
		const { sandbox } = bench.run;
		const repo = join(sandbox.root, 'my repo');
		await cp(sandbox.repo, repo, { recursive: true });
		const end = await bench.session(`/ccc "my runs/the first" "${TASK}" p0-c0 ${VERIFY}`, { cwd: repo });
		expect(end, end.all).toMatchObject({ code: 0, denials: [] });
		expect(end.said).toMatch(/\nCCC run: my runs\/the first\nStage completed: review_v0\nNext action: complete$/);
		const folder = join(repo, 'my runs', 'the first');
		expect((await readdir(join(folder, 'state'))).filter((name) => name.endsWith('.done'))).toHaveLength(4);
		const { code, all } = await bench.run.ccc('validate', folder);
		expect(code, all).toBe(0);
	});

	it.for([
		['p0-c0', playedAtOnce, 9000],
		['p2-c2', slower, 12_000],
	] as const)('costs the model little to read: %s', async ([rounds, script, most], { annotate }) => {
		const bench = await claudeBench(script);
		const end = await bench.session(`/ccc ${RUN} "${TASK}" ${rounds} ${VERIFY}`);
		expect(end, end.all).toMatchObject({ code: 0, denials: [], said: expect.stringMatching(COMPLETE) });
		const skill = Buffer.byteLength(bench.turns.at(-1)?.prompt ?? '');
		const outputs = cccOutputs(bench.turns.at(-1)).map((text) => Buffer.byteLength(text));
		const commands = outputs.reduce((sum, bytes) => sum + bytes, 0);
		await annotate(`${rounds}: the model reads ${skill} bytes of the skill and ${commands} of what ccc prints`);
		expect(skill + commands).toBeLessThan(most);
	});
});

/** Asks for a second correction of plan and code. */
function slower(agent: Agent, repo: string): Script {
	const play = change(agent, repo);
	const wanted = `
# Plan v0
# Plan v1
# Code v0
# Code v1
both tests must pass
takes the mean of the two
+\tconst sorted = [...numbers].sort((a, b) => a - b);
+\tconst half = `;
	return (turn) => {
		const [, kind = '', version = '', suffix = ''] = /^(\w+)_v(\d)(\w*)$/.exec(turn.stage ?? '') ?? [];
		const isReview = kind === 'review' || suffix !== '';
		const like = version === '2' ? '1' : isReview ? '0' : version;
		const reply = play({ ...turn, stage: `${kind}_v${like}${suffix}`, prompt: `${turn.prompt}${wanted}` });
		if (!('kind' in reply) || reply.kind !== 'text') return reply;
		return say(reply.text.replace(/^# (Plan|Code) v\d/, `# $1 v${version}`));
	};
}

describe('the words of the user', () => {
	it('reach task.md byte for byte, without an approval', async () => {
		const task = `It's "median" ‘of’ “numbers” „so“ «gut» 「中央値」: $HOME \${HOME} $(touch made) \`touch made\` $1 $0 $ARGUMENTS
	\\n \\t \\d+ C:\\new\\dir \\\\x *.mjs ~root {a,b} [x] && || ; | > made < /dev/null # & %s <b>&amp;

  Two  lines, é ñ 😀 — 修复 한국어
END_OF_CCC_ARGUMENTS
\`\`\`sh
rm -rf . 'x' "y"
\`\`\``;
		const bench = await claudeBench(playedAtOnce);
		bench.run.play((turn, usual) => (turn.step === 1 ? say('begun') : usual()));
		const end = await bench.session(`/ccc ${RUN} "${task}" p0-c0 ${VERIFY}`);
		expect(end, end.all).toMatchObject({ code: 0, denials: [], said: 'begun' });
		expect(await bench.run.read('task.md')).toBe(`${task}\n`);
		expect(await readdir(bench.run.sandbox.repo)).toEqual(['.ccc', '.git', 'package.json', 'src', 'test']);
	});

	it('are no longer the same after a blank and an exclamation mark, and where they name the folder of the skill', async () => {
		const bench = await claudeBench(playedAtOnce);
		bench.run.play(() => say('read'));
		await bench.session('/ccc x "wow! and !! and !`id` and ! x; $'.concat('{CLAUDE_SKILL_DIR}"'));
		const folder = join(bench.config, 'skills', 'ccc');
		expect(bench.run.turns.at(-1)?.turn.prompt).toContain(`x "wow! and \\!! and \\! \`id\` and \\! x; ${folder}"`);
	});

	it.each([
		['a\\ blank after a backslash', 'Contains backslash-escaped whitespace'],
		['a word =after an equals sign', 'Contains zsh =cmd equals expansion'],
		['a blank\u00a0of Unicode', 'Contains Unicode whitespace'],
		['a control\u0007character', 'command contains control characters'],
	])('%j is what Claude Code itself has to be asked about, or refuses', async (task, reason) => {
		const bench = await claudeBench(playedAtOnce);
		const end = await bench.session(`/ccc ${RUN} "${task}" p0-c0`);
		expect(end.said).toContain(reason);
		expect(await readdir(bench.run.sandbox.repo)).not.toContain('.ccc');
	});
});

describe('more than one session', () => {
	it('manual mode stops after each stage, for a decision too; later prompts and new sessions go on', async () => {
		const bench = await claudeBench((agent, repo) => {
			const usual = playedAtOnce(agent, repo);
			return (turn) => {
				const reply = usual(turn);
				if (turn.stage !== 'plan_v0_review' || !('kind' in reply) || reply.kind !== 'text') return reply;
				return say(reply.text.replace('\nNone\n', '\n- [major] Say more.\n').replace('READY: yes', 'READY: no'));
			};
		});
		const first = await bench.session(`/ccc ${RUN} "${TASK}" p0-c0 manual ${VERIFY}`);
		expect(first.said).toMatch(
			/^ANSWER: Ask the user: plan_v0 is done, go on with plan_v0_review by codex\? They may also type \/ccc resume /m,
		);
		const go = parsePacket(first.said)?.next ?? '';

		// What the skill may run is approved for the prompt that calls it only: a bare yes means a question for the user.
		const inFirst = ['--resume', first.sessionId];
		const yes = await bench.session('Yes.', { words: inFirst, hands: handsFrom(go) });
		expect(yes.denials).toMatchObject([{ tool_name: 'Bash', tool_input: { command: go } }]);
		expect(await bench.run.done()).toEqual(['plan_v0']);

		const second = await bench.session(`${RESUME} manual`, { words: inFirst });
		expect(second).toMatchObject({ sessionId: first.sessionId, denials: [] });
		const decide = parsePacket(second.said)?.next ?? '';
		expect(decide).toMatch(/ decide \S+ -$/);

		const answer = `${decide} <<'END'\nAccept: it's "enough" for $now\nEND`;
		const launcher = `Bash(sh "${join(bench.config, 'skills', 'ccc', 'ccc.sh')}" *)`;
		const third = await bench.session('Accept it.', {
			words: [...inFirst, '--allowedTools', launcher],
			hands: handsFrom(answer),
		});
		expect(third, third.all).toMatchObject({ denials: [] });
		expect(third.said).toMatch(/\nStage completed: code_v0\nNext action: review_v0$/);
		expect(await bench.run.read('state/decisions.jsonl')).toContain(JSON.stringify(`it's "enough" for $now`));

		const last = await bench.session(`${RESUME} manual`);
		expect(last.sessionId).not.toBe(first.sessionId);
		expect(last, last.all).toMatchObject({ denials: [], said: expect.stringMatching(COMPLETE) });
		await expectComplete(bench);
	});

	it('goes on in a new session when Claude Code is killed between any two commands', async () => {
		const bench = await claudeBench(playedAtOnce);
		expect(await killBetween(bench, AT_ONCE, 1)).toBe('killed');
		let sessions = 1;
		for (; (await killBetween(bench, RESUME, 2)) === 'killed'; sessions += 1) await expectValid(bench);
		// begin; then submit, call, call and submit, each but the last before a kill.
		expect(sessions).toBe(4);
		await expectComplete(bench);
		for (const stage of ['plan_v0_review', 'code_v0']) expect(bench.run.asked(stage), stage).toBe(1);
	});

	it('has the stage committed that a killed session waited for', async () => {
		const bench = await claudeBench(playedAtOnce);
		const companion = heldBack(bench);
		const session = bench.start(AT_ONCE);
		await companion.isAsked;
		await session.kill();
		companion.answer();
		await vi.waitFor(async () => expect(await bench.run.done()).toContain('plan_v0_review'), 20_000);

		const end = await bench.session(RESUME);
		expect(end, end.all).toMatchObject({ code: 0, denials: [], said: expect.stringMatching(COMPLETE) });
		await expectComplete(bench);
		expect(bench.run.asked('plan_v0_review')).toBe(1);
	});

	it('goes on waiting where the shell tool gave up, and the companion lives on when Claude Code ends what it left', async () => {
		const bench = await claudeBench(playedAtOnce);
		const companion = heldBack(bench);
		const hasty = {
			...patientHands,
			run: (command: string) => {
				const timeout = command.includes(' call ') ? 3000 : 600_000;
				return { name: 'Bash', input: { command, description: 'Run a command', timeout } };
			},
		};
		const end = await bench.session(AT_ONCE, { hands: hasty });
		expect(end.said).toMatch(/^Command running in background with ID: \w+\. Output is being written to: /);
		expect(
			(await bench.run.sandbox.processes()).map(({ command }) => / (coordinate|supervise|exec) /.exec(command)?.[1]),
		).toEqual(expect.arrayContaining(['coordinate', 'supervise', 'exec']));
		companion.answer();

		const next = await bench.session(RESUME);
		expect(next, next.all).toMatchObject({ code: 0, denials: [], said: expect.stringMatching(COMPLETE) });
		await expectComplete(bench);
		expect(bench.run.asked('plan_v0_review')).toBe(1);
	});
});

/** Codex's model answers nothing until it is told to. */
function heldBack({ run }: ClaudeBench): { isAsked: Promise<void>; answer(): void } {
	const asked = gate();
	const answered = gate();
	run.play(async (_, usual, agent) => {
		if (agent === 'codex') {
			asked.open();
			await answered.passed;
		}
		return usual();
	});
	return { isAsked: asked.passed, answer: answered.open };
}

it('each stage has a skill of its own', async () => {
	const bench = await claudeBench(playedAtOnce);
	bench.run.play((turn, usual) => (turn.step === 1 ? say('begun') : usual()));
	await bench.session(AT_ONCE);
	bench.run.play();
	const said: string[] = [];
	for (const skill of ['ccc-plan', 'ccc-plan-review', 'ccc-code', 'ccc-code-review']) {
		const end = await bench.session(`/${skill} ${RUN}`);
		expect(end, end.all).toMatchObject({ code: 0, denials: [] });
		said.push(/^STAGE: (.*)$/m.exec(end.said)?.[1] ?? end.said);
	}
	expect(said).toEqual(['plan_v0_review', 'code_v0', 'review_v0', 'none']);
	expect(await bench.run.done()).toEqual(STAGES);
	await expectComplete(bench);
});

describe.runIf(process.platform === 'linux')("Claude Code's own sandbox", () => {
	it('is no place to wait in: its own files would be there when the companion is judged', async () => {
		const bench = await claudeBench(playedAtOnce);
		const companion = heldBack(bench);
		const session = bench.start(AT_ONCE);
		await companion.isAsked;
		await session.kill();
		await enableSandbox(bench);

		const second = bench.session(RESUME);
		await vi.waitFor(() => expect(bench.turns.at(-1)?.toolResults.join()).toContain('[companion-sandboxed]'), 20_000);
		companion.answer();
		const end = await second;
		expect(end, end.all).toMatchObject({ code: 0, denials: [], said: expect.stringMatching(COMPLETE) });
		await expectComplete(bench);
		expect(bench.run.asked('plan_v0_review')).toBe(1);
	});

	it.each(['claude-codex', 'codex-claude'])(
		'calls leave it without a question, the rest works inside: %s',
		async (planCode) => {
			const bench = await claudeBench(playedAtOnce);
			await enableSandbox(bench);
			const end = await bench.session(`${AT_ONCE} plan-code=${planCode}`, {
				words: planCode === 'codex-claude' ? CODER : [],
			});
			expect(end, end.all).toMatchObject({ code: 0, denials: [], said: expect.stringMatching(COMPLETE) });
			await expectComplete(bench);
			const refused = bench.turns.at(-1)?.toolResults.filter((text) => text.includes('[companion-sandboxed]')) ?? [];
			expect(refused).toHaveLength(2);
			for (const text of refused) expect(text).toMatch(/^Exit code 5\n.*SANDBOX_RUNTIME/);
			expect(bench.turns.at(-1)?.toolResults.join('\n')).not.toContain('had changes before this run');
		},
	);
});

const RESOURCES = '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/codex-resources';

/** The sandbox needs bwrap, which Codex brings along, and socat, of which little is needed. */
async function enableSandbox({ run: { sandbox }, config }: ClaudeBench): Promise<void> {
	const bin = join(sandbox.root, 'bin');
	await mkdir(bin);
	await symlink(join(import.meta.dirname, 'node_modules', RESOURCES, 'bwrap'), join(bin, 'bwrap'));
	await symlink(join(import.meta.dirname, 'fixtures', 'socat'), join(bin, 'socat'));
	sandbox.env.PATH = `${bin}:${sandbox.env.PATH}`;
	await writeFile(join(config, 'settings.json'), '{ "sandbox": { "enabled": true, "failIfUnavailable": true } }\n');
}
