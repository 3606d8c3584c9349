/** The command line of each agent and kind of stage (protocol: Agent Calls). The prompt always comes on stdin. */
import type { Agent } from './agent.ts';
import { coderTools } from './coder-tools.ts';
import type { AgentConfig } from './config.ts';

/** What a companion may do: change the repository, look around in it, or see nothing but its prompt. */
export type Access = 'code' | 'plan' | 'review';

/**
 * Options that take several values (`--tools`, `--allowedTools`) are always followed by another option or by nothing;
 * `readAgentConfig` makes sure the user's words begin with one.
 * @param outputFile absolute path for Codex's last message, of a name no earlier attempt has used; Claude answers on stdout
 */
export function companionArgv(
	agent: Agent,
	access: Access,
	config: AgentConfig,
	outputFile: string,
): [string, ...string[]] {
	return agent === 'codex' ? codexArgv(access, config, outputFile) : claudeArgv(access, config);
}

function codexArgv(access: Access, config: AgentConfig, outputFile: string): [string, ...string[]] {
	const sandbox = access === 'code' ? 'workspace-write' : 'read-only';
	const fixed = ['exec', '--sandbox', sandbox, '--color', 'never', '--output-last-message', outputFile];
	return [config.codexBin, ...fixed, ...modelOption(config.codexModel), ...config.codexArgs, '-'];
}

function claudeArgv(access: Access, config: AgentConfig): [string, ...string[]] {
	const fixed = ['--print', '--output-format', 'text', '--no-session-persistence'];
	return [
		config.claudeBin,
		...fixed,
		...claudeAccess(access, config),
		...modelOption(config.claudeModel),
		...config.claudeArgs,
	];
}

/** `--tools` does not govern MCP tools: those have to be denied by name. */
function claudeAccess(access: Access, config: AgentConfig): string[] {
	switch (access) {
		case 'code':
			return coderAccess(config);
		case 'plan':
			return ['--permission-mode', 'default', '--tools', 'Read,Glob,Grep', '--disallowedTools', 'mcp__*'];
		case 'review':
			return ['--tools', '', '--disallowedTools', 'mcp__*'];
	}
}

/** What the coder is not offered it cannot misuse: without `--tools` it also gets agents, web and scheduling tools. */
function coderAccess(config: AgentConfig): string[] {
	const { offered, allowed } = coderTools(config.claudeCoderTools);
	return ['--permission-mode', 'acceptEdits', '--tools', offered, '--allowedTools', allowed];
}

function modelOption(model: string | undefined): string[] {
	return model === undefined ? [] : ['--model', model];
}
