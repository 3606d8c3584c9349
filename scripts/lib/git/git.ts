/** The one caller of git: argument arrays, a deadline, bounded output, and errors that say what happened. */
import { stat } from 'node:fs/promises';
import { execa } from 'execa';
import { CccError, EXIT } from '../kit/errors.ts';
import { gitFailure } from './git-failure.ts';

const DEADLINE_MS = 120_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export interface GitCall {
	readonly cwd: string;
	/** The whole environment; nothing is inherited. */
	readonly env: NodeJS.ProcessEnv;
	/** `-c` pairs. */
	readonly config: readonly string[];
	/** Bytes for stdin; without them stdin is closed. */
	readonly input?: Uint8Array;
	/** Exit codes that are answers, not failures. Default: 0 only. */
	readonly answers?: readonly number[];
	/** The index file to name when git says that its index is damaged. */
	readonly indexFile?: string;
	readonly maxBytes?: number;
}

export interface GitAnswer {
	readonly exitCode: number;
	readonly stdout: Buffer;
}

/**
 * Runs git and returns its exit code and its exact stdout.
 * Errors (CccError): `git-missing`, `git-timeout`, `git-output-too-large`, `corrupt-index`, `missing-object`,
 * `unreadable-file`, `not-a-repository`, `no-work-tree`, `repository-not-trusted`, `git-failed`.
 */
export async function runGit(args: readonly string[], call: GitCall): Promise<GitAnswer> {
	const maxBytes = call.maxBytes ?? MAX_OUTPUT_BYTES;
	const command = `git ${args[0] ?? ''}`;
	const result = await execa('git', ['--no-optional-locks', '--no-pager', ...call.config, ...args], {
		cwd: call.cwd,
		env: call.env,
		extendEnv: false,
		encoding: 'buffer',
		stripFinalNewline: false,
		reject: false,
		timeout: DEADLINE_MS,
		maxBuffer: maxBytes,
		...(call.input === undefined ? { stdin: 'ignore' as const } : { input: call.input }),
	});
	if (result.isMaxBuffer) {
		throw new CccError('git-output-too-large', `${command} printed more than can be handled.`, {
			at: call.cwd,
			expected: `at most ${maxBytes} bytes`,
			next: 'narrow the change, or keep large generated files out of the repository with .gitignore',
			exitCode: EXIT.blocked,
		});
	}
	if (result.timedOut) {
		throw new CccError('git-timeout', `${command} did not end in time.`, {
			at: call.cwd,
			expected: `an answer within ${DEADLINE_MS / 1000} s`,
			next: 'see whether the file system answers, then try again',
			exitCode: EXIT.blocked,
		});
	}
	if (result.exitCode === undefined) throw await notStarted(call.cwd, result.code, result.cause);
	if (!(call.answers ?? [0]).includes(result.exitCode)) {
		const complaint = Buffer.from(result.stderr).toString('utf8');
		throw gitFailure(command, result.exitCode, complaint, call);
	}
	return { exitCode: result.exitCode, stdout: Buffer.from(result.stdout) };
}

async function notStarted(cwd: string, code: string | undefined, cause: unknown): Promise<CccError> {
	const isFolder = await stat(cwd).then(
		(stats) => stats.isDirectory(),
		() => false,
	);
	if (!isFolder) {
		return new CccError('not-a-repository', 'This is not a folder of a git repository.', {
			at: cwd,
			found: 'no such folder',
			next: 'run it from a folder of a git repository',
		});
	}
	if (code === 'ENOENT') {
		return new CccError('git-missing', 'The command git was not found.', {
			expected: 'git on PATH',
			next: 'install git, or add its folder to PATH',
		});
	}
	return new CccError('git-failed', 'git could not be started.', { at: cwd, found: code ?? String(cause), cause });
}
