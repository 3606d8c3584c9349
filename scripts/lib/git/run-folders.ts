/** Run folders of other runs: they are records of reviews, not work to review. */
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import path from 'node:path';
import { filePath, isPlainText, isWithin } from './paths.ts';

/** What a run keeps in its folder. Anything else in such a folder is not a record, and so is work to review. */
const OWN_ENTRIES = ['run.md', 'task.md', '.gitignore', 'artifacts', 'state'];

/**
 * The own entries of every untracked folder that holds a `run.md` whose first line is `# CCC Run`, and a `state`
 * folder. A folder with a tracked file in it is part of the project, and never one of them.
 * @param untracked paths among which the `run.md` files are, ignored or not
 */
export async function findRunEntries(
	root: string,
	untracked: readonly string[],
	tracked: readonly { readonly path: string }[],
): Promise<string[]> {
	const candidates = untracked
		.filter((one) => one.endsWith('/run.md') && isPlainText(one))
		.map((one) => path.posix.dirname(one))
		.filter((folder) => !tracked.some((entry) => isWithin(entry.path, folder)));
	const checked = await Promise.all(
		candidates.map(async (folder) => ((await isRunFolder(root, folder)) ? folder : undefined)),
	);
	return checked
		.filter((folder) => folder !== undefined)
		.flatMap((folder) => OWN_ENTRIES.map((entry) => `${folder}/${entry}`));
}

async function isRunFolder(root: string, folder: string): Promise<boolean> {
	try {
		if (!(await lstat(filePath(root, `${folder}/state`))).isDirectory()) return false;
		return (await firstLine(path.join(root, folder, 'run.md'))) === '# CCC Run';
	} catch {
		// Not readable as a run folder: then it is reviewed like anything else.
		return false;
	}
}

async function firstLine(file: string): Promise<string> {
	const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
	try {
		const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
		const text = buffer.toString('utf8', 0, bytesRead).replace(/^\uFEFF/, '');
		return text.split(/\r?\n/, 1)[0] ?? '';
	} finally {
		await handle.close();
	}
}
