import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { confirmDriver, readDriver, settleTakeover, takeOver, writeDriver } from '../../scripts/lib/run/driver.ts';
import { rejectionOf } from '../support/ccc-error.ts';
import { tempFolder } from '../support/temp-folder.ts';

const since = '2026-01-02T03:04:05.000Z';

async function runFolder(): Promise<string> {
	const folder = await tempFolder();
	mkdirSync(path.join(folder, 'state'));
	return folder;
}

describe('the driver of a run', () => {
	it('is the session that said so, and no other', async () => {
		const folder = await runFolder();
		const driver = { session: 'claude', sessionId: 'claude:1', mode: 'auto', since } as const;
		await writeDriver(folder, driver);
		expect(await confirmDriver(folder, 'claude:1')).toMatchObject(driver);
		for (const other of [undefined, 'claude:2', 'codex:1', 'claude:1+codex:1']) {
			const { code, exitCode } = await rejectionOf(confirmDriver(folder, other));
			expect({ code, exitCode }).toEqual({ code: 'other-coordinator', exitCode: 4 });
		}
	});

	it('is nobody for whom there is no record, a broken one, one of another version, or a headless run', async () => {
		const folder = await runFolder();
		expect((await rejectionOf(confirmDriver(folder, undefined))).code).toBe('other-coordinator');
		for (const text of ['', '{', '{"version":2,"session":"claude","mode":"auto","since":""}', 'null']) {
			writeFileSync(path.join(folder, 'state', 'driver.json'), text);
			expect(await readDriver(folder)).toBeUndefined();
			expect((await rejectionOf(confirmDriver(folder, undefined))).code).toBe('other-coordinator');
		}
		await writeDriver(folder, { session: 'headless', mode: 'auto', since });
		expect((await rejectionOf(confirmDriver(folder, undefined))).facts.found).toContain('ccc run');
	});

	it('is taken over at once, without making the mode laxer', async () => {
		const folder = await runFolder();
		const first = { session: 'claude', sessionId: 'claude:1', mode: 'manual', approved: 'plan_v0', since } as const;
		await writeDriver(folder, first);
		await takeOver(folder, { session: 'codex', sessionId: 'codex:1', mode: 'auto', since });
		expect(await confirmDriver(folder, 'codex:1')).toMatchObject({ session: 'codex', mode: 'manual' });
		for (const other of ['claude:1', 'codex:2', undefined]) {
			expect((await rejectionOf(confirmDriver(folder, other))).code).toBe('other-coordinator');
		}
		await settleTakeover(folder, await confirmDriver(folder, 'codex:1'));
		expect((await rejectionOf(confirmDriver(folder, 'claude:1'))).code).toBe('other-coordinator');
		expect(await readDriver(folder)).toMatchObject({ session: 'codex', mode: 'manual' });
	});

	it('cannot be given another role by a takeover in its own name', async () => {
		const folder = await runFolder();
		const first = { session: 'claude', sessionId: 'claude:1', mode: 'normal', since } as const;
		await writeDriver(folder, first);
		await takeOver(folder, { session: 'codex', sessionId: 'claude:1', mode: 'normal', since });
		expect(await confirmDriver(folder, 'claude:1')).toMatchObject(first);
	});
});
