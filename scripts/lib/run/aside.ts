/** `state/aside/`: where files go that must not stay in their place but must not be lost either. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../kit/atomic-file.ts';

/** A new folder `state/aside/<name>.<n>`, absolute. */
export async function newAsideFolder(folder: string, name: string): Promise<string> {
	const parent = path.join(folder, 'state', 'aside');
	const used = await readdir(parent).catch(() => []);
	const aside = path.join(parent, `${name}.${used.length + 1}`);
	await makeFolder(aside);
	return aside;
}
