import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CallEnding, classify, type OutcomeKind } from '../../scripts/lib/agents/outcome.ts';

const ok: CallEnding = {
	exitCode: 0,
	signal: undefined,
	timedOut: false,
	cancelled: false,
	spawnError: undefined,
	stdout: '',
	stderr: '',
	stdoutBytes: 0,
	stderrBytes: 0,
	stdoutTruncated: false,
	stderrTruncated: false,
	durationMs: 5,
	leftovers: 0,
	bin: 'x',
	timeoutMs: 60_000,
	outputTruncated: false,
};

/** stdout of claude, exit code, outcome, words of the next step */
const CLAUDE: [string, number, OutcomeKind, RegExp][] = [
	['# Plan v0\n', 0, 'answered', /^$/],
	['', 0, 'empty', /without a final message/],
	[' \n', 0, 'empty', /resume/],
	['Execution error', 0, 'failed', /exit code 0/],
	['Unknown command: /nosuch', 0, 'failed', /exit code 0/],
	['API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}', 0, 'failed', /later/],
	['Not logged in · Please run /login', 0, 'not-logged-in', /\/login/],
	['Not logged in · Please run /login', 1, 'not-logged-in', /\/login/],
	['Failed to authenticate. API Error: 401 {}', 1, 'not-logged-in', /claude/],
	['Failed to authenticate. API Error: 403 {}', 1, 'not-logged-in', /claude/],
	['API Error: Request rejected (429) · x', 1, 'failed', /limit/],
	["You've hit your limit reached · resets 3pm", 1, 'failed', /limit/],
	['API Error: 500 Internal server error', 1, 'failed', /later/],
	["There's an issue with the selected model (x).", 1, 'failed', /CCC_CLAUDE_MODEL/],
	['API Error: Unable to connect to API (ConnectionRefused)', 1, 'failed', /network/],
	['API Error: Connection to the API was lost (ECONNRESET). This is usually temporary', 1, 'failed', /network/],
	['API Error: Unable to connect to API (EPERM)', 1, 'sandboxed', /outside/],
	['API Error: Unable to connect to API (FailedToOpenSocket)', 1, 'sandboxed', /outside/],
	['Error: piped stdin input exceeds 10MB', 1, 'failed', /too long/],
	['Something new', 1, 'failed', /exit code 1/],
];

/** stderr of codex, exit code, output file, outcome, words of the next step */
const CODEX: [string, number, string | undefined, OutcomeKind, RegExp][] = [
	['tokens used\n10\n', 0, 'READY: yes', 'answered', /^$/],
	['', 0, undefined, 'empty', /without a final message/],
	['', 0, '', 'empty', /without/],
	['', 0, '\n', 'empty', /without/],
	['ERROR: x', 1, 'half an answer', 'failed', /exit code 1/],
	['Not inside a trusted directory and --skip-git-repo-check was not specified.', 1, undefined, 'failed', /Git repo/],
	['ERROR: unexpected status 401 Unauthorized: no', 1, undefined, 'not-logged-in', /codex login/],
	['ERROR: Missing environment variable: `K`.', 1, undefined, 'not-logged-in', /key/],
	["ERROR: You've hit your usage limit. Visit https://x", 1, undefined, 'failed', /limit/],
	['ERROR: unexpected status 500', 1, undefined, 'failed', /later/],
	['ERROR: Operation not permitted (os error 1)', 1, undefined, 'sandboxed', /outside/],
	[
		'Error: failed to initialize in-process app-server client: Read-only file system (os error 30)',
		1,
		undefined,
		'sandboxed',
		/outside/,
	],
	['ERROR: stream disconnected before completion: error sending request', 1, undefined, 'failed', /network/],
	["error: unexpected argument '--x' found\n\n  tip: y", 2, undefined, 'failed', /CCC_CODEX_ARGS/],
	['ERROR: input_too_large', 1, undefined, 'failed', /too long/],
];

