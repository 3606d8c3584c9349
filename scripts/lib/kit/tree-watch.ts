/** Remembers who belongs to a running tree, so that those who leave it later are still known when it is killed. */
import { setTimeout as delay } from 'node:timers/promises';
import { processRow } from './process-table.ts';
import { listTree, type ProcessEntry } from './process-tree.ts';

const EVERY_MS = 500;

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
			for (const entry of await listTree(root, [...known.values()])) remember(entry);
			await delay(EVERY_MS, undefined, { signal: stopped.signal, ref: false });
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
