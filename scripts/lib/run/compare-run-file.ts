/** run.md against the truth of `.done` files and verdicts (protocol: Resume): it may not be behind them. Pure. */
import type { RunFile } from './run-file.ts';
import type { ChainState } from './sequence.ts';
import { artifactPath, isReview, type Stage, stageName } from './stages.ts';
import type { Verdict } from './verdicts.ts';

export interface Disagreement {
	/** The key of Workflow State, or `status`. */
	readonly key: 'current_stage' | 'latest_artifact' | 'latest_verdict' | 'next_action' | 'status';
	readonly found: string;
	readonly expected: string;
}

/**
 * @param done the done stages in the order of the protocol
 * @param verdicts by review name; a review whose verdict cannot be read is not compared
 */
export function compareRunFile(
	{ workflow, status }: Pick<RunFile, 'workflow' | 'status'>,
	done: readonly Stage[],
	verdicts: ReadonlyMap<string, Verdict>,
	chain: ChainState,
): Disagreement[] {
	const disagreements: Disagreement[] = [];
	const compare = (key: Disagreement['key'], value: string, allowed: readonly string[]) => {
		if (allowed.includes(value)) return;
		disagreements.push({ key, found: `'${value}'`, expected: allowed.map((word) => `'${word}'`).join(' or ') });
	};
	const last = done.at(-1);
	compare('latest_artifact', workflow.latestArtifact, [last ? artifactPath(last) : 'none']);
	const review = done.findLast(isReview);
	const verdict = review ? verdicts.get(stageName(review)) : 'none';
	if (verdict !== undefined) compare('latest_verdict', workflow.latestVerdict, [verdict]);

	const next = chain.next.map(stageName);
	const lastName = last ? [stageName(last)] : [];
	// Where the chain itself is broken, nobody can say what comes next.
	if (chain.problems.length === 0) compare('current_stage', workflow.currentStage, [...lastName, ...next, 'none']);
	if (status === 'active') {
		if (chain.problems.length > 0) return disagreements;
		if (next.length > 0) compare('next_action', workflow.nextAction, next);
		else compare('status', status, ['complete', 'blocked', 'canceled']);
	} else {
		compare('next_action', workflow.nextAction, [status]);
		if (status === 'complete' && !chain.complete && chain.problems.length === 0) {
			compare('status', status, ['active', 'blocked', 'canceled']);
		}
	}
	return disagreements;
}