describe('classify', () => {
	it.each(CLAUDE)('claude said %j with exit code %s: %s', (stdout, exitCode, kind, next) => {
		const outcome = classify('claude', { ...ok, stdout, exitCode }, undefined);
		expect(outcome.kind).toBe(kind);
		expect(outcome.nextStep).toMatch(next);
		expect(outcome.answer).toBe(kind === 'answered' ? stdout : undefined);
	});

	it.each(CODEX)('codex said %j with exit code %s and wrote %j: %s', (stderr, exitCode, file, kind, next) => {
		const outcome = classify('codex', { ...ok, stderr, exitCode, stdout: 'READY: yes' }, file);
		expect(outcome.kind).toBe(kind);
		expect(outcome.nextStep).toMatch(next);
		expect(outcome.answer).toBe(kind === 'answered' ? file : undefined);
	});

	it.each([
		['ENOENT', 'unavailable', /Install codex, or set CCC_CODEX_BIN/],
		['EACCES', 'unavailable', /executable/],
		['E2BIG', 'failed', /smaller/],
		['ENOBUFS', 'failed', /system error/],
		['EPERM', 'sandboxed', /outside/],
	] as const)('a start that fails with %s is %s', (spawnError, kind, next) => {
		const outcome = classify('codex', { ...ok, exitCode: undefined, spawnError }, undefined);
		expect(outcome.kind).toBe(kind);
		expect(outcome.nextStep).toMatch(next);
		expect(outcome.lastWords).toContain(spawnError);
	});

	it('takes no transcript text for an error of the CLI', () => {
		const stderr = 'user\nnot logged in, usage limit, EPERM: Operation not permitted\ncodex\nERROR: something else\n';
		expect(classify('codex', { ...ok, exitCode: 1, stderr }, undefined).kind).toBe('failed');
	});

	it('shows what stdout held when the output file is empty', () => {
		expect(classify('codex', { ...ok, stdout: 'READY: yes' }, '')).toMatchObject({
			kind: 'empty',
			lastWords: 'READY: yes',
		});
	});

	it('keeps the tokens codex told, whatever the outcome', () => {
		expect(classify('codex', { ...ok, exitCode: 1, stderr: 'tokens used\n1,234\n' }, undefined).tokens).toBe(1234);
		expect(classify('claude', { ...ok, stdout: 'a', stderr: 'tokens used\n1,234\n' }, undefined)).not.toHaveProperty(
			'tokens',
		);
	});

	it('never takes a cut answer', () => {
		expect(classify('claude', { ...ok, stdout: 'a', stdoutTruncated: true }, undefined).kind).toBe('failed');
		expect(classify('codex', { ...ok, outputTruncated: true }, 'a').kind).toBe('failed');
		expect(classify('codex', { ...ok, stdoutTruncated: true, stderrTruncated: true }, 'a').kind).toBe('answered');
	});

	it('answers only after a clean end, and says what to do after any other', () => {
		const ending = fc.record({
			exitCode: fc.constantFrom(0, 1, 2, 143, undefined),
			signal: fc.constantFrom(undefined, 'SIGTERM'),
			timedOut: fc.boolean(),
			cancelled: fc.boolean(),
			spawnError: fc.constantFrom(undefined, 'ENOENT', 'EMFILE'),
			stdout: fc.string(),
			stderr: fc.string(),
		});
		fc.assert(
			fc.property(
				fc.constantFrom('claude' as const, 'codex' as const),
				ending,
				fc.option(fc.string()),
				(agent, part, file) => {
					const outcome = classify(agent, { ...ok, ...part }, file ?? undefined);
					const clean = part.exitCode === 0 && !part.timedOut && !part.cancelled && part.spawnError === undefined;
					if (outcome.kind === 'answered') {
						expect(clean).toBe(true);
						expect(outcome.answer).toBe(agent === 'codex' ? file : part.stdout);
					} else {
						expect(outcome.answer).toBeUndefined();
						expect(outcome.nextStep).not.toBe('');
					}
					if (part.timedOut && part.spawnError === undefined) expect(outcome.kind).toBe('timed-out');
				},
			),
		);
	});
});
