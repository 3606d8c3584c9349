/** The verdict words of the protocol (section Verdicts). */
export const VERDICTS = [
	'APPROVE',
	'APPROVE_WITH_MINOR_COMMENTS',
	'APPROVE_AUTO_OVERRIDE',
	'NEEDS_CHANGES',
	'BLOCKER',
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Whether the run may advance past a review with this verdict without anybody's decision. */
export function approves(verdict: Verdict): boolean {
	return verdict.startsWith('APPROVE');
}
