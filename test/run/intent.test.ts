import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { clearIntent, type Intent, readIntent, writeIntent } from '../../scripts/lib/run/intent.ts';
import { tempFolder } from '../support/temp-folder.ts';

const HASH = 'a'.repeat(64);
const INTENT: Intent = {
	version: 1,
	stage: 'plan_v0_review',
	artifactSha256: HASH,
	rawSha256: 'b'.repeat(64),
	evidence: { event: 'commit', stage: 'plan_v0_review', owner: 'codex' },
};

async function runFolder(text?: string): Promise<string> {
	const folder = await tempFolder();
	await mkdir(path.join(folder, 'state'));
	if (text !== undefined) await writeFile(path.join(folder, 'state', 'intent.json'), text);
	return folder;
}

describe('the intent of a commit', () => {
	it('comes back until it is cleared, and leaves nothing beside it', async () => {
		const folder = await runFolder();
		expect(await readIntent(folder)).toBeUndefined();
		await clearIntent(folder);
		await writeIntent(folder, INTENT);
		expect(await readIntent(folder)).toEqual(INTENT);
		const { rawSha256: _, ...work } = { ...INTENT, stage: 'code_v3' };
		await writeIntent(folder, work);
		expect(await readIntent(folder)).toEqual(work);
		expect(await readdir(path.join(folder, 'state'))).toEqual(['intent.json']);
		await clearIntent(folder);
		expect(await readdir(path.join(folder, 'state'))).toEqual([]);
	});

	it.each([
		...['', '{', 'null', '[]', '{}'],
		JSON.stringify({ ...INTENT, version: 2 }),
		JSON.stringify({ ...INTENT, stage: '../../etc' }),
		JSON.stringify({ ...INTENT, stage: 'plan_v00' }),
		JSON.stringify({ ...INTENT, artifactSha256: 'short' }),
		JSON.stringify({ ...INTENT, rawSha256: HASH.toUpperCase() }),
		JSON.stringify({ ...INTENT, evidence: null }),
		JSON.stringify(INTENT).slice(0, -20),
	])('says nothing when it is damaged: %s', async (text) => {
		expect(await readIntent(await runFolder(text))).toBeUndefined();
	});
});
