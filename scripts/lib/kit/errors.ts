/**
 * The one error family of the pack. Whatever a user, a model, a repository or a remote caller did wrong
 * becomes a `CccError`; anything else that reaches a command is an internal error (exit 70).
 */

/** Exit codes of every command, as the README documents them. */
export const EXIT = {
	ok: 0,
	invalid: 1,
	usage: 2,
	blocked: 3,
	otherCoordinator: 4,
	companion: 5,
	internal: 70,
	interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What an error can say beside its message. Each part is optional, but `code` and `message` never are. */
export interface ErrorFacts {
	/** Path of the file or name of the field at fault. */
	readonly at?: string;
	/** 1-based line in that file. */
	readonly line?: number;
	readonly expected?: string;
	readonly found?: string;
	/** What the user can do next, as a sentence or a command line. */
	readonly next?: string;
	readonly exitCode?: ExitCode;
	readonly cause?: unknown;
}

/**
 * @param code stable, kebab-case, for programs
 * @param message one sentence for people, without the facts that have a field of their own
 */
export class CccError extends Error {
	override readonly name = 'CccError';
	readonly code: string;
	readonly facts: ErrorFacts;

	constructor(code: string, message: string, facts: ErrorFacts = {}) {
		super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
		this.code = code;
		this.facts = facts;
	}

	get exitCode(): ExitCode {
		return this.facts.exitCode ?? EXIT.invalid;
	}
}

/** The text a person reads for an error: place, message, expected and found, next step. At most four lines. */
export function describeError(error: CccError): string {
	const { at, line, expected, found, next } = error.facts;
	const place = at === undefined ? '' : `${at}${line === undefined ? '' : `:${line}`}: `;
	const lines = [`${place}${error.message} [${error.code}]`];
	if (expected !== undefined) lines.push(`  expected: ${expected}`);
	if (found !== undefined) lines.push(`  found: ${found}`);
	if (next !== undefined) lines.push(`  next: ${next}`);
	return lines.join('\n');
}

/** The `code` of a Node system error (`ENOENT`), or undefined for anything else. */
export function systemCode(error: unknown): string | undefined {
	return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
