import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runProcess } from '../../scripts/lib/kit/run-process.ts';
import { type RealSandbox, realSandbox } from './harness.ts';
import { startOpenAiModel } from './models/openai.ts';
import { type PlayedModel, type Script, say, use } from './models/script.ts';

// What ccc needs while Codex's own sandbox surrounds it: each command below is run by the real Codex for a played model.

const FIXTURE = fileURLToPath(new URL('fixtures/in-sandbox.mjs', import.meta.url));
const CCC = fileURLToPath(new URL('../../scripts/ccc.mjs', import.meta.url));
const WORKSPACE = ['--sandbox', 'workspace-write'];
const NO_TEMPORARY = ['exclude_slash_tmp', 'exclude_tmpdir_env_var'].flatMap((name) => [
	'-c',
	`sandbox_workspace_write.${name}=true`,
]);

let playing: Script = () => say('nothing to do');
let model: PlayedModel;
let sandbox: RealSandbox;
const state = (): string => join(sandbox.repo, '.ccc', 'runs', 'one', 'state');

beforeAll(async () => {
	model = await startOpenAiModel((turn) => playing(turn));
	const files = { 'greeting.txt': 'hello\n', 'check.mjs': "console.log(6 * 7, 'checked'); console.error('warned');\n" };
	sandbox = await realSandbox({ openAiUrl: model.url, files });
	await writeFile(join(sandbox.repo, 'greeting.txt'), 'goodbye\n');
	await writeFile(join(sandbox.repo, 'new.txt'), 'new\n');
	await mkdir(state(), { recursive: true });
	await writeFile(join(state(), '..', 'run.md'), '# CCC Run\n');
});
afterAll(async () => {
	await sandbox.cleanup();
	await model.close();
});
afterEach(async () => {
	expect(await sandbox.processes()).toEqual([]);
	expect(sandbox.outsideAttempts).toEqual([]);
});

/** Runs the commands one after the other in Codex, each in a sandbox of its own, and returns what the model got to see. */
async function inCodex(options: readonly string[], ...commands: string[]): Promise<string[]> {
	let seen: readonly string[] = [];
	playing = ({ step, toolResults }) => {
		seen = toolResults;
		const cmd = commands[step];
		return cmd === undefined ? say('done') : use({ name: 'exec_command', input: { cmd, yield_time_ms: 30_000 } });
	};
	const argv: [string, ...string[]] = ['codex', 'exec', ...options, '--color', 'never', '-'];
	const call = { cwd: sandbox.repo, env: sandbox.env, stdin: 'CCC stage: code_v0\n', timeoutMs: 60_000 };
	const { exitCode, stderr } = await runProcess({ argv, ...call });
	if (exitCode !== 0 || seen.length !== commands.length) throw new Error(`${seen.join('\n')}\n${stderr}`);
	return [...seen];
}

const job = (...words: string[]): string => [`node '${FIXTURE}'`, ...words.map((word) => `'${word}'`)].join(' ');

/** The line of JSON that a job prints. */
function answerOf(output: string | undefined): Record<string, unknown> {
	const line = output?.split('\n').find((one) => one.startsWith('{'));
	if (line === undefined) throw new Error(`no answer in: ${output}`);
	return JSON.parse(line);
}

