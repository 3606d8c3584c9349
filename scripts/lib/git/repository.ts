/** Where a repository is and how git is called in it. */
import { access, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { readIfExists } from '../kit/atomic-file.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { gitEnvironment, SAFE_CONFIG, userConfigEnvironment } from './environment.ts';
import { type GitAnswer, runGit } from './git.ts';
import { filePath } from './paths.ts';

export interface Repository {
	/** Absolute real path of the top of the work tree. */
	readonly root: string;
	/** Id of the empty tree in this repository's own hash. */
	readonly emptyTree: string;
	/** `-c` pairs for every call: what no configuration may change, and the user's `safe.directory` values. */
	readonly safeConfig: readonly string[];
	/** The git folder of this work tree (index, HEAD), and the one it shares with others (objects, branches). */
	readonly gitFolder: string;
	readonly commonFolder: string;
	readonly objectFormat: 'sha1' | 'sha256';
	/** The cleaned environment of git children. */
	readonly environment: NodeJS.ProcessEnv;
	/** Where temporary folders are made, the first that can be written; absolute. */
	readonly temporaryFolders: readonly string[];
	/** Where they are made when none of these can: `folder` need not exist, and must lead to a place within `within`. */
	readonly scratch: { readonly folder: string; readonly within: string } | undefined;
}

/** What HEAD says: the commit (undefined while unborn) and the branch (undefined when detached). */
export interface Head {
	readonly commit: string | undefined;
	readonly ref: string | undefined;
}

type Access = Pick<Repository, 'environment' | 'safeConfig' | 'temporaryFolders' | 'scratch'>;

/**
 * Finds the repository of a folder (any folder of its work tree).
 * @param options.scratch absolute folder inside the repository that the caller may write to; it need not exist. Throw-away
 *   git folders go there (to the nearest folder above it that exists) when no temporary folder can be written. One
 *   that turns out to lie outside the repository is never used.
 * Errors (CccError): `not-a-repository`, `git-missing`, `bare-repository`, `repository-not-trusted`, `git-failed`.
 */
export async function openRepository(
	folder: string,
	options: { env: NodeJS.ProcessEnv; scratch?: string },
): Promise<Repository> {
	const { env, scratch } = options;
	const safeConfig = [...SAFE_CONFIG, ...(await readSafeDirectories(env))];
	const candidates = [env.TMPDIR, os.tmpdir(), '/tmp', '/var/tmp', '/dev/shm'];
	const repository = await locate(path.resolve(folder), {
		environment: gitEnvironment(env),
		safeConfig,
		temporaryFolders: [...new Set(candidates)].filter((one) => one !== undefined).filter(path.isAbsolute),
		scratch: undefined,
	});
	return scratch === undefined ? repository : { ...repository, scratch: { folder: scratch, within: repository.root } };
}

/**
 * The repository at `inside` (a submodule or a nested repository of `outer`), or undefined when that folder has no
 * repository of its own. Who owns it does not matter: nothing of its configuration is ever used.
 */
export async function openInner(outer: Repository, inside: string): Promise<Repository | undefined> {
	const folder = filePath(outer.root, inside);
	// An argument of git and Node's cwd are text: a folder whose name is not cannot be entered.
	if (typeof folder !== 'string') return undefined;
	if (!(await exists(path.join(folder, '.git')))) return undefined;
	const real = await realpath(folder);
	if (real !== folder) return undefined;
	const safeConfig = [...outer.safeConfig, '-c', 'safe.directory=*'];
	const { environment, temporaryFolders, scratch } = outer;
	const inner = await locate(folder, { environment, safeConfig, temporaryFolders, scratch }, outer);
	return inner.root === real ? inner : undefined;
}

/** The commit HEAD stands at, or undefined while the repository has none (protocol, Git Baseline). */
export async function readHead(repository: Repository): Promise<string | undefined> {
	return (await readHeadState(repository)).commit;
}

/** HEAD with its branch. Throws `git-failed` where HEAD names a branch that exists and cannot be read. */
export async function readHeadState(repository: Repository): Promise<Head> {
	const [commit, ref] = await Promise.all([
		callGit(repository, ['rev-parse', '--verify', '--quiet', 'HEAD'], [0, 1]),
		readHeadRef(repository),
	]);
	if (commit.exitCode === 0) return { commit: firstLine(commit), ref };
	const file = ref === undefined ? path.join(repository.gitFolder, 'HEAD') : path.join(repository.commonFolder, ref);
	if (await exists(file)) {
		throw new CccError('git-failed', 'HEAD of this repository cannot be read.', {
			at: file,
			expected: 'the id of a commit',
			next: 'git fsck names what is broken; restore the branch',
			exitCode: EXIT.blocked,
		});
	}
	return { commit: undefined, ref };
}

/** The branch HEAD is on, from its file where that tells it: a process less for every look at a repository. */
async function readHeadRef(repository: Repository): Promise<string | undefined> {
	const text = await readIfExists(path.join(repository.gitFolder, 'HEAD'));
	const ref = /^ref: (refs\/\S+)\n$/.exec(text?.toString('utf8') ?? '')?.[1];
	// Where branches are kept in one table, the file names a branch that no repository can have.
	if (ref !== undefined && ref !== 'refs/heads/.invalid') return ref;
	const answer = await callGit(repository, ['symbolic-ref', '--quiet', 'HEAD'], [0, 1]);
	return answer.exitCode === 0 ? firstLine(answer) : undefined;
}

async function exists(file: string): Promise<boolean> {
	return access(file).then(
		() => true,
		() => false,
	);
}

/** Runs git on the repository as it is, with its own configuration read: only for commands that can run nothing. */
export async function callGit(
	repository: Repository,
	args: readonly string[],
	answers: readonly number[] = [0],
): Promise<GitAnswer> {
	return runGit(args, {
		cwd: repository.root,
		env: { ...repository.environment, GIT_DIR: repository.gitFolder, GIT_WORK_TREE: repository.root },
		config: repository.safeConfig,
		answers,
	});
}

const WHERE = ['--show-toplevel', '--absolute-git-dir', '--path-format=absolute', '--git-common-dir'];

/** @param outer a repository whose empty tree is known */
async function locate(folder: string, access: Access, outer?: Repository): Promise<Repository> {
	const ask = async (args: readonly string[], input?: Uint8Array): Promise<string> => {
		const call = { cwd: folder, env: access.environment, config: access.safeConfig };
		return firstLine(await runGit(args, input === undefined ? call : { ...call, input }));
	};
	const answer = await ask(['rev-parse', '--show-object-format', ...WHERE]).catch(async (error: unknown) => {
		if (!(error instanceof CccError) || error.code !== 'no-work-tree') throw error;
		throw noWorkTree(folder, (await ask(['rev-parse', '--is-bare-repository'])) === 'true');
	});
	const [format, root = '', gitFolder = '', commonFolder = '', ...more] = answer.split('\n');
	if (more.length > 0) {
		throw new CccError('not-a-repository', 'The path of this git repository holds a line break.', {
			at: folder,
			expected: 'a path of one line',
			next: 'rename the folder',
		});
	}
	const objectFormat = format === 'sha256' ? 'sha256' : 'sha1';
	const emptyTree =
		outer?.objectFormat === objectFormat
			? outer.emptyTree
			: await ask(['hash-object', '-t', 'tree', '--stdin'], Buffer.alloc(0));
	return { root: await realpath(root), emptyTree, gitFolder, commonFolder, objectFormat, ...access };
}

function noWorkTree(folder: string, isBare: boolean): CccError {
	if (isBare) {
		return new CccError('bare-repository', 'This git repository is bare: it has no files to work on.', {
			at: folder,
			next: 'git clone it, or add a work tree with git worktree add, and run there',
		});
	}
	return new CccError('not-a-repository', "This folder is inside a git repository's own .git folder.", {
		at: folder,
		expected: 'a folder of the work tree',
		next: 'cd to the work tree of the repository',
	});
}

/** The user's `safe.directory` values as `-c` pairs. A repository's own value never counts, as for git itself. */
async function readSafeDirectories(env: NodeJS.ProcessEnv): Promise<string[]> {
	const answer = await runGit(['config', '--null', '--show-scope', '--get-all', 'safe.directory'], {
		cwd: path.parse(process.execPath).root,
		env: userConfigEnvironment(env),
		config: [],
		// 1: none is set; 3, 128: the user's configuration is broken, and then declares nothing safe.
		answers: [0, 1, 3, 128],
	});
	if (answer.exitCode !== 0) return [];
	const fields = answer.stdout.toString('utf8').split('\0');
	const pairs: string[] = [];
	for (let index = 0; index + 1 < fields.length; index += 2) {
		if (['system', 'global', 'command'].includes(fields[index] ?? '')) {
			pairs.push('-c', `safe.directory=${fields[index + 1] ?? ''}`);
		}
	}
	return pairs;
}

function firstLine(answer: GitAnswer): string {
	return answer.stdout.toString('utf8').replace(/\n$/, '');
}
