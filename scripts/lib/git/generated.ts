/** Files that are generated, though their name does not say so. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { saysGenerated } from './file-kinds.ts';
import { decodePath, filePath, joinPaths, splitFields } from './paths.ts';
import { folderOf, realFolders } from './real-folders.ts';
import type { View } from './view.ts';

const HEAD_BYTES = 1024;

/** Those of `paths` that carry the attribute `linguist-generated`, or a comment in their head that says so. */
export async function findGenerated(view: View, paths: readonly string[]): Promise<Set<string>> {
	const unique = [...new Set(paths)];
	if (unique.length === 0) return new Set();
	const input = joinPaths(unique);
	const fields = splitFields(await view.run(['check-attr', '-z', '--stdin', 'linguist-generated'], { input }));
	const generated = new Set<string>();
	for (let index = 0; index + 2 < fields.length; index += 3) {
		const value = fields[index + 2]?.toString('latin1') ?? '';
		if (['set', 'true'].includes(value)) generated.add(decodePath(fields[index] ?? Buffer.alloc(0)));
	}
	const isReal = realFolders(view.repository.root);
	for (const path of unique) {
		if (generated.has(path) || !isReal(folderOf(path))) continue;
		if (saysGenerated(await readHead(view.repository.root, path))) generated.add(path);
	}
	return generated;
}

async function readHead(root: string, path: string): Promise<string> {
	try {
		const handle = await open(filePath(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
		try {
			const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
			return buffer.toString('utf8', 0, bytesRead);
		} finally {
			await handle.close();
		}
	} catch {
		// Gone, a link, or not readable: then nothing says that it is generated, and it is shown whole.
		return '';
	}
}
