/** Whether this command runs inside an agent's sandbox, where a companion could neither reach its model nor outlive the command. */
import { basename } from 'node:path';
import { isListeningRefused } from '../kit/loopback.ts';
import { ancestorCommands } from '../kit/process-table.ts';
import type { Agent } from './agent.ts';

export interface Sandbox {
	/** Whose sandbox it is. */
	name: Agent;
	/** What gave it away, for the message to the user. */
	sign: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The sandbox around this process, whose environment is `env`. */
export async function findSandbox(env: Environment): Promise<Sandbox | undefined> {
	return detectSandbox(env, ancestorCommands(), saysNoNetwork(env) && (await isListeningRefused()));
}

/**
 * Pure.
 * @param ancestors the command lines of the processes this one descends from, as `ancestorCommands` reads them
 * @param listeningRefused whether the system does not let this process listen on loopback
 */
export function detectSandbox(
	env: Environment,
	ancestors: readonly (readonly string[])[],
	listeningRefused: boolean,
): Sandbox | undefined {
	// Codex also sets it for a command that the user or a rule lets out of the sandbox: the variable alone proves nothing.
	if (saysNoNetwork(env) && listeningRefused) return { name: 'codex', sign: 'CODEX_SANDBOX_NETWORK_DISABLED' };
	if ((env.CODEX_SANDBOX ?? '') !== '') return { name: 'codex', sign: 'CODEX_SANDBOX' };
	// Set for every command that Claude Code's Bash sandbox wraps; its network is a filtering proxy only.
	if (env.SANDBOX_RUNTIME === '1') return { name: 'claude', sign: 'SANDBOX_RUNTIME' };
	// With network_access=true no variable tells a sandboxed command from another one of Codex.
	if (ancestors.some(isCodexWrapper)) return { name: 'codex', sign: 'bwrap, which this command was started by' };
	return undefined;
}

const saysNoNetwork = (env: Environment): boolean => env.CODEX_SANDBOX_NETWORK_DISABLED === '1';

/**
 * Codex's bwrap lives as long as its command and is an ancestor of it: pid 1 of its pid namespace. It starts Codex's own
 * helper, under the name `codex-linux-sandbox`, which nobody else's bwrap does.
 */
function isCodexWrapper([program = '', ...words]: readonly string[]): boolean {
	if (basename(program) !== 'bwrap') return false;
	// What follows the helper's name is the user's command, where any text may stand.
	const end = words.indexOf('--');
	const options = end === -1 ? words : words.slice(0, end);
	const helper = end === -1 ? '' : (words[end + 1] ?? '');
	return options.some((word, at) => word === '--argv0' && options[at + 1] === HELPER) || basename(helper) === HELPER;
}

const HELPER = 'codex-linux-sandbox';
