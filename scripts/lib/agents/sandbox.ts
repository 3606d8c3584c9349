/** Whether this command runs inside an agent's sandbox, where a companion could neither reach its model nor outlive the command. */
import type { Agent } from './agent.ts';

export interface Sandbox {
	/** Whose sandbox it is. */
	name: Agent;
	/** The variable that gave it away, for the message to the user. */
	variable: string;
}

export function detectSandbox(env: Record<string, string | undefined>): Sandbox | undefined {
	if (env.CODEX_SANDBOX_NETWORK_DISABLED === '1') return { name: 'codex', variable: 'CODEX_SANDBOX_NETWORK_DISABLED' };
	if ((env.CODEX_SANDBOX ?? '') !== '') return { name: 'codex', variable: 'CODEX_SANDBOX' };
	// Set for every command that Claude Code's Bash sandbox wraps; its network is a filtering proxy only.
	if (env.SANDBOX_RUNTIME === '1') return { name: 'claude', variable: 'SANDBOX_RUNTIME' };
	return undefined;
}
