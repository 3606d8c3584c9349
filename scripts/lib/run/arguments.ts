/** The arguments of `/ccc` and `ccc run` (protocol: Syntax). Pure: nothing is created or read here. */
import { CccError, EXIT } from '../kit/errors.ts';
import { splitCommand } from '../kit/words.ts';
import { isMode, MODES, type Mode } from './modes.ts';
import { PLAN_CODES, type PlanCode, type Rounds } from './stages.ts';

interface CommonOptions {
	readonly folder: string;
	readonly mode: Mode;
	/** Only when given explicitly. */
	readonly planCode?: PlanCode;
	/** Only when given explicitly; a command line without shell syntax. */
	readonly verify?: string;
}

export type RunArguments =
	| (CommonOptions & { readonly kind: 'start'; readonly task: string; readonly rounds: Rounds })
	| (CommonOptions & { readonly kind: 'resume' })
	| { readonly kind: 'cancel'; readonly folder: string; readonly reason: string };

const DEFAULT_ROUNDS: Rounds = { plan: 2, code: 2 };
const SYNTAX = {
	start: '<output_folder> "<task>" [pN-cM] [manual|normal|auto] [plan-code=<planner>-<coder>] [verify="<command>"]',
	resume: 'resume <output_folder> [manual|normal|auto] [plan-code=<planner>-<coder>] [verify="<command>"]',
	cancel: 'cancel <output_folder> "<reason>"',
};

/**
 * Reads words as a shell has split them.
 * @throws CccError (exit 2) naming the word at fault and what was expected instead
 */
export function parseRunArguments(words: readonly string[]): RunArguments {
	const [first, ...rest] = words;
	if (first === undefined) throw usage('missing-argument', 'The output folder is missing.', SYNTAX.start, '(nothing)');
	if (first === 'resume') {
		const folder = takeFolder(rest[0], SYNTAX.resume);
		const { rounds, ...options } = parseOptions(rest.slice(1), SYNTAX.resume);
		if (rounds) {
			throw usage(
				'rounds-on-resume',
				'The rounds of a run are set when it starts.',
				SYNTAX.resume,
				formatRounds(rounds),
			);
		}
		return { kind: 'resume', folder, ...options };
	}
	if (first === 'cancel') return parseCancel(rest);
	const folder = takeFolder(first, SYNTAX.start);
	const task = takeText(rest[0], 'task', SYNTAX.start);
	const { rounds, ...options } = parseOptions(rest.slice(1), SYNTAX.start);
	return { kind: 'start', folder, task, rounds: rounds ?? DEFAULT_ROUNDS, ...options };
}

function parseCancel(words: readonly string[]): RunArguments {
	const folder = takeFolder(words[0], SYNTAX.cancel);
	const reason = takeText(words[1], 'reason', SYNTAX.cancel);
	if (words[2] !== undefined) throw usage('unknown-word', 'One word too many.', SYNTAX.cancel, words[2]);
	return { kind: 'cancel', folder, reason };
}

/** `p2-c2`, without leading zeros, at most 99 each; undefined for a word of another form. */
export function parseRounds(word: string): Rounds | undefined {
	const match = /^p(0|[1-9][0-9]?)-c(0|[1-9][0-9]?)$/.exec(word);
	return match ? { plan: Number(match[1]), code: Number(match[2]) } : undefined;
}

const formatRounds = (rounds: Rounds): string => `p${rounds.plan}-c${rounds.code}`;

function parseOptions(words: readonly string[], syntax: string) {
	const found: { rounds?: Rounds; mode?: Mode; planCode?: PlanCode; verify?: string } = {};
	for (const word of words) {
		const [type, value] = readOption(word, syntax);
		if (type in found)
			throw usage('duplicate-argument', `There is more than one ${type} argument.`, 'one of each', word);
		Object.assign(found, { [type]: value });
	}
	return { ...found, mode: found.mode ?? ('normal' as const) };
}

function readOption(word: string, syntax: string): [string, unknown] {
	if (isMode(word)) return ['mode', word];
	if (word.startsWith('plan-code=')) return ['planCode', explicitPlanCode(word.slice('plan-code='.length))];
	if (word.startsWith('verify=')) return ['verify', checkVerify(word.slice('verify='.length))];
	const rounds = parseRounds(word);
	if (rounds) return ['rounds', rounds];
	if (/^p(?!lan)[^=]*-c/i.test(word)) {
		throw usage('bad-rounds', 'These are not rounds.', 'pN-cM with N and M from 0 to 99, no leading zeros', word);
	}
	throw usage('unknown-word', 'Unknown argument; a task or a reason of several words stands in quotes.', syntax, word);
}

function explicitPlanCode(value: string): PlanCode {
	const found = PLAN_CODES.find((planCode) => planCode === value);
	if (!found) throw usage('bad-plan-code', 'Unknown plan-code.', PLAN_CODES.join(', '), value);
	return found;
}

/**
 * A verify command is one line that splits into words without a shell.
 * @throws CccError (exit 2) saying what was found
 */
export function checkVerify(command: string): string {
	const line = command.trim();
	splitCommand(line);
	return line;
}

/** Protocol, Plan-code selection precedence. An invalid CCC_PLAN_CODE counts as absent. */
export function selectPlanCode(
	explicit: PlanCode | undefined,
	fromEnvironment: string | undefined,
): { planCode: PlanCode; source: 'explicit' | 'env' | 'default' } {
	if (explicit) return { planCode: explicit, source: 'explicit' };
	const environment = PLAN_CODES.find((planCode) => planCode === fromEnvironment);
	return environment ? { planCode: environment, source: 'env' } : { planCode: 'claude-codex', source: 'default' };
}

/** So that a forgotten folder or task is noticed instead of taking the next option for it. */
const looksLikeOption = (word: string): boolean =>
	isMode(word) || parseRounds(word) !== undefined || /^(plan-code|verify)=/.test(word);

function takeFolder(word: string | undefined, syntax: string): string {
	if (!word || looksLikeOption(word)) {
		throw usage('missing-argument', 'The output folder is missing.', syntax, word ?? '(nothing)');
	}
	// A line break in it would break the closing lines, and terminals obey the others.
	if (/[\u0000-\u001f\u007f-\u009f]/.test(word)) {
		throw usage('bad-folder', 'The name of the output folder holds a control character.', syntax, JSON.stringify(word));
	}
	return word;
}

function takeText(word: string | undefined, name: string, syntax: string): string {
	if (word === undefined || looksLikeOption(word)) {
		throw usage('missing-argument', `The ${name} is missing.`, syntax, word ?? '(nothing)');
	}
	if (word.trim() === '') throw usage('empty-argument', `The ${name} is empty.`, syntax, '""');
	return word;
}

function usage(code: string, message: string, expected: string, found: string): CccError {
	return new CccError(code, message, { expected, found, exitCode: EXIT.usage });
}

/** For help texts. */
export const RUN_SYNTAX: readonly string[] = Object.values(SYNTAX);
export const MODE_WORDS: string = MODES.join('|');
