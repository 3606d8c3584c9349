/** What a code reviewer sees of the repository, with the result of the verify command on exactly that state of it. */
import { companionEnvironment } from '../agents/environment.ts';
import { type ReviewSurface, readReviewSurface } from '../git/review-surface.ts';
import type { Coordinator } from './coordinator.ts';
import { recordEvent } from './ledger.ts';
import { type Stage, stageName } from './stages.ts';
import type { RunState } from './truth.ts';
import {
	describeVerifyResult,
	keepVerifyResult,
	readVerifyResult,
	runVerifyCommand,
	type VerifyResult,
} from './verify-command.ts';

/**
 * Runs the verify command, where the run has one and no result of it for the code as it is now.
 * @param code the code stage under review
 * @throws CccError `verify-unavailable` (exit 3), the errors of the git room, and the abort reason
 */
export async function verifiedSurface(
	by: Coordinator,
	state: RunState,
	code: Stage,
): Promise<{ surface: ReviewSurface; verification?: string }> {
	const { folder, relative, repository } = by.place;
	const read = (): Promise<ReviewSurface> =>
		readReviewSurface(repository, state.run.baseline, { exclude: [relative], budgetBytes: by.diffBudget });
	const surface = await read();
	const { verify: command } = state.run;
	if (command === undefined) return { surface };
	const known = await readVerifyResult(folder, code);
	if (known?.command === command && known.surfaceSha256 === surface.sha256) {
		return { surface, verification: describeVerifyResult(known) };
	}
	const result = await verify(by, command, code);
	// The command may have written files of its own.
	const after = await read();
	await keepVerifyResult(folder, code, { ...result, surfaceSha256: after.sha256 });
	return { surface: after, verification: describeVerifyResult(result) };
}

async function verify(by: Coordinator, command: string, code: Stage): Promise<VerifyResult> {
	const result = await runVerifyCommand(by.place.folder, {
		command,
		root: by.place.repository.root,
		env: companionEnvironment(by.env, {}),
		timeoutMs: by.agents.timeoutMs,
		signal: by.signal,
	});
	by.signal.throwIfAborted();
	const { timedOut, exitCode, durationMs } = result;
	by.report({ kind: 'verified', stage: stageName(code), command, timedOut, exitCode, durationMs });
	await recordEvent(
		by.place.folder,
		{ event: 'verify', stage: stageName(code), owner: 'coordinator', durationMs, result: String(exitCode) },
		by.now(),
	);
	return result;
}
