/** `state/aside/`: where files go that must not stay in their place but must not be lost either. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, readIfExists, renameSynced } from '../kit/atomic-file.ts';
import { draftPath, type Stage, stageName } from './stages.ts';

/** A new folder `state/aside/<name>.<n>`, absolute. */
export async function newAsideFolder(folder: string, name: string): Promise<string> {
	const parent = path.join(folder, 'state', 'aside');
	const used = await readdir(parent).catch(() => []);
	const aside = path.join(parent, `${name}.${used.length + 1}`);
	await makeFolder(aside);
	return aside;
}

/**
 * Keeps what a session wrote of a stage it will not submit. For before its attempt is marked as used up: a draft without
 * an attempt is swept away as a temporary file.
 */
export async function moveDraftAside(folder: string, stage: Stage): Promise<void> {
	const draft = path.join(folder, draftPath(stage));
	if ((await readIfExists(draft)) === undefined) return;
	await renameSynced(draft, path.join(await newAsideFolder(folder, stageName(stage)), path.basename(draft)));
}
