/** `state/driver.json`: which coordinator a run belongs to. A record, not a lock (design: A coordinator is a record). */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../kit/atomic-file.ts';
import { CccError, EXIT, systemCode } from '../kit/errors.ts';
import { MODES, type Mode } from './modes.ts';
import { readRecord } from './record-files.ts';

const schema = z.object({
	version: z.literal(1),
	/**
	 * `headless` for `ccc run`; otherwise the agent whose session coordinates and does its own stages, or `unknown` for one
	 * that has every stage done by a CLI.
	 */
	session: z.enum(['headless', 'claude', 'codex', 'unknown']),
	/** Which session of that agent, where its environment says so. */
	sessionId: z.string().exactOptional(),
	/** In force until somebody resumes; never read back by resume (protocol: Arguments). */
	mode: z.enum(MODES),
	/** manual mode: the last stage that was done when the user said to go on, or `none`. */
	approved: z.string().exactOptional(),
	/** A stage skill does stages of this kind and no other. */
	only: z.enum(['plan', 'plan_review', 'code', 'review']).exactOptional(),
	/** ISO time. */
	since: z.string(),
});
export type Driver = Omit<z.infer<typeof schema>, 'version'>;

const DRIVER = 'state/driver.json';
/** Relative to the run folder. */
export const TAKEOVER = 'state/takeover.json';

export async function writeDriver(folder: string, driver: Driver): Promise<void> {
	await writeFileAtomic(path.join(folder, DRIVER), `${JSON.stringify({ ...driver, version: 1 })}\n`);
	await rm(path.join(folder, TAKEOVER), { force: true });
}

/**
 * Another session goes on with a run while a companion is at work for it, which the run's lock belongs to. Since a
 * companion may write here too, it can give the driver no other role, and makes the mode stricter only.
 */
export async function takeOver(folder: string, takeover: Driver): Promise<void> {
	const write = () => writeFileAtomic(path.join(folder, TAKEOVER), `${JSON.stringify({ ...takeover, version: 1 })}\n`);
	await write().catch((error: unknown) => {
		// Whoever has just taken the lock sweeps temporary files once: this one was taken for a leftover.
		if (systemCode(error) !== 'ENOENT') throw error;
		return write();
	});
}

/**
 * The driver, if it is this caller.
 * @param sessionId as the caller's environment says it
 * @throws CccError `other-coordinator` (exit 4) with the way to take the run over
 */
export async function confirmDriver(folder: string, sessionId: string | undefined): Promise<Driver> {
	const driver = await currentDriver(folder);
	const refuse = (found: string): CccError =>
		new CccError('other-coordinator', 'This run is not driven by this session.', {
			at: DRIVER,
			expected: 'the session that began or last resumed it',
			found,
			next: 'to take it over: /ccc resume <folder> ($ccc in Codex)',
			exitCode: EXIT.otherCoordinator,
		});
	if (!driver) throw refuse('no record of a coordinator');
	if (driver.session === 'headless') throw refuse('ccc run, outside a session');
	if (driver.sessionId !== sessionId) throw refuse(`another ${driver.session} session, since ${driver.since}`);
	return driver;
}

/** Whoever drives the run, if anybody; a takeover is not looked at. */
export const readDriver = (folder: string): Promise<Driver | undefined> => readJson(folder, DRIVER, schema);

/** The driver, or the session that took over from it. One that takes over from itself would only change its role. */
async function currentDriver(folder: string): Promise<Driver | undefined> {
	const driver = await readDriver(folder);
	const takeover = driver && (await readJson(folder, TAKEOVER, schema));
	if (!takeover || takeover.sessionId === driver.sessionId) return driver;
	return { ...takeover, mode: stricter(driver.mode, takeover.mode) };
}

/** Makes a takeover the record; the caller holds the run's lock. @param driver as `confirmDriver` gives it */
export async function settleTakeover(folder: string, driver: Driver): Promise<void> {
	const recorded = await readDriver(folder);
	if (recorded?.sessionId !== driver.sessionId) await writeDriver(folder, driver);
}

const stricter = (a: Mode, b: Mode): Mode => (MODES.indexOf(a) < MODES.indexOf(b) ? a : b);

/** A record that cannot be read names nobody. */
async function readJson<T>(folder: string, file: string, expected: z.ZodType<T>): Promise<T | undefined> {
	const bytes = await readRecord(folder, file);
	try {
		return expected.parse(JSON.parse(bytes?.toString('utf8') ?? ''));
	} catch {
		return undefined;
	}
}
