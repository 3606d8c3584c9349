/** How a companion call ended. Only `answered` carries an answer; everything else is a failure with a next step. */
import { z } from 'zod';
import { formatDuration } from '../kit/duration.ts';
import type { ProcessResult } from '../kit/run-process.ts';
import type { Agent } from './agent.ts';
import { readFailure, sandboxStep, variable } from './failure-signs.ts';
import { claudeError, codexError, codexTokens, lastWords } from './last-words.ts';

export const outcomeSchema = z.object({
	kind: z.enum(['answered', 'unavailable', 'not-logged-in', 'sandboxed', 'timed-out', 'failed', 'empty']),
	/** The agent's final message, as it was given. */
	answer: z.string().exactOptional(),
	/** The end of what the agent said, on one line, at most 600 characters, safe to print. */
	lastWords: z.string(),
	/** What the user can do; empty when answered. */
	nextStep: z.string(),
	/** Tokens used, where the CLI tells. */
	tokens: z.number().exactOptional(),
});
export type Outcome = z.infer<typeof outcomeSchema>;
export type OutcomeKind = Outcome['kind'];

/** What the supervisor adds to the result of the process. */
export interface CallEnding extends ProcessResult {
	/** The command that was started (argv[0]). */
	bin: string;
	/** The deadline it had, in milliseconds. */
	timeoutMs: number;
	/** Codex's output file is longer than what is kept. */
	outputTruncated: boolean;
}

/** The call was ended on request, by its supervisor or before there was one. */
export const STOPPED: Outcome = {
	kind: 'failed',
	lastWords: 'stopped',
	nextStep: 'The call was stopped on request: resume the run to try again.',
};

/** Beginnings of an "answer" with which Claude reports a failure, some of them with exit code 0. */
const CLAUDE_NO_ANSWER = /^(?:API Error:|Execution error\b|Not logged in\b|Unknown command:|Failed to authenticate\b)/;

/**
 * Decides what a finished call is worth. What we did ourselves (deadline, stop) counts before the exit code: Codex's
 * launcher exits with 0 on SIGTERM, Claude on SIGINT.
 * @param outputFile content of the file Codex was told to write its last message to, under a name no other attempt
 * used; undefined when it is absent. Codex's stdout never takes its place. Ignored for Claude, which answers on stdout
 */
export function classify(agent: Agent, result: CallEnding, outputFile: string | undefined): Outcome {
	const tokens = agent === 'codex' ? codexTokens(result.stderr) : undefined;
	return { ...decide(agent, result, outputFile), ...(tokens === undefined ? {} : { tokens }) };
}

function decide(agent: Agent, result: CallEnding, outputFile: string | undefined): Outcome {
	if (result.spawnError !== undefined) return notStarted(agent, result, result.spawnError);
	if (result.timedOut) {
		const deadline = formatDuration(result.timeoutMs);
		return failure(
			'timed-out',
			transcriptEnd(agent, result),
			`${agent} was stopped at its deadline of ${deadline}: ${LONGER}`,
		);
	}
	if (result.cancelled) return STOPPED;
	if (result.exitCode !== 0) return failed(agent, result);
	return agent === 'codex' ? codexAnswer(result, outputFile) : claudeAnswer(result);
}

const LONGER = 'raise CCC_AGENT_TIMEOUT_SECONDS or narrow the task, then resume.';

function notStarted(agent: Agent, result: CallEnding, code: string): Outcome {
	const said = `${JSON.stringify(result.bin)} could not be started: ${code}`;
	switch (code) {
		case 'ENOENT':
		case 'ENOTDIR':
			return failure('unavailable', said, `Install ${agent}, or set ${variable(agent, 'BIN')} to its absolute path.`);
		case 'EACCES':
		case 'ENOEXEC':
			return failure('unavailable', said, `Make ${variable(agent, 'BIN')} name an executable program.`);
		case 'EPERM':
			return failure('sandboxed', said, sandboxStep(agent));
		case 'E2BIG':
			return failure('failed', said, `The environment or ${variable(agent, 'ARGS')} is too large: make it smaller.`);
		default:
			return failure('failed', said, 'Look at the system error, then resume the run.');
	}
}

function failed(agent: Agent, result: CallEnding): Outcome {
	const error = agent === 'codex' ? codexError(result.stderr) : claudeError(result.stdout, result.stderr);
	const known = readFailure(agent, error);
	const ended = result.signal === undefined ? `exit code ${result.exitCode}` : `signal ${result.signal}`;
	return failure(
		known?.kind ?? 'failed',
		error.trim() === '' ? ended : error,
		known?.nextStep ??
			`${agent} ended with ${ended}: read the transcript beside the call's record, then resume the run.`,
	);
}

function claudeAnswer(result: CallEnding): Outcome {
	const said = result.stdout.trimStart();
	if (CLAUDE_NO_ANSWER.test(said)) return failed('claude', result);
	if (said === '') return empty('claude', result.stderr);
	return result.stdoutTruncated ? tooLarge('claude', result.stdout) : answered(result.stdout);
}

function codexAnswer(result: CallEnding, outputFile: string | undefined): Outcome {
	if (outputFile === undefined || outputFile.trim() === '') {
		return empty('codex', result.stdout.trim() === '' ? codexError(result.stderr) : result.stdout);
	}
	return result.outputTruncated ? tooLarge('codex', outputFile) : answered(outputFile);
}

const answered = (answer: string): Outcome => ({
	kind: 'answered',
	answer,
	lastWords: lastWords(answer),
	nextStep: '',
});

const empty = (agent: Agent, said: string): Outcome =>
	failure('empty', said, `${agent} ended without a final message: resume the run to ask it again.`);

const tooLarge = (agent: Agent, said: string): Outcome =>
	failure('failed', said, `The answer of ${agent} is too large to be kept whole: narrow the task, then resume.`);

/** What there is to show of a run that was cut: Codex tells its progress on stderr, Claude mostly nothing. */
function transcriptEnd(agent: Agent, { stdout, stderr }: CallEnding): string {
	const [first, second] = agent === 'codex' ? [stderr, stdout] : [stdout, stderr];
	return first.trim() === '' ? second : first;
}

function failure(kind: OutcomeKind, said: string, nextStep: string): Outcome {
	return { kind, lastWords: lastWords(said), nextStep };
}
