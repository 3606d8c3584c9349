import type { Agent } from './agent.ts';

/** What `session_detected` in run.md may say. */
export type SessionDetected = Agent | 'unknown';

/**
 * Which agent's session a command runs in (protocol: Session Detection). Best effort: the markers are inherited by
 * everything the session starts, so both at once say nothing.
 */
export function detectSession(env: Record<string, string | undefined>): SessionDetected {
	const claude = env.CLAUDECODE === '1' || (env.CLAUDE_CODE_SESSION_ID ?? '') !== '';
	const codex = env.CODEX_CI === '1';
	if (claude === codex) return 'unknown';
	return claude ? 'claude' : 'codex';
}
