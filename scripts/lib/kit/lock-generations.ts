/**
 * The decisions of a lock, apart from any file system. A lock is a row of numbered records; the highest is the lock.
 * Nobody ever removes or takes over a record in place: a contender creates the next number, which only one can do, and
 * then looks whether it came too late.
 */

/** The steps a contender takes on the shared records. Each is atomic; any other contender may act between two. */
export interface GenerationStore<Holder> {
	/** The numbers that exist now, in any order. */
	list(): Promise<number[]>;
	/** Who holds this record, or undefined when it is released, its owner is dead, or it is gone. */
	holder(generation: number): Promise<Holder | undefined>;
	/** Creates the own record under this number, whole or not at all; false when the number is taken. */
	create(generation: number): Promise<boolean>;
	/** Removes a record; one that is gone is no error. */
	remove(generation: number): Promise<void>;
}

/** So many times others may come first before a contender gives up; each time one of them has made progress. */
const ATTEMPTS = 1000;

/**
 * Tries to become the holder. Does not wait.
 * @returns the number won, or the holder who is in the way (undefined after too many changes of hands)
 */
export async function contend<Holder>(
	store: GenerationStore<Holder>,
): Promise<{ won: number } | { lostTo: Holder | undefined }> {
	for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
		const latest = highest(await store.list());
		if (latest > 0) {
			const holder = await store.holder(latest);
			if (holder !== undefined) {
				// What was read may be a record of the past by now: only the highest speaks for the lock.
				if (highest(await store.list()) === latest) return { lostTo: holder };
				continue;
			}
		}
		const mine = latest + 1;
		if (!(await store.create(mine))) continue;
		const present = await store.list();
		if (highest(present) > mine) {
			// The number was free only because its holder, and a later one, have come and gone.
			await store.remove(mine);
			continue;
		}
		for (const generation of present) if (generation < mine) await store.remove(generation);
		return { won: mine };
	}
	return { lostTo: undefined };
}

/** The highest number, 0 for none. */
export function highest(generations: readonly number[]): number {
	return Math.max(0, ...generations);
}
