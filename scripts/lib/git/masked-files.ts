/** Files that are there for the commands in a sandbox only. */
import { lstatSync } from 'node:fs';
import { devNull } from 'node:os';
import { filePath } from './paths.ts';

/**
 * Claude Code's sandbox mounts /dev/null over files that a command must not make, such as `.gitmodules`. Nobody else sees
 * them, and git lists them as files; the same work tree has to look the same inside and outside.
 * @param paths untracked files as git lists them
 */
export function findMasked(root: string, paths: readonly string[]): string[] {
	const nothing = lookAt(devNull);
	return paths.filter((path) => {
		const found = lookAt(filePath(root, path));
		// A device that somebody made here is another file, and a change.
		return found?.isCharacterDevice() === true && found.dev === nothing?.dev && found.ino === nothing.ino;
	});
}

function lookAt(file: string | Buffer) {
	try {
		return lstatSync(file);
	} catch {
		return undefined;
	}
}
