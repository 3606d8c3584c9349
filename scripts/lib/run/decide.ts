/** `decide`: what a human says about the last review; its verdict stays as it is (issue: Engine). */
import { CccError, EXIT } from '../kit/errors.ts';
import { recordDecision } from './decisions.ts';
import { recordEvent } from './ledger.ts';
import { withRunLock } from './locked-run.ts';
import { updateRunFile } from './run-file-update.ts';
import { changedReport, type RunReport } from './run-report.ts';
import { halfOf, isReview, type Stage, stageName } from './stages.ts';
import { decisionOn, lastDone, nextStep } from './transitions.ts';
import { type RunState, readRunState } from './truth.ts';
import { approves } from './verdicts.ts';

export interface DecideOptions {
	readonly folder: string;
	readonly shown: string;
	readonly decision: 'accept' | 'revise';
	readonly reason: string;
	readonly now: () => Date;
}

const LAST_VERSION = 99;

/**
 * `accept` lets the run advance past the last review; `revise` asks for another version, with the reason in its prompt,
 * and raises the rounds in run.md where no version was left.
 * @throws CccError `nothing-to-decide`, `rounds-limit` (exit 2), `locked` (exit 4)
 */
export async function decide(options: DecideOptions): Promise<RunReport> {
	const { folder, shown, decision, reason, now } = options;
	return withRunLock(folder, `decide ${decision}`, now, async () => {
		await recordChoice(folder, { decision, reason }, now());
		const after = await readRunState(folder);
		const step = nextStep(after, 'normal');
		const run = await updateRunFile(folder, after, step);
		return changedReport(shown, { ...after, run }, step);
	});
}

/** Records a decision about the last review; the caller holds the run's lock. @throws CccError as `decide` */
export async function recordChoice(
	folder: string,
	{ decision, reason }: Pick<DecideOptions, 'decision' | 'reason'>,
	now: Date,
): Promise<void> {
	const review = reviewToDecide(await readRunState(folder), decision);
	await recordDecision(folder, { decision, stage: review, reason, time: now.toISOString() });
	await recordEvent(
		folder,
		{ event: 'decide', stage: stageName(review), owner: 'user', result: decision, reason },
		now,
	);
}

function reviewToDecide(state: RunState, decision: 'accept' | 'revise'): Stage {
	const last = lastDone(state.done);
	const nothing = (found: string): CccError =>
		new CccError('nothing-to-decide', `There is nothing to ${decision}.`, {
			expected: 'a review as the last stage done',
			found,
			exitCode: EXIT.usage,
		});
	if (nextStep(state, 'normal').kind === 'canceled') throw nothing('a canceled run');
	if (!last || !isReview(last)) throw nothing(last ? stageName(last) : 'no stage done yet');
	const verdict = state.verdicts.get(stageName(last));
	const passed = (verdict !== undefined && approves(verdict)) || decisionOn(last, state.decisions) === 'accept';
	if (decision === 'accept' && passed) throw nothing(`${stageName(last)} lets the run advance already`);
	if (decision === 'revise' && last.version >= LAST_VERSION) {
		throw new CccError('rounds-limit', `There are no versions after ${LAST_VERSION}.`, {
			at: halfOf(last) === 'plan' ? 'plan_rounds' : 'revision_rounds',
			exitCode: EXIT.usage,
		});
	}
	return last;
}
