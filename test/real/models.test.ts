import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '../../scripts/lib/agents/agent.ts';
import { checkAgent } from '../../scripts/lib/agents/check-agent.ts';
import { readAgentConfig } from '../../scripts/lib/agents/config.ts';
import { type RealCompanions, realCompanions } from './companions.ts';
import { type Reply, type Script, say, type ToolCall, type Turn, use } from './models/script.ts';

const AGENTS: readonly Agent[] = ['claude', 'codex'];

let real: RealCompanions;
beforeAll(async () => {
	real = await realCompanions({ 'greeting.txt': 'hello\n', 'check.mjs': "console.log(6 * 7, 'checked');\n" });
});
afterAll(async () => {
	await real.close();
});
afterEach(async () => {
	expect(await real.sandbox.processes()).toEqual([]);
	expect(real.sandbox.outsideAttempts).toEqual([]);
	await real.sandbox.git('reset', '--quiet', '--hard');
	await real.sandbox.git('clean', '--quiet', '--force', '-d', '-x');
});

/** Asks for these tools one turn after the other, then answers with all they returned. */
function steps(...calls: ToolCall[]): Script {
	return ({ step, toolResults }) => {
		const call = calls[step];
		return call ? use(call) : say(toolResults.join('\n'));
	};
}

const always = (reply: Reply) => (): Reply => reply;

