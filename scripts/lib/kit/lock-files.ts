/** The records of a lock on disk: `<folder>/<generation>.json`, each complete from the moment it has that name. */
import { link, open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { readIfExists, writeFileAtomic, writeSynced } from './atomic-file.ts';
import { systemCode } from './errors.ts';
import type { GenerationStore } from './lock-generations.ts';
import { liveness, type ProcessIdentity } from './process-identity.ts';

export interface LockRecord {
	/** Names this one acquisition. */
	token: string;
	owner: ProcessIdentity;
	/** What the owner is doing, for people. */
	purpose: string;
	/** ISO 8601, UTC. */
	acquiredAt: string;
}

const RecordSchema = z.object({
	token: z.string(),
	owner: z.object({
		bootId: z.string(),
		pidNamespace: z.string(),
		pid: z.number(),
		startTime: z.string(),
		host: z.string(),
	}),
	purpose: z.string(),
	acquiredAt: z.string(),
});
const ReleasedSchema = z.object({ released: z.literal(true) });

/** A record that cannot be read may be one that is just being written, where the file system has no links. */
const UNREADABLE_MAY_GROW_MS = 5000;

export function generationFile(folder: string, generation: number): string {
	return path.join(folder, `${generation}.json`);
}

/** The generations that exist; none where the folder does not. */
export async function listGenerations(folder: string): Promise<number[]> {
	const names = await listNames(folder);
	return names.flatMap((name) => (/^[1-9]\d*\.json$/.test(name) ? [Number.parseInt(name, 10)] : []));
}

/**
 * What a record says and whether its owner still lives; undefined when it is released or gone.
 * @param staleMs how old the heartbeat of an owner in another namespace or boot may be
 */
export async function readRecord(
	file: string,
	staleMs: number,
): Promise<{ record: LockRecord; alive: boolean } | undefined> {
	const bytes = await readIfExists(file);
	const changedAt = bytes === undefined ? undefined : await modifiedAt(file);
	if (bytes === undefined || changedAt === undefined) return undefined;
	const age = Math.abs(Date.now() - changedAt);
	const content = parseJson(bytes);
	const parsed = RecordSchema.safeParse(content);
	if (parsed.success) {
		const state = await liveness(parsed.data.owner);
		return { record: parsed.data, alive: state === 'unknown' ? age < staleMs : state === 'alive' };
	}
	if (ReleasedSchema.safeParse(content).success && file.endsWith('.json')) return undefined;
	return { record: unreadableRecord(changedAt), alive: age < UNREADABLE_MAY_GROW_MS };
}

/** Replaces an own record by a released one. */
export async function writeReleased(folder: string, generation: number, token: string): Promise<void> {
	const temporary = path.join(folder, `${token}.release.tmp`);
	await writeFileAtomic(generationFile(folder, generation), '{"released":true}\n', { temporary });
}

/**
 * Removes temporary files whose writers died before they could. For the holder of the lock only: nobody is releasing it
 * then, and a contender who loses a half-written record writes it again.
 */
export async function sweepTemporaries(folder: string, staleMs: number): Promise<void> {
	for (const name of await listNames(folder)) {
		if (!name.endsWith('.tmp')) continue;
		const file = path.join(folder, name);
		const found = await readRecord(file, staleMs);
		if (found?.alive !== true || found.record.token === '') await rm(file, { force: true });
	}
}

/** The records of `folder` as the contender that wants to publish `record` acts on them. */
export function lockStore(
	folder: string,
	record: LockRecord,
	staleMs: number,
): GenerationStore<LockRecord> & { cleanUp(): Promise<void> } {
	const temporary = path.join(folder, `${record.token}.tmp`);
	const content = `${JSON.stringify(record)}\n`;
	let written = false;
	return {
		list: () => listGenerations(folder),
		holder: async (generation) => {
			const found = await readRecord(generationFile(folder, generation), staleMs);
			return found?.alive === true ? found.record : undefined;
		},
		create: async (generation) => {
			if (!written) await writeSynced(temporary, content);
			written = true;
			const result = await publish(temporary, generationFile(folder, generation), content);
			// Swept away by another contender who took us for dead: write it again next time.
			if (result === 'no-temporary') written = false;
			return result === 'created';
		},
		remove: (generation) => rm(generationFile(folder, generation), { force: true }),
		cleanUp: () => rm(temporary, { force: true }),
	};
}

async function publish(
	temporary: string,
	file: string,
	content: string,
): Promise<'created' | 'taken' | 'no-temporary'> {
	try {
		await link(temporary, file);
		return 'created';
	} catch (error) {
		const code = systemCode(error) ?? '';
		if (code === 'EEXIST') return 'taken';
		if (code === 'ENOENT') return 'no-temporary';
		if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) throw error;
		return createExclusively(file, content);
	}
}

/** Where the file system has no hard links. A reader may see the record half written: see `UNREADABLE_MAY_GROW_MS`. */
async function createExclusively(file: string, content: string): Promise<'created' | 'taken'> {
	try {
		const handle = await open(file, 'wx');
		try {
			await handle.writeFile(content);
			await handle.sync();
		} finally {
			await handle.close();
		}
		return 'created';
	} catch (error) {
		if (systemCode(error) === 'EEXIST') return 'taken';
		throw error;
	}
}

async function listNames(folder: string): Promise<string[]> {
	try {
		return await readdir(folder);
	} catch (error) {
		if (systemCode(error) === 'ENOENT') return [];
		throw error;
	}
}

async function modifiedAt(file: string): Promise<number | undefined> {
	try {
		return (await stat(file)).mtimeMs;
	} catch (error) {
		if (systemCode(error) === 'ENOENT') return undefined;
		throw error;
	}
}

function parseJson(bytes: Buffer): unknown {
	try {
		return JSON.parse(bytes.toString('utf8'));
	} catch {
		return undefined;
	}
}

function unreadableRecord(changedAt: number): LockRecord {
	const owner = { bootId: 'unknown', pidNamespace: 'unknown', pid: 0, startTime: 'unknown', host: 'unknown' };
	return { token: '', owner, purpose: 'unknown', acquiredAt: new Date(changedAt).toISOString() };
}
