/** What runs on this machine, as far as this process may see it: /proc on Linux, `ps` elsewhere. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { systemCode } from './errors.ts';

export interface ProcessRow {
	readonly pid: number;
	readonly ppid: number;
	/** Process group and session; 0 where the platform does not tell. */
	readonly group: number;
	readonly session: number;
	/** Opaque; with the pid it names one process of this boot (clock ticks on Linux, a date in UTC elsewhere). */
	readonly startTime: string;
	/** Ended, only not yet collected by its parent. */
	readonly zombie: boolean;
}

/** Every visible process. On Linux without a pause, so that a signal sent right after it cannot meet a reused pid. */
export async function processTable(): Promise<ProcessRow[]> {
	if (process.platform !== 'linux') return parsePs(await runPs(['-ax', '-o', PS_COLUMNS]));
	return readdirSync('/proc').flatMap((name) => {
		const row = /^\d+$/.test(name) ? readStat(name) : undefined;
		return row === undefined ? [] : [row];
	});
}

/** One process, zombies included, or undefined where there is none (or none that may be seen). */
export async function processRow(pid: number): Promise<ProcessRow | undefined> {
	if (process.platform === 'linux') return readStat(String(pid));
	return parsePs(await runPs(['-o', PS_COLUMNS, '-p', String(pid)]))[0];
}

/** The pids among `rows` whose environment holds the entry `marker` (`NAME=value`); what may not be read is left out. */
export async function pidsWithMarker(marker: string, rows: readonly ProcessRow[]): Promise<Set<number>> {
	if (process.platform !== 'linux')
		return parseMarked(await runPs(['-ax', '-E', '-ww', '-o', 'pid=,command=']), marker);
	const entry = Buffer.from(`\0${marker}\0`);
	const found = new Set<number>();
	for (const { pid } of rows) {
		const environment = readProc(`/proc/${pid}/environ`);
		if (environment === undefined) continue;
		if (environment.includes(entry) || environment.subarray(0, entry.length - 1).equals(entry.subarray(1)))
			found.add(pid);
	}
	return found;
}

/**
 * The command lines of the processes this one descends from, parent first, as far as they may be seen. In a pid namespace
 * with its own /proc the last one is its pid 1. Empty where there is no /proc.
 */
export function ancestorCommands(): string[][] {
	if (process.platform !== 'linux') return [];
	const commands: string[][] = [];
	const seen = new Set<number>();
	// Not by `process.pid`: /proc may be that of an outer pid namespace, where this process has another number.
	for (let row = readStat('self'); row !== undefined && !seen.has(row.pid); row = readStat(String(row.ppid))) {
		const isSelf = seen.size === 0;
		seen.add(row.pid);
		const words = readProc(`/proc/${row.pid}/cmdline`)?.toString('utf8').split('\0').slice(0, -1);
		if (!isSelf && words !== undefined && words.length > 0) commands.push(words);
	}
	return commands;
}

/** /proc never waits for a disk: reading it synchronously costs a fraction of a trip through the thread pool. */
function readProc(file: string): Buffer | undefined {
	try {
		return readFileSync(file);
	} catch (error) {
		if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(systemCode(error) ?? '')) return undefined;
		throw error;
	}
}

function readStat(name: string): ProcessRow | undefined {
	const text = readProc(`/proc/${name}/stat`)?.toString('latin1');
	if (text === undefined) return undefined;
	// The command name (field 2) may hold spaces and parentheses: fields are counted from its last one on.
	const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
	const [state, ppid, group, session] = fields;
	const startTime = fields[19];
	if (state === undefined || startTime === undefined) return undefined;
	return {
		pid: Number.parseInt(text, 10),
		ppid: Number(ppid),
		group: Number(group),
		session: Number(session),
		startTime,
		zombie: state === 'Z' || state === 'X',
	};
}

const PS_COLUMNS = 'pid=,ppid=,pgid=,stat=,lstart=';

function parsePs(text: string): ProcessRow[] {
	return text.split('\n').flatMap((line) => {
		const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*\S)\s*$/.exec(line);
		if (match === null) return [];
		const [, pid, ppid, group, state = '', startTime = ''] = match;
		return [
			{
				pid: Number(pid),
				ppid: Number(ppid),
				group: Number(group),
				session: 0,
				startTime: startTime.replace(/\s+/g, ' '),
				zombie: state.startsWith('Z'),
			},
		];
	});
}

function parseMarked(text: string, marker: string): Set<number> {
	const lines = text.split('\n').filter((line) => `${line} `.includes(` ${marker} `));
	return new Set(lines.map((line) => Number.parseInt(line, 10)).filter((pid) => Number.isInteger(pid)));
}

/** Not through the process runner, which itself needs this table. A fixed locale and zone keep start times comparable. */
function runPs(args: string[]): Promise<string> {
	return new Promise((resolve) => {
		const options = { env: { LC_ALL: 'C', TZ: 'UTC' }, maxBuffer: 64 * 1024 * 1024, timeout: 5000 };
		// ps answers 1 when a pid is gone: what it printed is the answer.
		execFile('/bin/ps', args, options, (_error, stdout) => resolve(stdout));
	});
}
