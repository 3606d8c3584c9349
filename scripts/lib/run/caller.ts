/** Who calls a session command, and how it spells the command that comes next. */
import path from 'node:path';
import { quoteWord } from '../kit/words.ts';

export interface Caller {
	/** The session the command was started in, where its environment says so. */
	readonly sessionId?: string;
	/** Words in front of every command line it is told to run, quoted for a POSIX shell. */
	readonly command: string;
	/** The same unquoted, for one that came through a skill's launcher. */
	readonly launcher?: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * @param own how this process was started, for callers that did not come through a skill's launcher
 */
export function readCaller(env: Environment, cwd: string, own: readonly string[]): Caller {
	const ids = [
		['claude', env.CLAUDE_CODE_SESSION_ID],
		['codex', env.CODEX_THREAD_ID],
	].filter(([, id]) => id);
	const sessionId = ids.length > 0 ? { sessionId: ids.map((parts) => parts.join(':')).join('+') } : {};
	if (!env.CCC_CALLED_AS) return { ...sessionId, command: own.map(quoteWord).join(' ') };
	const script = path.resolve(cwd, env.CCC_CALLED_AS);
	return { ...sessionId, command: `sh ${doubleQuoted(script)}`, launcher: ['sh', script] };
}

/** The skills spell it this way too: what an agent may run without asking is compared letter for letter. */
function doubleQuoted(word: string): string {
	return `"${word.replace(/[\\"$`]/g, '\\$&')}"`;
}

/** A command line of this caller. @param words unquoted */
export function commandLine({ command }: Caller, words: readonly string[]): string {
	return [command, ...words.map(quoteWord)].join(' ');
}
