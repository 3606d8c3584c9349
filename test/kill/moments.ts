/** When to kill: in a stage, at a moment of time or at the n-th thing that happens on disk. All random, from one seed. */
import { existsSync, type FSWatcher, readdirSync, watch } from 'node:fs';
import path from 'node:path';

export type Random = () => number;

/** A number in [0, 1) each call; the same row for the same seed. */
export function seeded(seed: number): Random {
	let state = seed >>> 0;
	return () => {
		// mulberry32
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

export interface Pace {
	readonly run: string;
	/** What a stage takes on this machine now, in milliseconds. */
	readonly stageMs: number;
	readonly random: Random;
}

export const STAGES = 8;
/** About as many changes on disk as one stage makes. */
const STAGE_CHANGES = 30;

/** The stages that are committed. */
export function stagesDone(run: string): number {
	const state = path.join(run, 'state');
	return existsSync(state) ? readdirSync(state).filter((name) => name.endsWith('.done')).length : 0;
}

/**
 * Calls `act` once at a random moment of a random stage that is still to come, the one that begins now more often than
 * others: there a resume finds what the last kill left. Returns what calls it off.
 */
export function atRandom({ run, stageMs, random }: Pace, act: () => void): () => void {
	const done = stagesDone(run);
	const target = random() < 0.3 ? done : done + Math.floor(random() * (STAGES + 1 - done));
	let callOff = (): void => clearInterval(poll);
	const arrange = (): void => {
		clearInterval(poll);
		const byChange = existsSync(run) && random() < 0.5;
		callOff = byChange ? atChange(random, STAGE_CHANGES, run, act) : atTime(random, stageMs * 1.3, act);
	};
	const poll = setInterval(() => {
		if (stagesDone(run) >= target) arrange();
	}, 5);
	if (target === done) arrange();
	return () => callOff();
}

/** Calls `act` once after a random part of `spanMs`; returns what calls it off. */
export function atTime(random: Random, spanMs: number, act: () => void): () => void {
	const timer = setTimeout(act, random() * spanMs);
	return () => clearTimeout(timer);
}

/**
 * Calls `act` once at a random one of the next `among` changes in the folders of a run: that is where half-done writes
 * are. Returns what calls it off.
 */
export function atChange(random: Random, among: number, run: string, act: () => void): () => void {
	let left = 1 + Math.floor(random() * among);
	const watchers: FSWatcher[] = [];
	const stop = (): void => {
		for (const watcher of watchers.splice(0)) watcher.close();
	};
	const changed = (): void => {
		left -= 1;
		if (left !== 0) return;
		stop();
		act();
	};
	for (const folder of foldersOf(run)) watchers.push(watch(folder, changed).on('error', () => {}));
	return stop;
}

function foldersOf(run: string): string[] {
	const state = ['', 'artifacts', 'state', 'state/calls', 'state/lock'].map((name) => path.join(run, name));
	return [path.dirname(run), ...state].filter((folder) => {
		try {
			return readdirSync(folder) !== undefined;
		} catch {
			return false;
		}
	});
}
