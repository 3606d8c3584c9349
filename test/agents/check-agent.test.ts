import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkAgent } from '../../scripts/lib/agents/check-agent.ts';
import { agentBench } from '../support/agent-bench.ts';

let bench: Awaited<ReturnType<typeof agentBench>>;
beforeEach(async () => {
	bench = await agentBench();
});
afterEach(() => bench.cleanup());

const CLAUDE_HELP =
	'-p, --print  x\\n --output-format <f>\\n --no-session-persistence\\n --tools <tools...>\\n --disallowedTools, --disallowed-tools <t>\\n --permission-mode <m>\\n --allowedTools, --allowed-tools\\n --model <m>';
const CODEX_HELP = '-s, --sandbox <M>\\n --color <C>\\n -o, --output-last-message <F>\\n -m, --model <M>';

const body = (help: string, login: string): string => `
const line = argv.join(' ');
if (line === '--version') console.log('1.2.3 (x)');
else if (line === '--help' || line === 'exec --help') console.log('${help}');
else if (line === 'auth status' || line === 'login status') { ${login} }
else process.exit(9);
`;
const check = (agent: 'claude' | 'codex', env = bench.env) => checkAgent(agent, bench.options().config, env);

describe('checkAgent', () => {
	it.each([
		['claude', CLAUDE_HELP, `console.log(JSON.stringify({ loggedIn: true }, null, 2));`, 'yes'],
		['claude', CLAUDE_HELP, `console.log(JSON.stringify({ loggedIn: false }, null, 2)); process.exit(1);`, 'no'],
		['claude', CLAUDE_HELP, `console.error("error: unknown command 'auth'"); process.exit(1);`, 'unknown'],
		['codex', CODEX_HELP, `console.error('Logged in using ChatGPT');`, 'yes'],
		['codex', CODEX_HELP, `console.error('Not logged in'); process.exit(1);`, 'no'],
		['codex', CODEX_HELP, `process.exit(1);`, 'unknown'],
	] as const)('%s with its options listed and the login answered: %#', async (agent, help, login, answer) => {
		await bench.fake(agent, body(help, login));
		const result = await check(agent);
		// Codex with a provider of its own is never logged in.
		const ok = agent === 'codex' || answer !== 'no';
		expect(result).toMatchObject({ agent, ok, version: '1.2.3 (x)', missingFlags: [], login: answer });
		if (answer === 'no') expect(result.next).toMatch(/log in/i);
		else expect(result).not.toHaveProperty('problem');
	});

	it('names the options a version lacks, also where a longer one begins alike', async () => {
		await bench.fake('codex', body('--sandbox-dir --color --model', ''));
		expect(await check('codex')).toMatchObject({
			ok: false,
			missingFlags: ['--sandbox', '--output-last-message'],
			problem: expect.stringContaining('--output-last-message'),
		});
	});

	it('says what is wrong with a binary', async () => {
		expect(await check('codex')).toMatchObject({ ok: false, problem: expect.stringContaining('ENOENT') });
		await bench.fake('codex', `console.error('boom'); process.exit(3);`);
		expect(await check('codex')).toMatchObject({ ok: false, problem: expect.stringMatching(/exit code 3: boom/) });
	});

	it('asks outside the surrounding session', async () => {
		await bench.fake('claude', `log(Object.keys(process.env)); ${body(CLAUDE_HELP, '')}`);
		await check('claude', { ...bench.env, CLAUDECODE: '1' });
		expect((await bench.logged('claude')).flat()).not.toContain('CLAUDECODE');
	});
});
