import { describe, expect, it } from 'vitest';
import { companionArgv } from '../../scripts/lib/agents/command-line.ts';
import { readAgentConfig } from '../../scripts/lib/agents/config.ts';

const plain = readAgentConfig({});
const custom = readAgentConfig({
	CCC_CLAUDE_BIN: '/b/claude',
	CCC_CODEX_BIN: '/b/codex',
	CCC_CLAUDE_MODEL: 'opus',
	CCC_CODEX_MODEL: 'gpt',
	CCC_CLAUDE_ARGS: '--effort high',
	CCC_CODEX_ARGS: '-c a=1',
	CCC_CLAUDE_CODER_TOOLS: 'Edit',
});
const words = (line: string): string[] => line.split(' ').map((word) => (word === "''" ? '' : word));

describe('companionArgv', () => {
	it.each([
		['codex', 'code', 'codex exec --sandbox workspace-write --color never --output-last-message /o -'],
		['codex', 'plan', 'codex exec --sandbox read-only --color never --output-last-message /o -'],
		['codex', 'review', 'codex exec --sandbox read-only --color never --output-last-message /o -'],
		[
			'claude',
			'code',
			'claude --print --output-format text --no-session-persistence --permission-mode acceptEdits --tools Edit,Write,Read,Glob,Grep,Bash --allowedTools Edit(./**),Write(./**),Read,Glob,Grep,Bash',
		],
		[
			'claude',
			'plan',
			'claude --print --output-format text --no-session-persistence --permission-mode default --tools Read,Glob,Grep --disallowedTools mcp__*',
		],
		[
			'claude',
			'review',
			"claude --print --output-format text --no-session-persistence --tools '' --disallowedTools mcp__*",
		],
	] as const)('%s %s', (agent, access, line) => {
		expect(companionArgv(agent, access, plain, '/o')).toEqual(words(line));
	});

	it.each([
		[
			'codex',
			'code',
			'/b/codex exec --sandbox workspace-write --color never --output-last-message /o --model gpt -c a=1 -',
		],
		[
			'claude',
			'code',
			'/b/claude --print --output-format text --no-session-persistence --permission-mode acceptEdits --tools Edit --allowedTools Edit(./**) --model opus --effort high',
		],
	] as const)('%s %s with every setting', (agent, access, line) => {
		expect(companionArgv(agent, access, custom, '/o')).toEqual(words(line));
	});

	it('never lets an option with several values be followed by a plain word', () => {
		for (const access of ['code', 'plan', 'review'] as const) {
			for (const config of [plain, custom]) {
				const argv = companionArgv('claude', access, config, '/o');
				for (const option of ['--tools', '--allowedTools', '--disallowedTools']) {
					const at = argv.indexOf(option);
					if (at !== -1) expect(argv[at + 2] ?? '--').toMatch(/^--/);
				}
			}
		}
	});
});
