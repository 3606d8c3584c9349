import { detectSession } from '../lib/agents/session.ts';
import { parseRunArguments, type RunArguments } from '../lib/run/arguments.ts';
import { beginSession } from '../lib/run/begin-session.ts';
import { splitRawArguments } from '../lib/run/raw-arguments.ts';
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
	const { options, env, words } = invocation;
	const session = options.session === undefined ? detectSession(env) : oneOf(options.session, SESSIONS);
	const kind = options.stage === undefined ? undefined : STAGE_KINDS[oneOf(options.stage, Object.keys(STAGE_KINDS))];
	const args = words.length > 0 ? parseRunArguments(words) : readArguments(await input(), kind);
	if (args.kind === 'cancel') return cancel({ ...invocation, words: [args.folder, args.reason] });
	return inSession(args.folder, invocation, () =>
		beginSession(args, session, callerOf(invocation), surroundingsOf(invocation), kind),
	);
}

const input = (): Promise<string> => readStdin('What to begin');

/** @throws CccError (exit 2); a stage skill takes the folder of a run that exists, and never starts or cancels one */
function readArguments(text: string, kind: StageKind | undefined): RunArguments {
	const isWhole = kind === undefined || /^\s*resume\s/.test(text);
	return parseRunArguments(splitRawArguments(isWhole ? text : `resume ${text.trim()}`));
}
