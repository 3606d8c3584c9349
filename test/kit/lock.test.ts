import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../scripts/lib/kit/atomic-file.ts';
import { CccError } from '../../scripts/lib/kit/errors.ts';
import { acquireLock, inspectLock } from '../../scripts/lib/kit/lock.ts';
import { ownIdentity, type ProcessIdentity } from '../../scripts/lib/kit/process-identity.ts';
import { tempFolder } from '../support/temp-folder.ts';

const purpose = 'testing';

/** A lock folder whose highest record is `content`, last touched `age` milliseconds ago. */
async function folderWith(content: string, age = 0, name = '4.json'): Promise<string> {
	const folder = path.join(await tempFolder(), 'lock');
	await makeFolder(folder);
	const touched = new Date(Date.now() - age);
	await writeFile(path.join(folder, name), content);
	await utimes(path.join(folder, name), touched, touched);
	return folder;
}

async function recordOf(owner: Partial<ProcessIdentity>): Promise<string> {
	const whole = { ...(await ownIdentity()), ...owner };
	return JSON.stringify({ token: 't', owner: whole, purpose: 'their work', acquiredAt: '2020-01-02T03:04:05.000Z' });
}

const DEAD = { startTime: '1' };
const FOREIGN = { pidNamespace: 'pid:[1]', pid: 12_345, host: 'elsewhere' };

describe('a lock', () => {
	it('is held from acquire to release, and leaves one record', async () => {
		const folder = path.join(await tempFolder(), 'new', 'lock');
		expect(await inspectLock(folder)).toBeUndefined();
		const lock = await acquireLock(folder, { purpose });
		await lock.assertHeld();
		expect(await inspectLock(folder)).toEqual({ record: lock.record, alive: true });
		expect(lock.record).toMatchObject({ purpose, owner: await ownIdentity() });
		expect(await readdir(folder)).toEqual(['1.json']);
		await Promise.all([lock.release(), lock.release()]);
		await lock.release();
		expect(await readdir(folder)).toEqual(['1.json']);
		expect(JSON.parse(await readFile(path.join(folder, '1.json'), 'utf8'))).toEqual({ released: true });
		expect(await inspectLock(folder)).toBeUndefined();
		await expect(lock.assertHeld()).rejects.toMatchObject({ code: 'lock-lost', exitCode: 4 });
		const next = await acquireLock(folder, { purpose });
		expect(await readdir(folder)).toEqual(['2.json']);
		await next.release();
	});

	it('is refused to a second caller of the same process, with who, since when and what next', async () => {
		const folder = await tempFolder();
		const lock = await acquireLock(folder, { purpose: 'ccc run' });
		const error = await acquireLock(folder, { purpose }).catch((thrown: unknown) => thrown);
		expect(error).toBeInstanceOf(CccError);
		const { owner, acquiredAt } = lock.record;
		expect(error).toMatchObject({ code: 'locked', exitCode: 4, facts: { at: folder } });
		const { found, next } = (error as CccError).facts;
		for (const part of ['ccc run', String(owner.pid), owner.host, acquiredAt]) expect(found).toContain(part);
		expect(next).toContain(String(owner.pid));
		await lock.assertHeld();
		expect(await readdir(folder)).toEqual(['1.json']);
		await lock.release();
	});

	it('is won by one of many callers of the same process', async () => {
		const folder = await tempFolder();
		const results = await Promise.allSettled(Array.from({ length: 30 }, () => acquireLock(folder, { purpose })));
		const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
		expect(won).toHaveLength(1);
		const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
		expect(new Set(refused)).toEqual(new Set(['locked']));
		expect((await readdir(folder)).filter((name) => !name.endsWith('.json'))).toEqual([]);
		await won[0]?.release();
	});

	it('shows a heartbeat', async () => {
		const folder = await tempFolder();
		const lock = await acquireLock(folder, { purpose, heartbeatMs: 30 });
		const file = path.join(folder, '1.json');
		await utimes(file, new Date(0), new Date(0));
		await expect.poll(async () => (await stat(file)).mtimeMs, { timeout: 5000 }).toBeGreaterThan(Date.now() - 5000);
		await lock.release();
	});
});

describe('the lock of another', () => {
	it.each([
		['dead owner', recordOf(DEAD), 0, false],
		['foreign owner with a fresh heartbeat', recordOf(FOREIGN), 20_000, true],
		['foreign owner with an old heartbeat', recordOf(FOREIGN), 40_000, false],
		['foreign owner with a heartbeat from the far future', recordOf(FOREIGN), -40_000, false],
		['owner of another boot with a fresh heartbeat', recordOf({ bootId: 'other' }), 0, true],
		['live owner with an old heartbeat', recordOf({}), 3_600_000, true],
		['record that is cut and young', Promise.resolve('{"token":"a'), 1000, true],
		['record that is cut and old', Promise.resolve('{"token":"a'), 6000, false],
		['empty record that is old', Promise.resolve(''), 6000, false],
		['record of another shape that is old', Promise.resolve('{"released":"no","owner":[]}'), 6000, false],
	])('by a %s', async (_what, content, age, alive) => {
		const folder = await folderWith(await content, age);
		expect((await inspectLock(folder))?.alive).toBe(alive);
		const attempt = acquireLock(folder, { purpose });
		if (alive) {
			await expect(attempt).rejects.toMatchObject({ code: 'locked' });
			expect(await readdir(folder)).toEqual(['4.json']);
		} else {
			const lock = await attempt;
			expect(await readdir(folder)).toEqual(['5.json']);
			await lock.release();
		}
	});

	it('that has been released is free', async () => {
		const folder = await folderWith('{"released":true}');
		expect(await inspectLock(folder)).toBeUndefined();
		const lock = await acquireLock(folder, { purpose });
		expect(await readdir(folder)).toEqual(['5.json']);
		await lock.release();
	});

	it('counts only as the highest record, by number', async () => {
		const folder = await folderWith(await recordOf({}), 0, '9.json');
		await writeFile(path.join(folder, '10.json'), '{"released":true}');
		await writeFile(path.join(folder, 'notes.json'), '');
		const lock = await acquireLock(folder, { purpose });
		expect((await readdir(folder)).sort()).toEqual(['11.json', 'notes.json']);
		await lock.release();
	});

	it('that was cut short loses its temporary files, the living keep theirs', async () => {
		const folder = await folderWith(await recordOf(DEAD), 0, 'dead.tmp');
		await writeFile(path.join(folder, 'living.tmp'), await recordOf({}));
		await writeFile(path.join(folder, 'dead.release.tmp'), '{"released":true}');
		await writeFile(path.join(folder, 'half.tmp'), '{"tok');
		const lock = await acquireLock(folder, { purpose });
		expect((await readdir(folder)).sort()).toEqual(['1.json', 'living.tmp']);
		await lock.release();
	});
});

