/** `begin`: starts or resumes a run for the session that calls, and takes it to the first packet. */
import type { SessionDetected } from '../agents/session.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { quoteWord } from '../kit/words.ts';
import { advance } from './advance.ts';
import { clearCallRecord } from './call-record.ts';
import type { Caller } from './caller.ts';
import { findCccHome, readPromptTemplates } from './ccc-home.ts';
import { confirmResumable } from './confirm-resumable.ts';
import { coordinatorOf, type Surroundings } from './coordinator.ts';
import { type Driver, readDriver, takeOver, writeDriver } from './driver.ts';
import { withRunLock } from './locked-run.ts';
import { newRun, type WorkArguments } from './new-run.ts';
import { resumeRun } from './resume-run.ts';
import { openRun, type RunPlace } from './run-folder.ts';
import { onlyStage, outputOf, type SessionOutput } from './session-output.ts';
import { currentOutput } from './session-run.ts';
import { isStageUnderWay } from './stage-coordinator.ts';
import type { StageKind } from './stages.ts';
import { nextStep } from './transitions.ts';
import { type RunState, readRunState } from './truth.ts';
import { lastDoneName, turnOf } from './turn.ts';

/** Packets name the folder three times and the command once, have 2,000 bytes, and need 700 for all else. */
const PATHS_MAX_BYTES = 1290;
/** Line ends would begin a line of a packet; the others are not shown as they are, or not at all. */
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * @param session whose stages are done here; `unknown` has every stage done by a CLI
 * @param only for a stage skill: where another kind of stage is due, the output says so and nothing is changed
 * @throws CccError as `ccc run` for the same arguments, `path-too-long` and `bad-folder` (exit 2); nothing is created then
 */
export async function beginSession(
	args: WorkArguments,
	session: SessionDetected,
	caller: Caller,
	context: Surroundings,
	only?: StageKind,
): Promise<SessionOutput> {
	const home = await findCccHome(context.env.CCC_HOME, context.pack);
	const templates = await readPromptTemplates(home);
	const place =
		args.kind === 'start'
			? await newRun(args, home, context, (found) => confirmSpeakable(found, caller))
			: await openRun(args.folder, context.cwd, context.env);
	const { folder } = place;
	confirmSpeakable(place, caller);
	if (args.kind === 'resume' && (await isStageUnderWay(folder)))
		return joinStage(place, args, session, caller, context, only);
	return withRunLock(folder, 'begin', context.now, async (lock) => {
		if (args.kind === 'resume') await confirmResumable(folder);
		const state = await readRunState(folder);
		const driver = driverOf(state, args, session, caller, context.now(), only);
		const step = nextStep(state, args.mode);
		if (only !== undefined && (step.kind !== 'stage' || step.stage.kind !== only)) {
			const facts = { folder, shown: place.shown, state, driver, caller };
			return onlyStage(await outputOf(await turnOf(folder, state, driver), facts), only);
		}
		if (args.kind === 'resume') await resumeRun(folder, args, context.now());
		await writeDriver(folder, driver);
		// Whoever resumes wants it tried again.
		await clearCallRecord(folder);
		return advance(coordinatorOf({ place, lock, mode: args.mode, templates }, context), driver, caller);
	});
}

function driverOf(
	state: RunState,
	{ mode }: WorkArguments,
	session: SessionDetected,
	{ sessionId }: Caller,
	now: Date,
	only: StageKind | undefined,
): Driver {
	return {
		session,
		...(sessionId === undefined ? {} : { sessionId }),
		mode,
		approved: lastDoneName(state),
		...(only === undefined ? {} : { only }),
		since: now.toISOString(),
	};
}

/**
 * The companion that an earlier session set to work goes on, and keeps the run's lock: this session waits for it.
 * @throws CccError `locked` (exit 4) for changes that only the holder of the lock may make
 */
async function joinStage(
	{ folder, shown }: RunPlace,
	args: Extract<WorkArguments, { kind: 'resume' }>,
	session: SessionDetected,
	caller: Caller,
	{ now }: Surroundings,
	only: StageKind | undefined,
): Promise<SessionOutput> {
	const laxer = args.mode === 'auto' && (await readDriver(folder))?.mode !== 'auto';
	if (args.planCode !== undefined || args.verify !== undefined || laxer) {
		throw new CccError('locked', 'A companion is at work for this run.', {
			at: shown,
			found: 'options that would change the run',
			next: `resume without options and wait for it, or end the run: ccc cancel ${quoteWord(shown)} "<reason>"`,
			exitCode: EXIT.otherCoordinator,
		});
	}
	await takeOver(folder, driverOf(await readRunState(folder), args, session, caller, now(), only));
	return currentOutput(folder, shown, caller);
}

/** The folder has to stand in a packet: in one piece, unchanged, and with room for the rest. */
function confirmSpeakable({ folder, shown }: RunPlace, { command }: Caller): void {
	const refuse = (code: string, message: string, expected: string, found: string): CccError =>
		new CccError(code, message, { at: shown, expected, found, exitCode: EXIT.usage });
	const hidden = UNSHOWABLE.exec(`${folder}${command}`)?.[0];
	if (hidden !== undefined) {
		const name = `U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
		throw refuse(
			'bad-folder',
			'The path of the output folder, or of the skill, cannot be shown.',
			'a path without line ends, control characters and invisible characters',
			`${name} in ${JSON.stringify(UNSHOWABLE.test(folder) ? folder : command)}`,
		);
	}
	const quoted = Buffer.byteLength(quoteWord(folder));
	const room = Math.floor((PATHS_MAX_BYTES - Buffer.byteLength(command)) / 3);
	if (quoted <= room) return;
	throw refuse(
		'path-too-long',
		'The path of the output folder is too long for a session.',
		`at most ${Math.max(0, room)} bytes, quoted for a shell`,
		`${quoted} bytes`,
	);
}
