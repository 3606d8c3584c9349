import { detectSession } from '../lib/agents/session.ts';
import { parseRunArguments, type RunArguments } from '../lib/run/arguments.ts';
import { beginSession } from '../lib/run/begin-session.ts';
import { splitRawArguments } from '../lib/run/raw-arguments.ts';
import { existingRunFolder } from '../lib/run/run-folder.ts';
import { onlyStage } from '../lib/run/session-output.ts';
import type { StageKind } from '../lib/run/stages.ts';
import { cancel } from './cancel.ts';
import type { Invocation } from './invocation.ts';
import { callerOf, inSession, readStdin, surroundingsOf } from './session.ts';
import { oneOf } from './words.ts';

const SESSIONS = ['claude', 'codex'] as const;
/** By the name of the stage's skill. */
const STAGE_KINDS: Readonly<Record<string, StageKind>> = {
	plan: 'plan',
	'plan-review': 'plan_review',
	code: 'code',
	'code-review': 'review',
};

/** `ccc begin`: the words of a slash command, from standard input where there are none on the command line. */
export async function begin(invocation: Invocation): Promise<number> {
	const { options, cwd, env, words } = invocation;
	const session = options.session === undefined ? detectSession(env) : oneOf(options.session, SESSIONS);
	const kind = options.stage === undefined ? undefined : STAGE_KINDS[oneOf(options.stage, Object.keys(STAGE_KINDS))];
	const args = words.length > 0 ? parseRunArguments(words) : await readArguments(await input(), kind, cwd);
	if (args.kind === 'cancel') return cancel({ ...invocation, words: [args.folder, args.reason] });
	return inSession(args.folder, invocation, async () => {
		const caller = callerOf(invocation);
		const output = await beginSession(args, session, caller, surroundingsOf(invocation));
		return kind === undefined ? output : onlyStage(output, kind);
	});
}

const input = (): Promise<string> => readStdin('What to begin');

/** A stage skill is given the folder of a run that exists, and nothing else that matters. */
async function readArguments(text: string, kind: StageKind | undefined, cwd: string): Promise<RunArguments> {
	const asResume = kind === undefined ? undefined : resumeOf(text);
	const exists = asResume && (await existingRunFolder(asResume.folder, cwd).catch(() => undefined));
	return exists === undefined ? parseRunArguments(splitRawArguments(text)) : (asResume as RunArguments);
}

function resumeOf(text: string): RunArguments | undefined {
	try {
		return parseRunArguments(splitRawArguments(`resume ${text.trim()}`));
	} catch {
		return undefined;
	}
}
