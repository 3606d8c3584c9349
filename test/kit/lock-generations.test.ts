import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contend, type GenerationStore } from '../../scripts/lib/kit/lock-generations.ts';

class Died extends Error {}

/** The records of one lock: who created each number; undefined once released. */
type Records = Map<number, string | undefined>;

/**
 * Contenders that run one step (one action on the records) at a time, in the order a test chooses. Each tries for the
 * lock as often as its number says and gives it back. `step` throws as soon as two live contenders hold the lock.
 */
function stage(start: Records, contenders: Readonly<Record<string, number>>) {
	const records = new Map(start);
	const dead = new Set<string>(['gone']);
	const holding = new Set<string>();
	const waiting = new Map<string, { go: () => void; die: () => void }>();
	let busy = Object.keys(contenders).length;
	const wins: string[] = [];

	const turn = (name: string): Promise<void> => {
		busy -= 1;
		return new Promise((resolve, reject) => {
			waiting.set(name, { go: resolve, die: () => reject(new Died()) });
		});
	};
	const storeOf = (name: string): GenerationStore<string> => ({
		list: () => turn(name).then(() => [...records.keys()]),
		holder: (generation) =>
			turn(name).then(() => {
				const owner = records.get(generation);
				return owner === undefined || dead.has(owner) ? undefined : owner;
			}),
		create: (generation) =>
			turn(name).then(() => {
				if (records.has(generation)) return false;
				records.set(generation, name);
				return true;
			}),
		remove: (generation) => turn(name).then(() => void records.delete(generation)),
	});
	const live = async ([name, tries]: [string, number]): Promise<void> => {
		try {
			for (let attempt = 0; attempt < tries; attempt += 1) {
				const outcome = await contend(storeOf(name));
				if (!('won' in outcome)) continue;
				holding.add(name);
				wins.push(name);
				await turn(name);
				holding.delete(name);
				// As lock.ts does: only a record that is still one's own is replaced.
				if (records.get(outcome.won) === name) records.set(outcome.won, undefined);
			}
		} catch (error) {
			if (!(error instanceof Died)) throw error;
			dead.add(name);
			holding.delete(name);
		}
		busy -= 1;
	};
	const all = Object.entries(contenders).map(live);
	const settled = async (): Promise<void> => {
		while (busy > 0) await Promise.resolve();
	};
	return {
		records,
		wins,
		finished: () => Promise.all(all),
		runnable: async (): Promise<string[]> => {
			await settled();
			return [...waiting.keys()].sort();
		},
		step: async (name: string, fate: 'go' | 'die' = 'go'): Promise<void> => {
			const paused = waiting.get(name)!;
			waiting.delete(name);
			busy += 1;
			paused[fate]();
			await settled();
			if (holding.size > 1) throw new Error(`held by ${[...holding].join(' and ')}`);
		},
	};
}

const STARTS: [string, Records][] = [
	['nothing', new Map()],
	['a released record', new Map([[3, undefined]])],
	['a dead owner', new Map([[3, 'gone']])],
	['leftovers below a dead owner', new Map([[2, undefined], [5, 'gone']])], // biome-ignore format: a table
];

describe('contending for a lock', () => {
	it.each(STARTS)('alone is won at once, from %s', async (_what, start) => {
		const play = stage(start, { a: 1 });
		for (let names = await play.runnable(); names.length > 0; names = await play.runnable()) await play.step('a');
		expect(play.wins).toEqual(['a']);
		expect([...play.records]).toEqual([[Math.max(0, ...start.keys()) + 1, undefined]]);
	});

	it('is lost to a live owner', async () => {
		const play = stage(new Map([[7, 'b']]), { a: 1 });
		for (let names = await play.runnable(); names.length > 0; names = await play.runnable()) await play.step('a');
		expect(play.wins).toEqual([]);
		expect([...play.records]).toEqual([[7, 'b']]);
	});

	it.each(STARTS)('has one holder at a time in every order of the steps of two, from %s', async (_what, start) => {
		let orders = 0;
		// Depth first: replay a choice of who goes, extend it with the first runnable, then backtrack.
		for (let choices: number[] | undefined = []; choices !== undefined; orders += 1) {
			// Two tries of one are needed for a number to come free again; from the other starts that only takes longer.
			const play = stage(start, { a: 1, b: start.size === 0 ? 2 : 1 });
			const widths: number[] = [];
			for (let at = 0; ; at += 1) {
				const names = await play.runnable();
				if (names.length === 0) break;
				choices[at] ??= 0;
				widths.push(names.length);
				await play.step(names[choices[at]!]!);
			}
			await play.finished();
			expect(play.wins.length).toBeGreaterThanOrEqual(1);
			choices = nextChoices(choices, widths);
		}

		expect(orders).toBeGreaterThan(50);
	});

	it('has one holder at a time among four that pause, win, release and die anywhere', async () => {
		const segment = fc.record({ who: fc.nat(3), steps: fc.integer({ min: 1, max: 40 }), dies: fc.nat(9) });
		const scenario = fc.tuple(fc.constantFrom(...STARTS), fc.array(segment, { maxLength: 40, size: 'max' }));
		await fc.assert(
			fc.asyncProperty(scenario, async ([[, start], segments]) => {
				const play = stage(start, { a: 4, b: 4, c: 4, d: 4 });
				let highestSeen = 0;
				const step = async (name: string, fate: 'go' | 'die') => {
					await play.step(name, fate);
					const highest = Math.max(0, ...play.records.keys());
					expect(highest).toBeGreaterThanOrEqual(highestSeen);
					highestSeen = highest;
				};
				for (const { who, steps, dies } of segments) {
					const name = 'abcd'.charAt(who);
					for (let count = 0; count < steps && (await play.runnable()).includes(name); count += 1)
						await step(name, 'go');
					if (dies === 0 && (await play.runnable()).includes(name)) await step(name, 'die');
				}
				for (let names = await play.runnable(); names[0] !== undefined; names = await play.runnable()) {
					await step(names[0], 'go');
				}
				await play.finished();
			}),
			{ numRuns: 1500 },
		);
	});
});

function nextChoices(choices: readonly number[], widths: readonly number[]): number[] | undefined {
	for (let at = widths.length - 1; at >= 0; at -= 1) {
		if (choices[at]! + 1 < widths[at]!) return [...choices.slice(0, at), choices[at]! + 1];
	}
	return undefined;
}