describe.runIf(process.platform === 'linux')("in Codex's workspace-write sandbox", () => {
	it('git is read without any temporary folder, and the repository stays clean', async () => {
		const before = await sandbox.git('status', '--short');
		const outputs = await inCodex(
			[...WORKSPACE, ...NO_TEMPORARY],
			'touch /tmp/ccc-probe; touch /var/tmp/ccc-probe; touch "$TMPDIR/ccc-probe"',
			job('surface'),
			job('surface', 'without shared memory'),
		);
		expect(outputs[0]?.match(/Read-only file system/g)).toHaveLength(3);
		const [usual, last] = outputs.slice(1).map(answerOf);
		expect(last).toMatchObject({
			status: ' M greeting.txt\n?? new.txt\n',
			text: expect.stringMatching(/\+goodbye[\s\S]*\+new/),
			changedPaths: ['greeting.txt', 'new.txt'],
			entries: expect.arrayContaining(['check.mjs', 'greeting.txt', 'new.txt']),
			scratch: expect.stringMatching(/\/\.ccc\/runs\/one\/state\/ccc-git-\w{6}$/),
		});
		expect({ ...usual, scratch: last?.scratch }).toEqual(last);
		expect(readdirSync(state())).toEqual([]);
		expect(await sandbox.git('status', '--short')).toBe(before);
	});

	it('a verify command that is Node is heard', async () => {
		const [output] = await inCodex([...WORKSPACE, ...NO_TEMPORARY], job('verify', 'node check.mjs'));
		expect(answerOf(output)).toMatchObject({ exitCode: 0, tail: '42 checked\n\nwarned' });
		expect(readdirSync(state())).toEqual([]);
	});

	it('the lock of the run goes from command to command, from one pid namespace to the next', async () => {
		const [first, second] = (await inCodex(WORKSPACE, job('lock'), job('lock'))).map(answerOf);
		const outside = await readlink('/proc/self/ns/pid');
		for (const answer of [first, second]) {
			// Few processes come before it in a namespace of its own.
			expect(answer?.pid).toBeLessThan(10);
			expect(answer?.pidNamespace).toMatch(/^pid:/);
			expect(answer?.pidNamespace).not.toBe(outside);
			expect(answer?.refusals).toBe(0);
		}
	});

	it('the lock of a killed command is free when its heartbeat is too old', async () => {
		const stale = 'LOCK_STALE_MS=3000';
		const began = performance.now();
		const outputs = await inCodex(WORKSPACE, `${stale} ${job('lock', '200')}`, `${stale} ${job('lock')}`, job('lock'));
		expect(outputs[0]).toContain('exited with code 137');
		const waited = answerOf(outputs[1]);
		expect(waited.refusals).toBeGreaterThan(5);
		expect(waited.waitedMs).toBeLessThan(4500);
		expect(answerOf(outputs[2])).toMatchObject({ refusals: 0 });
		expect(performance.now() - began).toBeGreaterThan(2500);
	});
});

describe.runIf(process.platform === 'linux')('a command of Codex', () => {
	const NETWORK = [...WORKSPACE, '-c', 'sandbox_workspace_write.network_access=true'];

	it('knows that it is in a sandbox, with the network too, and after it has left its parent', async () => {
		const orphan = `(setsid ${job('sandbox')} > orphan.json &); until grep -q sandbox orphan.json; do sleep 0.1; done; cat orphan.json; rm orphan.json`;
		const outputs = await inCodex(NETWORK, 'env', job('sandbox'), orphan);
		expect(outputs[0]).not.toMatch(/^(?:CODEX_SANDBOX|SANDBOX)/m);
		for (const output of outputs.slice(1)) {
			expect(answerOf(output)).toEqual({ sandbox: { name: 'codex', sign: expect.stringContaining('bwrap') } });
		}
	});

	it('starts no companion there', async () => {
		const [run, check] = await inCodex(
			NETWORK,
			`node '${CCC}' run .ccc/runs/two "Do it."; echo "rc $?"`,
			`node '${CCC}' check-agent codex; echo "rc $?"`,
		);
		expect(run).toMatch(/companion-sandboxed[\s\S]*rc 5/);
		expect(existsSync(join(sandbox.repo, '.ccc', 'runs', 'two'))).toBe(false);
		expect(check).toMatch(/inside the sandbox of codex[\s\S]*rc 5/);
	});

	it('gives no false alarm without a sandbox', async () => {
		const [output] = await inCodex(['--sandbox', 'danger-full-access'], job('sandbox'));
		expect(answerOf(output)).toEqual({ sandbox: null });
	});
});
