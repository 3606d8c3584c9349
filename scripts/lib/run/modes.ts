/** How much a run does by itself (protocol: Modes). Never stored in run.md. */
export const MODES = ['manual', 'normal', 'auto'] as const;
export type Mode = (typeof MODES)[number];

export function isMode(word: string): word is Mode {
	return (MODES as readonly string[]).includes(word);
}

/** What a committed review that does not approve leads to. */
export type Disagreement =
	/** Write the next version. */
	| 'next-version'
	/** Wait for `decide accept` or `decide revise`. */
	| 'human-decision'
	/** Proceed, with the review attested as APPROVE_AUTO_OVERRIDE. */
	| 'override';

/**
 * The rows of the protocol's mode table for reviews that ask for changes or report a blocker.
 * The stop of manual mode after each stage is not here: it follows every stage alike.
 */
export function onDisagreement(verdict: 'NEEDS_CHANGES' | 'BLOCKER', versionLeft: boolean, mode: Mode): Disagreement {
	if (!versionLeft) return mode === 'auto' ? 'override' : 'human-decision';
	if (verdict === 'BLOCKER' && mode !== 'auto') return 'human-decision';
	return 'next-version';
}
