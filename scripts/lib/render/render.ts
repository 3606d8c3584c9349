/** AGENTS.md and CLAUDE.md of a repository, with the managed block or without it. */
import { readInstructionFiles } from './instruction-files.ts';
import { type FileChange, planRemoval, planRender } from './plan.ts';
import { writeChanges } from './write-changes.ts';

/** `check` writes nothing. */
export type RenderMode = 'write' | 'check' | 'remove';

/**
 * All files are read and checked before one is written, so that a refusal leaves everything as it was.
 * @param root real path of the top of the work tree
 * @returns for each file that exists or shall exist what was done, or in `check` would be
 * @throws CccError as `readInstructionFiles`, `findBlock`, `putBlock` and `writeChanges`
 */
export async function render(root: string, mode: RenderMode): Promise<FileChange[]> {
	const files = await readInstructionFiles(root);
	const changes = mode === 'remove' ? planRemoval(files) : planRender(files);
	if (mode !== 'check') await writeChanges(root, changes);
	return changes.filter(({ file, action }) => action !== 'none' || file.bytes !== undefined);
}
