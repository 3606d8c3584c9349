/** Everything a run takes from the environment, read once by the command (README: Settings). */
import { type AgentConfig, readAgentConfig } from '../agents/config.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { checkVerify } from './arguments.ts';

export interface RunSettings {
	readonly agents: AgentConfig;
	/** Bytes of UTF-8 a prompt may have. */
	readonly promptMaxBytes: number;
	/** Bytes of diff above which lockfiles, generated, vendored and binary files are summarised. */
	readonly diffBudget: number;
	/** CCC_PLAN_CODE as it stands, valid or not. */
	readonly planCode?: string;
	/** CCC_VERIFY. */
	readonly verify?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws CccError `bad-setting` (exit 2) naming the variable */
export function readRunSettings(env: Environment): RunSettings {
	const { CCC_PLAN_CODE: planCode, CCC_VERIFY: verify } = env;
	return {
		agents: readAgentConfig(env),
		promptMaxBytes: readBytes(env, 'CCC_REVIEW_PROMPT_MAX_BYTES', 200_000),
		diffBudget: readBytes(env, 'CCC_REVIEW_DIFF_BUDGET', 60_000),
		...(planCode ? { planCode } : {}),
		...(verify ? { verify: readVerify(verify) } : {}),
	};
}

function readVerify(command: string): string {
	try {
		return checkVerify(command);
	} catch (error) {
		if (!(error instanceof CccError)) throw error;
		const { expected = 'a command line without shell syntax', found = command, next } = error.facts;
		throw new CccError('bad-setting', 'CCC_VERIFY is not a command.', {
			at: 'CCC_VERIFY',
			expected,
			found,
			...(next === undefined ? {} : { next }),
			exitCode: EXIT.usage,
		});
	}
}

function readBytes(env: Environment, name: string, fallback: number): number {
	const text = env[name];
	if (text === undefined || text === '') return fallback;
	if (!/^[1-9][0-9]{0,11}$/.test(text)) {
		throw new CccError('bad-setting', `${name} is not a number of bytes.`, {
			at: name,
			expected: 'a positive whole number',
			found: text,
			exitCode: EXIT.usage,
		});
	}
	return Number(text);
}
