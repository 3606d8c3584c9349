import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder (with a space and a letter beyond ASCII in its name) that is gone when the current test has ended. */
export async function tempFolder(): Promise<string> {
	const folder = await mkdtemp(path.join(tmpdir(), 'ccc test é '));
	onTestFinished(() => rm(folder, { recursive: true, force: true }));
	return folder;
}
