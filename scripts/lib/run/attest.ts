/** From what a reviewer said to the verdict the coordinator attests (protocol: Review Prompt Contract, Verdicts, Modes). */
import type { Mode } from './modes.ts';
import type { Verdict } from './verdicts.ts';

export interface Finding {
	readonly severity: 'minor' | 'major';
	/** The reviewer's words, without a leading tag. */
	readonly text: string;
}

/** A review transcript that could be read. `ready: 'no'` always comes with a finding or a reason in `blocked`. */
export interface Reading {
	readonly ready: 'yes' | 'no';
	readonly findings: readonly Finding[];
	/** Reasons the reviewer gave in `BLOCKED:` lines: something outside the change prevents it. */
	readonly blocked: readonly string[];
	/** Sections of the transcript that the artifact repeats, empty where the reviewer wrote none. */
	readonly summary: string;
	readonly questions: string;
	readonly testsToAdd: string;
}

/**
 * | said | a version is left | none is left, manual and normal | none is left, auto |
 * | --- | --- | --- | --- |
 * | yes, no finding | APPROVE | APPROVE | APPROVE |
 * | yes, minor findings | APPROVE_WITH_MINOR_COMMENTS | the same | the same |
 * | no, minor findings | NEEDS_CHANGES | APPROVE_WITH_MINOR_COMMENTS | APPROVE_AUTO_OVERRIDE |
 * | a major finding, whatever was said | NEEDS_CHANGES | NEEDS_CHANGES | APPROVE_AUTO_OVERRIDE |
 * | BLOCKED: | BLOCKER | BLOCKER | APPROVE_AUTO_OVERRIDE |
 */
export function attestVerdict(reading: Reading, versionLeft: boolean, mode: Mode): Verdict {
	const major = reading.findings.some((finding) => finding.severity === 'major');
	const blocked = reading.blocked.length > 0;
	if (reading.ready === 'yes' && !major && !blocked) {
		return reading.findings.length === 0 ? 'APPROVE' : 'APPROVE_WITH_MINOR_COMMENTS';
	}
	if (!versionLeft && mode === 'auto') return 'APPROVE_AUTO_OVERRIDE';
	if (blocked) return 'BLOCKER';
	return !major && !versionLeft ? 'APPROVE_WITH_MINOR_COMMENTS' : 'NEEDS_CHANGES';
}
