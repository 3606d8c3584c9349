/** Where a run is: its folder, the repository around it, and the rules for both (protocol: Output Folder). */
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { openRepository, type Repository } from '../git/repository.ts';
import { CccError, EXIT, systemCode } from '../kit/errors.ts';
import { quoteWord } from '../kit/words.ts';
import { findInnerFile } from './inner-file.ts';

export interface RunPlace {
	/** Absolute, links resolved. */
	readonly folder: string;
	/** As the user wrote it, for messages and the closing lines. */
	readonly shown: string;
	readonly repository: Repository;
	/** The folder relative to the repository root, with forward slashes. */
	readonly relative: string;
}

/** Folders that belong to git or to the agents: Codex cannot write there, and git must not be written to. */
const RESERVED = ['.git', '.codex', '.agents'];

/**
 * Where a new run would go. Creates nothing.
 * @param shown the output folder as given, relative to `cwd` or absolute
 * @throws CccError `not-a-repository`, `folder-outside-repository`, `folder-is-repository`, `reserved-folder`,
 *   `bad-folder` (exit 2)
 */
export async function placeNewRun(shown: string, cwd: string, env: NodeJS.ProcessEnv): Promise<RunPlace> {
	const repository = await openRepository(cwd, { env, scratch: scratchOf(path.resolve(cwd, shown)) });
	const folder = await resolveExisting(path.resolve(cwd, shown));
	const found = place(folder, shown, repository);
	await refuseInnerRepository(found);
	return found;
}

/** Resuming would find the repository the folder is in, so the run must start in that one. */
async function refuseInnerRepository({ shown, relative, repository }: RunPlace): Promise<void> {
	const parts = relative.split('/');
	for (let count = parts.length; count > 0; count--) {
		const inner = path.join(repository.root, ...parts.slice(0, count));
		if (!(await lstat(path.join(inner, '.git')).catch(() => undefined))) continue;
		throw new CccError('folder-outside-repository', 'The output folder is inside another repository.', {
			at: shown,
			expected: `a folder of the repository ${repository.root}`,
			found: `the repository ${inner}`,
			next: `to change that one, start the run in it: cd ${quoteWord(inner)}`,
			exitCode: EXIT.usage,
		});
	}
}

/**
 * An existing run, wherever the command was started.
 * @throws CccError `not-a-run` when there is no run.md, and the errors of `placeNewRun`
 */
export async function openRun(shown: string, cwd: string, env: NodeJS.ProcessEnv): Promise<RunPlace> {
	const folder = await existingRunFolder(shown, cwd);
	const repository = await openRepository(folder, { env, scratch: scratchOf(folder) });
	return place(folder, shown, repository);
}

/** What git may write of a run when no temporary folder can be written: a place that no other run looks at either. */
const scratchOf = (folder: string): string => path.join(folder, 'state');

/** The absolute path of an existing run folder; needs no git. @throws CccError `not-a-run` */
export async function existingRunFolder(shown: string, cwd: string): Promise<string> {
	const folder = await resolveExisting(path.resolve(cwd, shown));
	// Whether it can be read is for whoever reads it to say.
	if ((await findInnerFile(folder, 'run.md')) === 'missing') {
		throw new CccError('not-a-run', 'There is no run here.', {
			at: shown,
			expected: 'a folder with a run.md file',
			next: 'name the output folder of a run; `ccc list` shows those of this repository',
			exitCode: EXIT.usage,
		});
	}
	return folder;
}

function place(folder: string, shown: string, repository: Repository): RunPlace {
	const relative = path.relative(repository.root, folder).split(path.sep).join('/');
	const refuse = (code: string, message: string, expected: string): never => {
		throw new CccError(code, message, { at: shown, expected, exitCode: EXIT.usage });
	};
	if (relative === '') {
		refuse(
			'folder-is-repository',
			'The output folder is the repository itself.',
			'a folder of its own, such as .ccc/runs/<name>',
		);
	}
	if (relative === '..' || relative.startsWith('../') || path.isAbsolute(relative)) {
		refuse(
			'folder-outside-repository',
			'The output folder is outside the repository.',
			`a folder below ${repository.root}`,
		);
	}
	const reserved = relative.split('/').find((part) => RESERVED.includes(part.toLowerCase()));
	if (reserved !== undefined) {
		refuse(
			'reserved-folder',
			`The output folder is inside ${reserved}.`,
			'a folder that is not below .git, .codex or .agents',
		);
	}
	return { folder, shown, repository, relative };
}

/** Resolves links in the part of the path that exists; the rest is appended as it is. */
async function resolveExisting(target: string): Promise<string> {
	try {
		return await realpath(target);
	} catch (error) {
		const parent = path.dirname(target);
		const isLink = (await lstat(target).catch(() => undefined))?.isSymbolicLink() ?? false;
		if (!['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '') || parent === target || isLink) {
			throw new CccError('bad-folder', 'The output folder cannot be reached.', {
				at: target,
				found: isLink ? 'a link that leads nowhere' : (systemCode(error) ?? 'an unknown error'),
				exitCode: EXIT.usage,
			});
		}
		return path.join(await resolveExisting(parent), path.basename(target));
	}
}
