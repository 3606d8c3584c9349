/** A decision that the session's user took: recorded as from the command line, then the run goes on. */
import { advance } from './advance.ts';
import type { Caller } from './caller.ts';
import type { Surroundings } from './coordinator.ts';
import { recordChoice } from './decide.ts';
import { writeDriver } from './driver.ts';
import type { SessionOutput } from './session-output.ts';
import { asDriver } from './session-run.ts';
import { readRunState } from './truth.ts';
import { lastDoneName } from './turn.ts';

/** @throws CccError `nothing-to-decide`, `rounds-limit` (exit 2), `other-coordinator`, `locked` (exit 4) */
export function decideInSession(
	shown: string,
	choice: { readonly decision: 'accept' | 'revise'; readonly reason: string },
	caller: Caller,
	context: Surroundings,
): Promise<SessionOutput> {
	return asDriver(shown, `decide ${choice.decision}`, caller, context, async (by, driver) => {
		const { folder } = by.place;
		await recordChoice(folder, choice, context.now());
		// Whoever decides about a review has approved that it is done.
		const approving = { ...driver, approved: lastDoneName(await readRunState(folder)) };
		await writeDriver(folder, approving);
		return advance(by, approving, caller);
	});
}