describe('a lock that is lost', () => {
	it('says so, and its release leaves the new owner alone', async () => {
		const folder = await tempFolder();
		const lock = await acquireLock(folder, { purpose });
		const theirs = await recordOf({});
		await writeFile(path.join(folder, '2.json'), theirs);
		await expect(lock.assertHeld()).rejects.toMatchObject({ code: 'lock-lost', exitCode: 4 });
		await lock.release();
		expect(await readFile(path.join(folder, '2.json'), 'utf8')).toBe(theirs);
		expect(await readFile(path.join(folder, '1.json'), 'utf8')).toContain(lock.record.token);
	});

	it('with its folder can still be released', async () => {
		const folder = path.join(await tempFolder(), 'lock');
		const lock = await acquireLock(folder, { purpose });
		await rm(folder, { recursive: true });
		await expect(lock.assertHeld()).rejects.toMatchObject({ code: 'lock-lost' });
		await lock.release();
		expect(await readdir(path.dirname(folder))).toEqual([]);
	});
});

it('a folder that cannot be made is named', async () => {
	const folder = path.join(await folderWith('', 0, 'file'), 'file', 'lock');
	await expect(acquireLock(folder, { purpose })).rejects.toMatchObject({ code: 'lock-folder', facts: { at: folder } });
});

/** Processes that run `lock-contender.mjs`, ready to be asked. */
async function contenders(count: number) {
	const bundle = path.join(await tempFolder(), 'lock.mjs');
	const entry = path.resolve(import.meta.dirname, '../../scripts/lib/kit/lock.ts');
	await build({ entryPoints: [entry], outfile: bundle, bundle: true, platform: 'node', format: 'esm' });
	const script = path.resolve(import.meta.dirname, '../fixtures/lock-contender.mjs');
	const children = Array.from({ length: count }, () => fork(script, [bundle]));
	onTestFinished(async () => {
		for (const child of children) {
			if (child.exitCode !== null || child.signalCode !== null) continue;
			const exited = once(child, 'exit');
			child.kill('SIGKILL');
			await exited;
		}
	});
	await Promise.all(children.map((child) => once(child, 'message')));
	return children;
}

async function ask(child: ChildProcess, message: { acquire: string } | 'release'): Promise<unknown> {
	const answer = once(child, 'message');
	child.send(message);
	return (await answer)[0];
}

describe('twenty processes', () => {
	it('take a dead owner over once, round after round, and the winner may be killed', async () => {
		const children = await contenders(20);
		const root = await tempFolder();
		for (let round = 0; round < 40; round += 1) {
			const folder = path.join(root, `round ${round}`);
			await makeFolder(folder);
			await writeFile(path.join(folder, '1.json'), await recordOf(DEAD));
			const answers = await Promise.all(children.map((child) => ask(child, { acquire: folder })));
			expect(answers.toSorted()).toEqual([...Array(19).fill('locked'), 'won']);
			expect(await readdir(folder)).toEqual(['2.json']);
		}
		const folder = path.join(root, 'killed');
		for (let living = children; living.length > 4; ) {
			const answers = await Promise.all(living.map((child) => ask(child, { acquire: folder })));
			expect(answers.filter((answer) => answer === 'won')).toHaveLength(1);
			expect(answers.filter((answer) => answer === 'locked')).toHaveLength(living.length - 1);
			const winner = living[answers.indexOf('won')]!;
			const exited = once(winner, 'exit');
			winner.kill('SIGKILL');
			await exited;
			expect((await inspectLock(folder))?.alive).toBe(false);
			living = living.filter((child) => child !== winner);
		}
	});

	it('never hold it together while they take and release it as fast as they can', async () => {
		const children = await contenders(6);
		const folder = await tempFolder();
		let holders = 0;
		let wins = 0;
		const deadline = performance.now() + 2000;
		const play = async (child: ChildProcess): Promise<void> => {
			while (performance.now() < deadline) {
				if ((await ask(child, { acquire: folder })) !== 'won') continue;
				wins += 1;
				holders += 1;
				expect(holders).toBe(1);
				await delay(1);
				holders -= 1;
				expect(await ask(child, 'release')).toBe('released');
			}
		};
		await Promise.all(children.map(play));
		expect(wins).toBeGreaterThan(20);
		expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
	});
});
