import { findSandbox } from '../lib/agents/sandbox.ts';
import { detectSession } from '../lib/agents/session.ts';
import { formatDuration } from '../lib/kit/duration.ts';
import { CccError, EXIT } from '../lib/kit/errors.ts';
import { callStage, type StillRunning } from '../lib/run/call-stage.ts';
import type { Invocation } from './invocation.ts';
import { printJson, printText } from './print.ts';
import { callerOf, coordinatorArgv, inSession, shownFolder, surroundingsOf } from './session.ts';
import { takeWords } from './words.ts';

/** Claude Code's shell tool waits ten minutes when it is told to; Codex looks in on a command every so often. */
const WAIT_SECONDS = { claude: 540, codex: 90, unknown: 90 };
const MAX_WAIT_SECONDS = 3600;

export async function call(invocation: Invocation): Promise<number> {
	const { cwd, env, json, pack, options } = invocation;
	const [given = ''] = takeWords(invocation.words, ['<folder>']);
	const shown = shownFolder(given, cwd);
	const waitMs = 1000 * (readWait(options.wait) ?? WAIT_SECONDS[detectSession(env)]);
	const result = { running: undefined as StillRunning | undefined };
	const code = await inSession(shown, invocation, async () => {
		const ended = await callStage({
			shown,
			caller: callerOf(invocation),
			sandbox: await findSandbox(env),
			waitMs,
			coordinatorArgv: coordinatorArgv(pack),
			context: surroundingsOf(invocation),
		});
		if ('packet' in ended) return ended;
		result.running = ended;
		return undefined;
	});
	if (result.running) printRunning(result.running, json);
	return code;
}

function printRunning({ stage, owner, elapsedMs }: StillRunning, json: boolean): void {
	if (json) printJson({ still_running: true, stage, owner, elapsed_ms: elapsedMs, exit_code: EXIT.ok });
	else printText(`${stage}: ${owner} is still running (${formatDuration(elapsedMs)}). Run the same command again.`);
}

function readWait(text: string | undefined): number | undefined {
	if (text === undefined) return undefined;
	const seconds = /^(?:0|[1-9][0-9]{0,3})$/.test(text) ? Number(text) : Number.NaN;
	if (seconds <= MAX_WAIT_SECONDS) return seconds;
	throw new CccError('bad-wait', 'This is no time to wait.', {
		at: '--wait',
		expected: `whole seconds from 0 to ${MAX_WAIT_SECONDS}`,
		found: text,
		exitCode: EXIT.usage,
	});
}
