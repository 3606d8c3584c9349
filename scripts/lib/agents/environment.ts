import type { Agent } from './agent.ts';

const SESSION_VARIABLES = new Set([
	'CLAUDECODE',
	'CLAUDE_CODE_SESSION_ID',
	'CLAUDE_CODE_CHILD_SESSION',
	'CLAUDE_CODE_ENTRYPOINT',
	'CLAUDE_CODE_EXECPATH',
	'AI_AGENT',
	'CODEX_CI',
	'CODEX_THREAD_ID',
	'CODEX_SESSION_ID',
]);
const SESSION_PREFIXES = ['CODEX_SANDBOX', 'CODEX_MANAGED_'];

/** With the CLI's own default a call that cannot succeed is retried for three to ten minutes, in silence. */
const CLAUDE_MAX_RETRIES = '3';

/**
 * The whole environment of a companion: what marks the surrounding session is gone, so that the companion does not take
 * itself for a part of it; logins, homes, providers and proxies stay.
 * @param extra set last, whatever the environment said
 * @param agent for `claude`, the number of retries is bounded unless the user has bounded it
 */
export function companionEnvironment(
	env: Record<string, string | undefined>,
	extra: Record<string, string>,
	agent?: Agent,
): Record<string, string> {
	const kept: Record<string, string> = agent === 'claude' ? { CLAUDE_CODE_MAX_RETRIES: CLAUDE_MAX_RETRIES } : {};
	for (const [name, value] of Object.entries(env)) {
		if (value !== undefined && !marksSession(name)) kept[name] = value;
	}
	return { ...kept, ...extra };
}

function marksSession(name: string): boolean {
	return SESSION_VARIABLES.has(name) || SESSION_PREFIXES.some((prefix) => name.startsWith(prefix));
}