describe.each(AGENTS)('%s with a played model', (agent) => {
	it.each(['code', 'plan', 'review'] as const)('answers a %s prompt', async (access) => {
		const { outcome, turns } = await real.call(agent, access, ({ stage, prompt }) => say(`${stage}|${prompt.length}`), {
			prompt: 'CCC stage: some_v7\nline two\n',
		});
		expect(outcome).toMatchObject({ kind: 'answered' });
		expect(outcome.answer?.trim()).toBe('some_v7|28');
		expect(turns).toMatchObject([{ prompt: 'CCC stage: some_v7\nline two\n', step: 0, toolResults: [] }]);
	});

	it('gets a prompt of 150 kB whole', async () => {
		const prompt = `CCC stage: review_v0\n${'я$`"\\ '.repeat(150_000 / 7)}\nthe end\n`;
		const { outcome, turns } = await real.call(agent, 'review', always(say('read')), { prompt });
		expect(Buffer.byteLength(prompt)).toBeGreaterThan(149_000);
		expect(outcome.answer?.trim()).toBe('read');
		expect(turns[0]?.prompt).toBe(prompt);
	});

	it('codes: changes a file, adds one, runs a command, in the repository', async () => {
		const edits: ToolCall[] =
			agent === 'codex'
				? [
						{
							patch:
								'*** Begin Patch\n*** Update File: greeting.txt\n@@\n-hello\n+goodbye\n*** Add File: new.txt\n+new\n*** End Patch\n',
						},
					]
				: [
						{ name: 'Read', input: { file_path: inRepo('greeting.txt') } },
						{
							name: 'Edit',
							input: { file_path: inRepo('greeting.txt'), old_string: 'hello', new_string: 'goodbye' },
						},
						{ name: 'Write', input: { file_path: inRepo('new.txt'), content: 'new\n' } },
					];
		const { outcome } = await real.call(agent, 'code', steps(...edits, { shell: 'node check.mjs; touch made.txt' }));
		expect(outcome.answer).toContain('42 checked');
		expect(await readFile(inRepo('greeting.txt'), 'utf8')).toBe('goodbye\n');
		expect(await readFile(inRepo('new.txt'), 'utf8')).toBe('new\n');
		expect(await real.sandbox.git('status', '--short')).toBe(' M greeting.txt\n?? made.txt\n?? new.txt\n');
	});

	it.each(['plan', 'review'] as const)('cannot write during a %s', async (access) => {
		const outside = join(real.sandbox.root, 'outside.txt');
		const write: ToolCall =
			agent === 'codex'
				? { patch: '*** Begin Patch\n*** Add File: written.txt\n+x\n*** End Patch\n' }
				: { name: 'Write', input: { file_path: inRepo('written.txt'), content: 'x' } };
		const script = steps(write, { shell: `touch touched.txt; touch ${outside}; git commit --allow-empty -m x` });
		const { outcome, turns } = await real.call(agent, access, script);
		expect(turns).toHaveLength(3);
		expect(outcome.answer).toMatch(agent === 'codex' ? /read-only/i : /No such tool available: Write/);
		expect(await real.sandbox.git('status', '--short')).toBe('');
		expect(await real.sandbox.git('rev-list', '--count', 'HEAD')).toBe('1\n');
		expect(existsSync(outside)).toBe(false);
	});

	it.each([
		[500, 'failed', { claude: /500 no luck/, codex: /high demand/ }],
		[401, 'not-logged-in', { claude: /401 no luck/, codex: /401 Unauthorized: no luck/ }],
		[429, 'failed', { claude: /429.*no luck/, codex: /429 Too Many Requests/ }],
		[400, 'failed', { claude: /400 no luck/, codex: /no luck/ }],
	] as const)('reports an API error %i', async (status, kind, words) => {
		const { result, outcome } = await real.call(
			agent,
			'review',
			always({ kind: 'error', status, message: 'no luck', retryAfterSeconds: 1 }),
		);
		expect(result.exitCode).toBe(1);
		// Claude tells its errors on stdout and Codex on stderr.
		expect(agent === 'claude' ? result.stderr : result.stdout).toBe('');
		expect(outcome).toMatchObject({ kind, lastWords: expect.stringMatching(words[agent]) });
	});

	it('ends with 0 and nothing said when the model gives no message', async () => {
		const { result, outcome } = await real.call(agent, 'review', always({ kind: 'empty' }));
		expect(result).toMatchObject({ exitCode: 0, stdout: agent === 'claude' ? '\n' : '' });
		expect(outcome.kind).toBe('empty');
	});

	it('is stopped at the deadline when the model hangs', async () => {
		const { outcome, turns } = await real.call(agent, 'review', always({ kind: 'hang' }), { timeoutMs: 3000 });
		expect(turns).toHaveLength(1);
		expect(outcome.kind).toBe('timed-out');
	});

	it('asks again when the stream is cut once, and fails when it is always cut', async () => {
		const cut: Reply = { kind: 'cut', text: 'half an ans' };
		const calls: number[] = [];
		const once = await real.call(agent, 'review', () => (calls.push(0) === 1 ? cut : say('a whole answer')));
		expect(once.outcome.answer?.trim()).toBe('a whole answer');
		const never = await real.call(agent, 'review', always(cut));
		expect(never.result.exitCode).toBe(1);
		expect(never.outcome).toMatchObject({ kind: 'failed', lastWords: expect.not.stringContaining('half an ans') });
	});

	it('shows why a script failed', async () => {
		const { outcome } = await real.call(agent, 'review', () => {
			throw new Error('the plan is missing');
		});
		expect(outcome).toMatchObject({ kind: 'failed', lastWords: expect.stringContaining('the plan is missing') });
	});

	it('has every option that ccc uses', async () => {
		const { env } = real.sandbox;
		const check = await checkAgent(agent, readAgentConfig(env), env);
		expect(check).toMatchObject({ ok: true, missingFlags: [] });
		// Codex needs no login with a provider of its own, and says "not logged in" nevertheless.
		expect(check.login).toBe(agent === 'claude' ? 'yes' : 'no');
	});
});

