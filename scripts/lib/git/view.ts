/**
 * A view: a throw-away git folder beside the real one, through which git sees the objects, the index and HEAD of a
 * repository and nothing else of it. So no filter, textconv, diff program, hook or file monitor of the repository's
 * configuration can run, whatever it is called and whenever it was added; replace refs do not count; and what git
 * refreshes is a copy, never the user's `.git`.
 */
import { copyFile, mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CccError, EXIT, systemCode } from '../kit/errors.ts';
import { type GitAnswer, runGit } from './git.ts';
import { callGit, type Head, type Repository, readHeadState } from './repository.ts';
import { makeScratchFolder } from './scratch-folder.ts';

export interface View {
	readonly repository: Repository;
	readonly head: Head;
	/** Its throw-away git folder: what is put there goes with the view. */
	readonly folder: string;
	/** Runs git and returns its stdout. */
	run(args: readonly string[], options?: ViewCall): Promise<Buffer>;
	/** The same where other exit codes are answers too. */
	ask(args: readonly string[], answers: readonly number[], options?: ViewCall): Promise<GitAnswer>;
	/** Makes a second index, empty or a copy of the first, and returns its name for `ViewCall.index`. */
	addIndex(from: 'empty' | 'copy'): Promise<string>;
}

interface ViewCall {
	readonly input?: Uint8Array;
	readonly index?: string;
	/** Another folder to take for the work tree, absolute. */
	readonly workTree?: string;
}

/**
 * Makes a view of the repository as it is now, hands it to `work`, and removes it.
 * Errors (CccError): those of `runGit`, and `no-temporary-folder`.
 */
export async function withView<T>(repository: Repository, work: (view: View) => Promise<T>): Promise<T> {
	const [head, settings] = await Promise.all([readHeadState(repository), keptSettings(repository)]);
	const folder = await makeScratchFolder(repository);
	try {
		await fillScratchFolder(repository, head, settings, folder);
		return await work(viewOf(repository, head, folder));
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

function viewOf(repository: Repository, head: Head, folder: string): View {
	let extraIndexes = 0;
	const ask: View['ask'] = (args, answers, options = {}) =>
		runGit(args, {
			cwd: options.workTree ?? repository.root,
			env: {
				...repository.environment,
				GIT_DIR: folder,
				GIT_WORK_TREE: options.workTree ?? repository.root,
				GIT_OBJECT_DIRECTORY: path.join(repository.commonFolder, 'objects'),
				GIT_INDEX_FILE: path.join(folder, options.index ?? 'index'),
			},
			config: repository.safeConfig,
			answers,
			indexFile: path.join(repository.gitFolder, 'index'),
			...(options.input === undefined ? {} : { input: options.input }),
		});
	return {
		repository,
		head,
		folder,
		ask,
		run: async (args, options) => (await ask(args, [0], options)).stdout,
		addIndex: async (from) => {
			extraIndexes += 1;
			const name = `index-${extraIndexes}`;
			if (from === 'copy') await copyIndex(path.join(folder, 'index'), path.join(folder, name));
			return name;
		},
	};
}

async function fillScratchFolder(repository: Repository, head: Head, settings: string, folder: string): Promise<void> {
	await Promise.all(['info', 'objects', 'refs'].map((name) => mkdir(path.join(folder, name))));
	await Promise.all([
		writeFile(path.join(folder, 'HEAD'), `${head.commit ?? 'ref: refs/heads/unborn'}\n`),
		writeFile(path.join(folder, 'config'), settings),
		// Highest precedence of all attributes: a file may not call itself binary, or name a driver, to hide its text.
		writeFile(path.join(folder, 'info', 'attributes'), '* !diff\n'),
		copyIfExists(path.join(repository.commonFolder, 'info', 'exclude'), path.join(folder, 'info', 'exclude')),
		copyIfExists(path.join(repository.commonFolder, 'shallow'), path.join(folder, 'shallow')),
		copyIndex(path.join(repository.gitFolder, 'index'), path.join(folder, 'index')),
		copySharedIndexes(repository.gitFolder, folder),
	]);
}

/** Settings that say how this file system and its line ends are to be read; they can run nothing and hide no text. */
const KEPT = [
	'core.filemode',
	'core.symlinks',
	'core.ignorecase',
	'core.precomposeunicode',
	'core.autocrlf',
	'core.eol',
];
const KEPT_VALUE = /^(?:true|false|yes|no|on|off|1|0|input|lf|crlf|native)$/i;

async function keptSettings(repository: Repository): Promise<string> {
	const listed = (await callGit(repository, ['config', '--null', '--list'])).stdout.toString('utf8').split('\0');
	const values = new Map<string, string>();
	for (const entry of listed) {
		const end = entry.indexOf('\n');
		const name = end === -1 ? entry : entry.slice(0, end);
		const value = end === -1 ? 'true' : entry.slice(end + 1);
		if (KEPT.includes(name) && KEPT_VALUE.test(value)) values.set(name.slice('core.'.length), value);
	}
	const isSha256 = repository.objectFormat === 'sha256';
	return [
		'[core]',
		`\trepositoryformatversion = ${isSha256 ? 1 : 0}`,
		...Array.from(values, ([name, value]) => `\t${name} = ${value}`),
		...(isSha256 ? ['[extensions]', '\tobjectformat = sha256'] : []),
		'',
	].join('\n');
}

/**
 * An index says which files were clean when it was written, and trusts only files older than itself. A copy is
 * younger, so it gets the time of the original, rounded down: at worst a clean file is read once more.
 */
async function copyIndex(from: string, to: string): Promise<void> {
	if (!(await copyIfExists(from, to))) return;
	const written = Math.floor((await stat(from)).mtimeMs / 1000);
	await utimes(to, written, written);
}

async function copySharedIndexes(gitFolder: string, folder: string): Promise<void> {
	const names = (await readdir(gitFolder)).filter((name) => name.startsWith('sharedindex.'));
	await Promise.all(names.map((name) => copyIfExists(path.join(gitFolder, name), path.join(folder, name))));
}

async function copyIfExists(from: string, to: string): Promise<boolean> {
	try {
		await copyFile(from, to);
		return true;
	} catch (error) {
		if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return false;
		throw new CccError('unreadable-file', "A file of this repository's git folder cannot be read.", {
			at: from,
			found: systemCode(error) ?? String(error),
			next: 'make it readable',
			exitCode: EXIT.blocked,
			cause: error,
		});
	}
}
