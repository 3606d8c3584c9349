/** A process and all that came of it, children that left its session or were handed to init included. */
import { setTimeout as delay } from 'node:timers/promises';
import { systemCode } from './errors.ts';
import { type ProcessRow, pidsWithMarker, processTable } from './process-table.ts';

export interface ProcessEntry {
	pid: number;
	ppid: number;
	/** As in `ProcessIdentity`; a remembered entry whose start time no longer fits is a reused pid and left alone. */
	startTime: string;
}

/**
 * The running processes of a tree: the root, descendants by parent, `remembered` ones and their descendants, all that
 * share a group or session led by one of these, and every process whose environment holds `marker` (`NAME=value`).
 * Zombies, this process and its ancestors are left out.
 */
export async function listTree(
	root: { pid: number; marker?: string },
	remembered: readonly ProcessEntry[] = [],
): Promise<ProcessEntry[]> {
	return (await survey(root, remembered)).others;
}

/**
 * Ends a tree as `listTree` finds it, looking again until none is left: SIGTERM first, SIGKILL `graceMs` (2000) later,
 * and gives up 8 seconds after that. Never hits this process or its ancestors; those of them that belong to the tree
 * are reported as survivors.
 */
export async function killTree(options: {
	pid?: number;
	marker?: string;
	remembered?: readonly ProcessEntry[];
	graceMs?: number;
}): Promise<{ killed: number[]; survivors: number[] }> {
	const known = [...(options.remembered ?? [])];
	const signalled = new Set<string>();
	const began = performance.now();
	const graceMs = options.graceMs ?? 2000;
	let quietRounds = 0;
	for (;;) {
		const tree = await survey(options, known);
		const elapsed = performance.now() - began;
		for (const entry of tree.others) {
			if (!known.some((other) => key(other) === key(entry))) known.push(entry);
			const isNew = !signalled.has(key(entry));
			if (elapsed >= graceMs) send(entry.pid, 'SIGKILL');
			else if (isNew) send(entry.pid, 'SIGTERM');
			signalled.add(key(entry));
		}
		// A child forked while /proc was being read can be missed once, but not twice in a row.
		quietRounds = tree.others.length === 0 ? quietRounds + 1 : 0;
		const done = quietRounds === 2 || signalled.size === 0;
		if (done || elapsed > graceMs + GIVE_UP_MS) {
			const survivors = [...tree.others, ...tree.own];
			const alive = new Set(survivors.map(key));
			return {
				killed: known.filter((entry) => signalled.has(key(entry)) && !alive.has(key(entry))).map(({ pid }) => pid),
				survivors: survivors.map(({ pid }) => pid),
			};
		}
		await delay(Math.min(10 + elapsed / 10, 50));
	}
}

const GIVE_UP_MS = 8000;

interface Survey {
	readonly others: ProcessEntry[];
	/** This process and its ancestors, where they belong to the tree. */
	readonly own: ProcessEntry[];
}

async function survey(root: { pid?: number; marker?: string }, remembered: readonly ProcessEntry[]): Promise<Survey> {
	const rows = await processTable();
	const marked = root.marker === undefined ? new Set<number>() : await pidsWithMarker(root.marker, rows);
	const members = treeMembers(rows, root.pid, remembered, marked).filter((row) => !row.zombie);
	const line = ownLine(rows);
	const entries = (chosen: ProcessRow[]) => chosen.map(({ pid, ppid, startTime }) => ({ pid, ppid, startTime }));
	return {
		others: entries(members.filter(({ pid }) => !line.has(pid))),
		own: entries(members.filter(({ pid }) => line.has(pid))),
	};
}

function treeMembers(
	rows: readonly ProcessRow[],
	rootPid: number | undefined,
	remembered: readonly ProcessEntry[],
	marked: ReadonlySet<number>,
): ProcessRow[] {
	const running = new Map(rows.map((row) => [row.pid, row]));
	const memories = new Set(remembered.map(key));
	const rememberedPids = new Set(remembered.map(({ pid }) => pid));
	const isSeed = (row: ProcessRow) =>
		memories.has(key(row)) || marked.has(row.pid) || (row.pid === rootPid && !rememberedPids.has(rootPid));
	const members = new Set(rows.filter((row) => row.pid > 1 && isSeed(row)));
	// A pid is not given out again while a group or session of that number lives on, so an ended leader still names it.
	const roots = [...rememberedPids, ...(rootPid === undefined ? [] : [rootPid])];
	const leaders = new Set(roots.filter((pid) => pid > 1 && !running.has(pid)));
	for (const { pid } of members) leaders.add(pid);
	for (let grown = true; grown; ) {
		grown = false;
		for (const row of rows) {
			if (members.has(row)) continue;
			const parent = running.get(row.ppid);
			const isChild = parent !== undefined && members.has(parent);
			if (!isChild && !leaders.has(row.group) && !leaders.has(row.session)) continue;
			members.add(row);
			leaders.add(row.pid);
			grown = true;
		}
	}
	return [...members];
}

/** This process, its parent, and so on up to init. */
function ownLine(rows: readonly ProcessRow[]): Set<number> {
	const parents = new Map(rows.map(({ pid, ppid }) => [pid, ppid]));
	const line = new Set([0, 1]);
	for (let pid: number | undefined = process.pid; pid !== undefined && !line.has(pid); pid = parents.get(pid)) {
		line.add(pid);
	}
	return line;
}

function key({ pid, startTime }: { pid: number; startTime: string }): string {
	return `${pid} ${startTime}`;
}

function send(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
	try {
		process.kill(pid, signal);
	} catch (error) {
		// Gone in the meantime, or another user's: the next look tells which.
		if (!['ESRCH', 'EPERM'].includes(systemCode(error) ?? '')) throw error;
	}
}
