/** `state/driver.json`: which coordinator a run belongs to. A record, not a lock (design: A coordinator is a record). */
import path from 'node:path';
import { writeFileAtomic } from '../kit/atomic-file.ts';
import type { ProcessIdentity } from '../kit/process-identity.ts';
import type { Mode } from './modes.ts';

export interface Driver {
	/** `headless` for `ccc run`, otherwise the agent whose session coordinates. */
	readonly session: 'headless';
	/** Kept here for whoever looks; resume never reads it back (protocol: Arguments). */
	readonly mode: Mode;
	readonly owner: ProcessIdentity;
	/** ISO time. */
	readonly since: string;
}

export async function writeDriver(folder: string, driver: Driver): Promise<void> {
	await writeFileAtomic(path.join(folder, 'state', 'driver.json'), `${JSON.stringify({ version: 1, ...driver })}\n`);
}
