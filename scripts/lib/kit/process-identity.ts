/** Which process a record on disk speaks of, and whether that process still runs (design: "Sandboxes"). */
import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { processRow } from './process-table.ts';

export interface ProcessIdentity {
	/** One boot of one kernel. `unknown` where the system does not tell. */
	bootId: string;
	/** The namespace in which `pid` counts; `none` where the platform has none, `unknown` where it cannot be told. */
	pidNamespace: string;
	pid: number;
	/** Opaque, from the kernel; tells a process from a later one with the same pid. */
	startTime: string;
	/** For people only. */
	host: string;
}

export type Liveness = 'alive' | 'dead' | 'unknown';

/** The identity of this process. Never fails: what cannot be found out is `unknown`. */
export async function ownIdentity(): Promise<ProcessIdentity> {
	const row = await processRow(process.pid);
	return { ...(await ownPlace()), pid: process.pid, startTime: row?.startTime ?? UNKNOWN, host: hostname() };
}

/** The identity of a running process of this namespace, or undefined when there is none (a zombie is none). */
export async function identityOf(pid: number): Promise<ProcessIdentity | undefined> {
	const row = await processRow(pid);
	if (row === undefined || row.zombie) return undefined;
	return { ...(await ownPlace()), pid, startTime: row.startTime, host: hostname() };
}

/**
 * Whether the recorded process still runs. Another boot or namespace is `unknown`: its pids mean nothing here, and
 * only a heartbeat can decide. A zombie and a reused pid (other start time) are `dead`.
 */
export async function liveness(identity: ProcessIdentity): Promise<Liveness> {
	const here = await ownPlace();
	const comparable = ![here.bootId, here.pidNamespace, identity.startTime].includes(UNKNOWN);
	if (!comparable || identity.bootId !== here.bootId || identity.pidNamespace !== here.pidNamespace) return 'unknown';
	const row = await processRow(identity.pid);
	if (row !== undefined) return !row.zombie && row.startTime === identity.startTime ? 'alive' : 'dead';
	return signalReaches(identity.pid) ? 'unknown' : 'dead';
}

const UNKNOWN = 'unknown';

interface Place {
	readonly bootId: string;
	readonly pidNamespace: string;
}

let place: Promise<Place> | undefined;

function ownPlace(): Promise<Place> {
	place ??= process.platform === 'linux' ? Promise.resolve(linuxPlace()) : otherPlace();
	return place;
}

function linuxPlace(): Place {
	const bootId = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
	// Some sandboxes show the /proc of an outer namespace: the pids there are not the ones this process knows.
	const own = attempt(() => readFileSync('/proc/self/stat', 'utf8'));
	const pidNamespace =
		Number.parseInt(own, 10) === process.pid ? attempt(() => readlinkSync('/proc/self/ns/pid')) : UNKNOWN;
	return { bootId, pidNamespace };
}

async function otherPlace(): Promise<Place> {
	const bootId = (await sysctl('kern.bootsessionuuid')) || (await sysctl('kern.boottime')) || UNKNOWN;
	return { bootId, pidNamespace: 'none' };
}

function attempt(read: () => string): string {
	try {
		return read();
	} catch {
		return UNKNOWN;
	}
}

function sysctl(name: string): Promise<string> {
	return new Promise((resolve) => {
		const options = { env: { LC_ALL: 'C', TZ: 'UTC' }, timeout: 5000 };
		execFile('/usr/sbin/sysctl', ['-n', name], options, (_error, stdout) => resolve(stdout.trim()));
	});
}

/** A process hidden from us (hidepid, another user) still answers signal 0, with EPERM. */
function signalReaches(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch (error) {
		return error instanceof Error && 'code' in error && error.code === 'EPERM';
	}
}