describe('claude', () => {
	it('gets the tools of its access and no other', async () => {
		const offered = async (access: 'plan' | 'review') => {
			const { turns } = await real.call('claude', access, always(say('seen')));
			return [...(turns[0]?.tools ?? [])].sort();
		};
		expect(await offered('review')).toEqual([]);
		expect(await offered('plan')).toEqual(['Glob', 'Grep', 'Read']);
	});

	it('does not let a reviewer reach an MCP server', async () => {
		const touched = join(real.sandbox.root, 'touched-by-mcp');
		const config = join(real.sandbox.root, 'mcp.json');
		const server = fileURLToPath(new URL('fixtures/mcp-server.mjs', import.meta.url));
		const touch = { command: process.execPath, args: [server], env: { MCP_TOUCH_FILE: touched } };
		await writeFile(config, JSON.stringify({ mcpServers: { touch } }));
		const env = { CCC_CLAUDE_ARGS: `--mcp-config ${config}` };
		const script = steps({ name: 'mcp__touch__touch_file', input: {} });

		const coder = await real.call('claude', 'code', script, { env: { ...env, CCC_CLAUDE_CODER_TOOLS: 'mcp__touch' } });
		expect(coder.outcome.answer).toContain('touched');
		expect(existsSync(touched)).toBe(true);

		await writeFile(touched, 'before');
		const reviewer = await real.call('claude', 'review', script, { env });
		expect(reviewer.turns[0]?.tools).toEqual([]);
		expect(reviewer.outcome.answer).toContain('No such tool available');
		expect(await readFile(touched, 'utf8')).toBe('before');
	});

	it('says that it is not logged in, without asking a model', async () => {
		const { outcome, turns } = await real.call('claude', 'review', always(say('never')), {
			env: { ANTHROPIC_API_KEY: undefined },
		});
		expect(turns).toEqual([]);
		expect(outcome.kind).toBe('not-logged-in');
	});
});

describe('codex', () => {
	it('writes nothing outside the repository and nothing below .git while coding', async () => {
		const outside = join(real.sandbox.root, 'outside.txt');
		const command = `touch ${outside}; touch .git/new; git commit --allow-empty -m x; touch inside.txt`;
		const { outcome } = await real.call('codex', 'code', steps({ shell: command }));
		expect(outcome.answer?.match(/Read-only file system/g)).toHaveLength(3);
		expect(existsSync(outside)).toBe(false);
		expect(await real.sandbox.git('status', '--short')).toBe('?? inside.txt\n');
	});

	it("keeps a command of its coder's away from the network, so that no companion can be started there", async () => {
		const seen: Turn[] = [];
		const ask = 'echo hello | claude --print --output-format text --no-session-persistence --tools ""';
		const { outcome } = await real.call('codex', 'code', (turn) => {
			seen.push(turn);
			return steps({ shell: `${ask}; env | grep '^CODEX_'` })(turn);
		});
		expect(outcome.answer).toContain('Unable to connect to API (FailedToOpenSocket)');
		expect(outcome.answer).toContain('CODEX_SANDBOX_NETWORK_DISABLED=1');
		expect(seen).toHaveLength(2);
	});

	// Node's pipes to its children are sockets on Linux, and the sandbox refuses what Node does with some of them. What
	// ccc runs inside Codex has to start programs asynchronously, and cannot read the output of a child that is Node.
	it.runIf(process.platform === 'linux')('starves the pipes between Node and its children', async () => {
		const program = `import { execFile, execFileSync } from 'node:child_process';
			try { execFileSync('git', ['--version']); } catch (error) { console.log('git, sync:', error.code); }
			execFile('git', ['--version'], (error, stdout) => console.log('git, async:', error ?? stdout.trim()));
			execFile(process.execPath, ['-p', '6 * 7'], (error, stdout) => console.log('node:', error, JSON.stringify(stdout)));
		`;
		await writeFile(inRepo('pipes.mjs'), program);
		const { outcome } = await real.call('codex', 'code', steps({ shell: 'node pipes.mjs' }));
		expect(outcome.answer).toContain('git, sync: EPERM');
		expect(outcome.answer).toMatch(/git, async: git version/);
		expect(outcome.answer).toContain('node: null ""');
	});
});

function inRepo(path: string): string {
	return join(real.sandbox.repo, path);
}
