/** Remembers who belongs to a running tree, so that those who leave it later are still known when it is killed. */
import { setTimeout as delay } from 'node:timers/promises';
import { processRow } from './process-table.ts';
import { listTree, type ProcessEntry } from './process-tree.ts';

/**
 * A child that leaves its session and drops the marker is known only if it is seen before its parent ends, so looks
 * come as often as a tenth of one core allows.
 */
const PAUSE_PER_LOOK = 10;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

/**
 * Watches from now until `stop()`. To be called in the same turn as the spawn: until then even a child that has
 * already ended can be looked up, and its start time keeps a later owner of its pid safe.
 */
export function watchTree(root: { pid: number; marker?: string }): {
	entries: () => Promise<ProcessEntry[]>;
	stop: () => void;
} {
	const known = new Map<string, ProcessEntry>();
	const remember = (entry: ProcessEntry) => known.set(`${entry.pid} ${entry.startTime}`, entry);
	const first = processRow(root.pid).then((row) => {
		if (row !== undefined) remember(row);
	});
	const stopped = new AbortController();
	const sample = async (): Promise<void> => {
		await first;
		while (!stopped.signal.aborted) {
			const began = performance.now();
			for (const entry of await listTree(root, [...known.values()])) remember(entry);
			await delay(pauseAfter(performance.now() - began), undefined, { signal: stopped.signal, ref: false });
		}
	};
	// A missed sample costs knowledge, not correctness; the delay ends with an AbortError.
	void sample().catch(() => undefined);
	return {
		entries: async () => {
			await first;
			return [...known.values()];
		},
		stop: () => stopped.abort(),
	};
}

function pauseAfter(lookMs: number): number {
	return Math.min(Math.max(lookMs * PAUSE_PER_LOOK, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}
