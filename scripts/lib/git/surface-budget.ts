/** Which changes a review does without when it is too long. Pure. */

export interface Candidate {
	readonly path: string;
	/** Bytes of all its changes in the surface. */
	readonly bytes: number;
	/** Bytes that are gone when they are replaced. */
	readonly saved: number;
}

/**
 * The candidates to replace, largest first, until the surface fits or none is left.
 * @param excess bytes by which the surface is over its budget
 */
export function chooseReplaced<T extends Candidate>(candidates: readonly T[], excess: number): T[] {
	const sorted = candidates
		.filter((one) => one.saved > 0)
		.sort((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1));
	const chosen: T[] = [];
	let left = excess;
	for (const candidate of sorted) {
		if (left <= 0) break;
		chosen.push(candidate);
		left -= candidate.saved;
	}
	return chosen;
}
