import { describe, expect, it } from 'vitest';
import { readAgentConfig } from '../../scripts/lib/agents/config.ts';
import { CccError } from '../../scripts/lib/kit/errors.ts';

describe('readAgentConfig', () => {
	it('has defaults, and takes empty variables for absent', () => {
		const defaults = {
			claudeBin: 'claude',
			codexBin: 'codex',
			claudeArgs: [],
			codexArgs: [],
			claudeCoderTools: 'Edit,Write,Read,Glob,Grep,Bash',
			timeoutMs: 1_800_000,
		};
		expect(readAgentConfig({})).toEqual(defaults);
		const names = ['CLAUDE_BIN', 'CODEX_BIN', 'CLAUDE_MODEL', 'CODEX_MODEL', 'CLAUDE_ARGS', 'CODEX_ARGS'];
		const empty = [...names, 'CLAUDE_CODER_TOOLS', 'AGENT_TIMEOUT_SECONDS'].map((name) => [`CCC_${name}`, '']);
		expect(readAgentConfig(Object.fromEntries(empty))).toEqual(defaults);
	});

	it('reads every setting', () => {
		const env = {
			CCC_CLAUDE_BIN: '/opt/my tools/claude',
			CCC_CODEX_BIN: 'codex-next',
			CCC_CLAUDE_MODEL: 'opus',
			CCC_CODEX_MODEL: 'gpt-5.4',
			CCC_CLAUDE_ARGS: `--add-dir '/a b' --settings "{\\"x\\":1}"`,
			CCC_CODEX_ARGS: '-c model_reasoning_effort=high',
			CCC_CLAUDE_CODER_TOOLS: 'Edit,Bash(npm test:*)',
			CCC_AGENT_TIMEOUT_SECONDS: '86400',
		};
		expect(readAgentConfig(env)).toEqual({
			claudeBin: '/opt/my tools/claude',
			codexBin: 'codex-next',
			claudeModel: 'opus',
			codexModel: 'gpt-5.4',
			claudeArgs: ['--add-dir', '/a b', '--settings', '{"x":1}'],
			codexArgs: ['-c', 'model_reasoning_effort=high'],
			claudeCoderTools: 'Edit,Bash(npm test:*)',
			timeoutMs: 86_400_000,
		});
	});

	it.each([
		['CCC_AGENT_TIMEOUT_SECONDS', '0'],
		['CCC_AGENT_TIMEOUT_SECONDS', '-1'],
		['CCC_AGENT_TIMEOUT_SECONDS', '1.5'],
		['CCC_AGENT_TIMEOUT_SECONDS', '1e3'],
		['CCC_AGENT_TIMEOUT_SECONDS', ' 10'],
		['CCC_AGENT_TIMEOUT_SECONDS', '010'],
		['CCC_AGENT_TIMEOUT_SECONDS', '86401'],
		['CCC_AGENT_TIMEOUT_SECONDS', '99999999999999999999'],
		['CCC_CLAUDE_BIN', './claude'],
		['CCC_CODEX_BIN', '~/bin/codex'],
		['CCC_CODEX_BIN', 'codex\nrm'],
		['CCC_CLAUDE_MODEL', 'a\nb'],
		['CCC_CLAUDE_ARGS', '--effort "high'],
		['CCC_CLAUDE_ARGS', 'Bash --effort high'],
		['CCC_CODEX_ARGS', 'resume --last'],
		['CCC_CODEX_ARGS', '-m x -'],
		['CCC_CODEX_ARGS', '-- x'],
	])('refuses %s=%j by name', (name, value) => {
		const attempt = () => readAgentConfig({ [name]: value });
		expect(attempt).toThrow(CccError);
		try {
			attempt();
		} catch (error) {
			expect(error).toMatchObject({ code: 'bad-setting', exitCode: 2, facts: { at: name } });
		}
	});
});
