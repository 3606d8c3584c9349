/** The arguments of a start become a run, whoever will coordinate it. */
import { detectSession } from '../agents/session.ts';
import { type RunArguments, selectPlanCode } from './arguments.ts';
import type { Surroundings } from './coordinator.ts';
import { placeNewRun, type RunPlace } from './run-folder.ts';
import { startRun } from './start-run.ts';

export type WorkArguments = Exclude<RunArguments, { kind: 'cancel' }>;

/** @param confirm refuses a place before anything is created there */
export async function newRun(
	args: Extract<RunArguments, { kind: 'start' }>,
	home: string,
	{ cwd, env, settings, now, report }: Surroundings,
	confirm: (place: RunPlace) => void = () => {},
): Promise<RunPlace> {
	const place = await placeNewRun(args.folder, cwd, env);
	confirm(place);
	const { planCode, source } = selectPlanCode(args.planCode, settings.planCode);
	const verify = args.verify ?? settings.verify;
	const { changes } = await startRun(place, {
		task: args.task,
		rounds: args.rounds,
		planCode,
		planCodeSource: source,
		sessionDetected: detectSession(env),
		cccHome: home,
		...(verify === undefined ? {} : { verify }),
		now: now(),
	});
	if (changes > 0) {
		const what = changes === 1 ? '1 file' : `${changes} files`;
		report({ kind: 'warning', text: `${what} had changes before this run: they will be part of what is reviewed` });
	}
	return place;
}
