import { lstatSync } from 'node:fs';
import { systemCode } from '../kit/errors.ts';
import { filePath } from './paths.ts';
import { unreadable } from './unreadable.ts';

/**
 * A question that remembers its answers: is this path inside `root` a folder, reached through folders only? Behind a
 * symbolic link lies another place, which is not part of the work tree.
 */
export function realFolders(root: string): (folder: string) => boolean {
	const known = new Map([['', true]]);
	const ask = (folder: string): boolean => {
		const before = known.get(folder);
		if (before !== undefined) return before;
		const end = folder.lastIndexOf('/');
		const answer = ask(end === -1 ? '' : folder.slice(0, end)) && isFolder(root, folder);
		known.set(folder, answer);
		return answer;
	};
	return ask;
}

/** The folder a path lies in; '' is the root. */
export function folderOf(inside: string): string {
	const end = inside.lastIndexOf('/');
	return end === -1 ? '' : inside.slice(0, end);
}

function isFolder(root: string, folder: string): boolean {
	try {
		return lstatSync(filePath(root, folder), { throwIfNoEntry: false })?.isDirectory() ?? false;
	} catch (error) {
		if (systemCode(error) === 'ENOTDIR') return false;
		throw unreadable(folder, error);
	}
}
