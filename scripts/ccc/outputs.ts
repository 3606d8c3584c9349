/** What each command prints with --json: one value, defined here; `npm run schemas` writes schemas/ from it. */
import { z } from 'zod';

const exitCode = z.number().int();

/** The protocol's three closing lines, as fields. */
const closing = {
	ccc_run: z.string(),
	stage_completed: z.string(),
	next_action: z.string(),
};

export const errorOutput = z.object({
	error: z.object({
		code: z.string(),
		message: z.string(),
		at: z.string().optional(),
		line: z.number().int().optional(),
		expected: z.string().optional(),
		found: z.string().optional(),
		next: z.string().optional(),
	}),
	exit_code: exitCode,
	/** Where the run stands, for workflow commands that got as far as a run. */
	...z.object(closing).partial().shape,
});

const workflow = z.object({
	...closing,
	status: z.enum(['active', 'complete', 'blocked', 'canceled']),
	exit_code: exitCode,
	waiting_for: z.enum(['approval', 'decision']).optional(),
	code: z.string().optional(),
	reason: z.string().optional(),
	next: z.string().optional(),
	warnings: z.array(z.string()),
});

const problem = z.object({
	file: z.string(),
	line: z.number().int(),
	column: z.number().int(),
	code: z.string(),
	found: z.string(),
	expected: z.string(),
	level: z.enum(['error', 'warning']),
});

const finding = z.object({ id: z.string(), severity: z.enum(['minor', 'major']), text: z.string() });

const status = z.object({
	...closing,
	status: z.enum(['active', 'complete', 'blocked', 'canceled']),
	exit_code: exitCode,
	reason: z.string().optional(),
	/** Errors that `ccc validate` finds. */
	problems: z.number().int(),
	plan_code: z.string(),
	rounds: z.object({ plan: z.number().int(), code: z.number().int() }),
	stages: z.array(
		z.object({
			stage: z.string(),
			owner: z.enum(['claude', 'codex']),
			state: z.enum(['done', 'running', 'next']),
			verdict: z.string().optional(),
			/** Milliseconds the companion worked. */
			duration_ms: z.number().optional(),
			/** Milliseconds since the companion's last output, while it runs. */
			idle_ms: z.number().optional(),
		}),
	),
	open_findings: z.array(finding),
	/** Whose session drives the run; absent for `ccc run`. */
	driver: z.enum(['claude', 'codex', 'unknown']).optional(),
	/** Whether a command works on the run right now. */
	coordinator: z.object({ purpose: z.string(), pid: z.number().int(), since: z.string() }).optional(),
});

const list = z.object({
	runs: z.array(
		z.object({
			folder: z.string(),
			status: z.string(),
			stage_completed: z.string(),
			next_action: z.string(),
			task: z.string(),
		}),
	),
	exit_code: exitCode,
});

const validate = z.object({
	runs: z.array(
		z.object({
			folder: z.string(),
			valid: z.boolean(),
			status: z.string().optional(),
			stages: z.array(z.string()),
			problems: z.array(problem),
		}),
	),
	exit_code: exitCode,
});

const checkAgent = z.object({
	agent: z.enum(['claude', 'codex']),
	ok: z.boolean(),
	bin: z.string(),
	version: z.string().optional(),
	missing_flags: z.array(z.string()),
	login: z.enum(['yes', 'no', 'unknown']),
	problem: z.string().optional(),
	next: z.string().optional(),
	exit_code: exitCode,
});

const packet = z.object({
	stage: z.string(),
	owner: z.enum(['claude', 'codex', 'user']),
	/** Absolute paths. */
	read: z.array(z.string()),
	write: z.string().optional(),
	headings: z.array(z.string()),
	answer: z.array(z.string()),
	/** One command line for a POSIX shell. */
	next: z.string().optional(),
	...closing,
	status: z.enum(['active', 'complete', 'blocked', 'canceled']),
	exit_code: exitCode,
	code: z.string().optional(),
	reason: z.string().optional(),
});

const stillRunning = z.object({
	still_running: z.literal(true),
	stage: z.string(),
	owner: z.string(),
	/** Milliseconds since the companion was set to work. */
	elapsed_ms: z.number(),
	exit_code: exitCode,
});

const render = z.object({
	/** Absolute path of the repository. */
	root: z.string(),
	/** Whether nothing is left to do. */
	up_to_date: z.boolean(),
	files: z.array(
		z.object({
			/** Path in the repository. */
			file: z.string(),
			/** Done, or with --check to be done. */
			action: z.enum(['none', 'create', 'add', 'update', 'remove', 'delete']),
			/** Of the block before. */
			line: z.number().int().optional(),
		}),
	),
	exit_code: exitCode,
});

/** By command; every one of them may print an `errorOutput` instead. */
export const outputs = {
	run: workflow,
	cancel: workflow,
	decide: z.union([workflow, packet]),
	begin: z.union([packet, workflow]),
	next: packet,
	submit: packet,
	call: z.union([packet, stillRunning]),
	repair: workflow,
	status,
	list,
	validate,
	diff: z.object({ ccc_run: z.string(), diff: z.string(), exit_code: exitCode }),
	render,
	'check-agent': checkAgent,
	'detect-session': z.object({ session: z.enum(['claude', 'codex', 'unknown']), exit_code: exitCode }),
} as const;

export type Output<Command extends keyof typeof outputs> = z.infer<(typeof outputs)[Command]>;
