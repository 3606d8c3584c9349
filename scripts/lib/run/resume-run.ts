/** What `resume` may change in a run before it goes on (protocol: Syntax, Plan-code selection precedence). */
import { stopCall } from '../agents/call.ts';
import { moveDraftAside } from './aside.ts';
import { callFolderOf, liveAttempts, writeAttempt } from './attempts.ts';
import { recordEvent } from './ledger.ts';
import { writeRunFile } from './run-file-update.ts';
import { coderOf, type PlanCode, parseStage, plannerOf } from './stages.ts';
import { readRunFile } from './truth.ts';

/** The stored plan-code and verify command stay unless the user passes a replacement. */
export async function resumeRun(
	folder: string,
	changes: { readonly planCode?: PlanCode; readonly verify?: string },
	now: Date,
): Promise<void> {
	const run = await readRunFile(folder);
	const planCode = changes.planCode ?? run.planCode;
	if (planCode !== run.planCode) await dropLiveCalls(folder);
	await writeRunFile(folder, {
		...run,
		planner: plannerOf(planCode),
		coder: coderOf(planCode),
		planCode,
		planCodeSource: changes.planCode === undefined ? 'persisted' : 'explicit',
		...(changes.verify === undefined ? {} : { verify: changes.verify }),
	});
	await recordEvent(folder, { event: 'resume' }, now);
}

/** Calls that the former owner of a stage still works on. */
async function dropLiveCalls(folder: string): Promise<void> {
	for (const attempt of await liveAttempts(folder)) {
		await stopCall(callFolderOf(folder, attempt));
		const stage = attempt.purpose === 'session' ? parseStage(attempt.stage) : undefined;
		if (stage) await moveDraftAside(folder, stage);
		await writeAttempt(folder, { ...attempt, handled: 'owner-changed' });
	}
}
