/** Whether a CLI is there, knows the options we use, and is logged in (protocol: Agents). */
import { type ProcessResult, runProcess } from '../kit/run-process.ts';
import type { Agent } from './agent.ts';
import { callMarker, newCallId } from './call-folder.ts';
import type { AgentConfig } from './config.ts';
import { companionEnvironment } from './environment.ts';
import { loginStep, sandboxStep, variable } from './failure-signs.ts';
import { lastWords } from './last-words.ts';
import { findSandbox } from './sandbox.ts';

export interface AgentCheck {
	agent: Agent;
	/** The CLI runs and knows every option we use. Codex need not be logged in: with a provider of its own it never is. */
	ok: boolean;
	bin: string;
	version?: string;
	missingFlags: string[];
	login: 'yes' | 'no' | 'unknown';
	problem?: string;
	next?: string;
}

const DEADLINE_MS = 15_000;

const FLAGS = {
	claude: [
		'--print',
		'--output-format',
		'--no-session-persistence',
		'--tools',
		'--disallowedTools',
		'--permission-mode',
		'--allowedTools',
		'--model',
	],
	codex: ['--sandbox', '--color', '--output-last-message', '--model'],
} as const satisfies Record<Agent, readonly string[]>;

const HELP = { claude: ['--help'], codex: ['exec', '--help'] } as const;
const LOGIN = { claude: ['auth', 'status'], codex: ['login', 'status'] } as const;

/**
 * Asks the CLI itself, without any call to a model. No credential is read: the login is what `claude auth status` and
 * `codex login status` answer, `unknown` when they answer nothing we know. Never throws for what the CLI does.
 */
export async function checkAgent(
	agent: Agent,
	config: AgentConfig,
	env: Record<string, string | undefined>,
): Promise<AgentCheck> {
	const bin = agent === 'claude' ? config.claudeBin : config.codexBin;
	const ask = (args: readonly string[]): Promise<ProcessResult> => {
		const marker = callMarker(newCallId());
		const environment = companionEnvironment(env, { [marker.name]: marker.value }, agent);
		return runProcess({
			argv: [bin, ...args],
			cwd: '/',
			env: environment,
			timeoutMs: DEADLINE_MS,
			marker: marker.entry,
		});
	};
	const [version, help, login] = await Promise.all([ask(['--version']), ask(HELP[agent]), ask(LOGIN[agent])]);
	const base = { agent, bin, missingFlags: [] as string[], login: 'unknown' as const };

	if (version.spawnError !== undefined) {
		const problem = `${JSON.stringify(bin)} could not be started: ${version.spawnError}`;
		return { ...base, ok: false, problem, next: `Install ${agent}, or set ${variable(agent, 'BIN')} to its path.` };
	}
	if (!succeeded(version) || !succeeded(help)) {
		const asked = succeeded(version) ? [bin, ...HELP[agent]] : [bin, '--version'];
		const problem = `\`${asked.join(' ')}\` ${howItFailed(succeeded(version) ? help : version)}`;
		return { ...base, ok: false, problem, next: `Check that ${variable(agent, 'BIN')} names the ${agent} CLI.` };
	}

	const known = { ...base, version: lastWords(version.stdout), login: loginOf(agent, login) };
	const missingFlags = FLAGS[agent].filter((flag) => !lists(help.stdout, flag));
	if (missingFlags.length > 0) {
		const problem = `this version does not list ${missingFlags.join(', ')}`;
		return { ...known, ok: false, missingFlags, problem, next: `Update ${agent}.` };
	}
	const sandbox = await findSandbox(env);
	if (sandbox)
		return { ...known, ok: false, problem: `inside the sandbox of ${sandbox.name}`, next: sandboxStep(agent) };
	if (known.login === 'no')
		return { ...known, ok: agent === 'codex', problem: 'not logged in', next: loginStep(agent) };
	return { ...known, ok: true };
}

const succeeded = (result: ProcessResult): boolean =>
	result.spawnError === undefined && !result.timedOut && result.exitCode === 0;

function howItFailed(result: ProcessResult): string {
	if (result.timedOut) return `did not end within ${DEADLINE_MS / 1000} s`;
	const said = lastWords(result.stderr.trim() === '' ? result.stdout : result.stderr);
	return `ended with ${result.signal ?? `exit code ${result.exitCode}`}${said === '' ? '' : `: ${said}`}`;
}

/** `--tools` must not be found in `--tools-file`, nor `--print` in prose like `--printing`. */
function lists(help: string, flag: string): boolean {
	return new RegExp(`(?<![\\w-])${flag}(?![\\w-])`).test(help);
}

function loginOf(agent: Agent, result: ProcessResult): AgentCheck['login'] {
	if (result.spawnError !== undefined || result.timedOut) return 'unknown';
	const said = `${result.stdout}\n${result.stderr}`;
	if (agent === 'claude') {
		if (/"loggedIn"\s*:\s*true/.test(said)) return 'yes';
		if (/"loggedIn"\s*:\s*false/.test(said)) return 'no';
	}
	if (/not logged in/i.test(said)) return 'no';
	return result.exitCode === 0 && /logged in/i.test(said) ? 'yes' : 'unknown';
}
