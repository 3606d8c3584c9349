/** Settings of the companions, read once per command from the environment. */
import { z } from 'zod';
import { CccError, EXIT } from '../kit/errors.ts';
import { splitWords } from '../kit/words.ts';

export interface AgentConfig {
	/** A command name looked up in PATH, or an absolute path. */
	claudeBin: string;
	codexBin: string;
	claudeModel?: string;
	codexModel?: string;
	/** Further words of each command line, after ours. */
	claudeArgs: string[];
	codexArgs: string[];
	/** Tools Claude may use while coding, comma-separated. */
	claudeCoderTools: string;
	timeoutMs: number;
}

const DEFAULT_CODER_TOOLS = 'Edit,Write,Read,Glob,Grep,Bash';
const DEFAULT_TIMEOUT_SECONDS = 1800;
const MAX_TIMEOUT_SECONDS = 86_400;

const text = z.string().regex(/^[^\0\r\n]*$/, 'one line without control characters');
const command = text.refine(
	(value) => !value.includes('/') || value.startsWith('/'),
	'a command name or an absolute path',
);
const seconds = z
	.string()
	.regex(/^[1-9][0-9]{0,4}$/)
	.transform(Number)
	.refine((value) => value <= MAX_TIMEOUT_SECONDS);

/**
 * Reads CCC_CLAUDE_BIN, CCC_CODEX_BIN, CCC_CLAUDE_MODEL, CCC_CODEX_MODEL, CCC_CLAUDE_ARGS, CCC_CODEX_ARGS,
 * CCC_CLAUDE_CODER_TOOLS and CCC_AGENT_TIMEOUT_SECONDS. An empty variable counts as absent.
 * @throws CccError `bad-setting` (exit 2) naming the variable and what it may hold
 */
export function readAgentConfig(env: Record<string, string | undefined>): AgentConfig {
	const read = <T>(name: string, schema: z.ZodType<T, string>, expected: string): T | undefined => {
		const value = env[name];
		if (value === undefined || value === '') return undefined;
		const parsed = schema.safeParse(value);
		if (!parsed.success) throw badSetting(name, expected, value);
		return parsed.data;
	};
	const bin = (name: string) => read(name, command, 'a command name, or an absolute path');
	const line = (name: string) => read(name, text, 'one line of text');
	const claudeModel = line('CCC_CLAUDE_MODEL');
	const codexModel = line('CCC_CODEX_MODEL');
	const timeout = read(
		'CCC_AGENT_TIMEOUT_SECONDS',
		seconds,
		`whole seconds from 1 to ${MAX_TIMEOUT_SECONDS}, for example ${DEFAULT_TIMEOUT_SECONDS}`,
	);
	return {
		claudeBin: bin('CCC_CLAUDE_BIN') ?? 'claude',
		codexBin: bin('CCC_CODEX_BIN') ?? 'codex',
		...(claudeModel === undefined ? {} : { claudeModel }),
		...(codexModel === undefined ? {} : { codexModel }),
		claudeArgs: readWords(env, 'CCC_CLAUDE_ARGS'),
		codexArgs: readWords(env, 'CCC_CODEX_ARGS'),
		claudeCoderTools: line('CCC_CLAUDE_CODER_TOOLS') ?? DEFAULT_CODER_TOOLS,
		timeoutMs: (timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
	};
}

/** The list must begin with an option: a leading plain word would become a value of the option before it, or a subcommand. */
function readWords(env: Record<string, string | undefined>, name: string): string[] {
	const value = env[name];
	if (value === undefined) return [];
	const words = wordsOf(name, value);
	const first = words[0];
	if (first !== undefined && !/^--?[^-]/.test(first)) {
		throw badSetting(name, 'a list of options that begins with one, for example --effort high', value);
	}
	if (words.some((word) => word === '-' || word === '--' || word.includes('\0'))) {
		throw badSetting(name, 'options only; the prompt always comes on standard input', value);
	}
	return words;
}

function wordsOf(name: string, value: string): string[] {
	try {
		return splitWords(value);
	} catch (error) {
		if (!(error instanceof CccError)) throw error;
		throw badSetting(name, 'words with every quote closed', value);
	}
}

function badSetting(name: string, expected: string, found: string): CccError {
	return new CccError('bad-setting', 'This environment variable cannot be used', {
		at: name,
		expected,
		found: JSON.stringify(found.slice(0, 200)),
		next: `Correct ${name} or unset it.`,
		exitCode: EXIT.usage,
	});
}
