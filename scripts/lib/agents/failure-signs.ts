/** The errors of the two CLIs that have a cause the user can do something about, in the order in which they are tried. */
import type { Agent } from './agent.ts';
import type { OutcomeKind } from './outcome.ts';

interface FailureSign {
	readonly kind: Extract<OutcomeKind, 'not-logged-in' | 'sandboxed' | 'failed'>;
	readonly pattern: RegExp;
	readonly next: (agent: Agent) => string;
}

const NAMES = { claude: 'Claude Code', codex: 'Codex' } as const;
const LOGIN = { claude: 'run `claude` and type /login', codex: 'run `codex login`' } as const;

export const loginStep = (agent: Agent): string =>
	`Log in to ${NAMES[agent]} (${LOGIN[agent]}), or provide the key its configuration asks for; then resume the run.`;

export const sandboxStep = (agent: Agent): string =>
	`${NAMES[agent]} cannot reach its model from inside this sandbox: run the same command outside it, then resume the run.`;

export const variable = (agent: Agent, name: 'BIN' | 'MODEL' | 'ARGS'): string => `CCC_${agent.toUpperCase()}_${name}`;

/** Codex's refusal outside a repository comes first: it is no login problem, although it speaks of trust. */
const SIGNS: readonly FailureSign[] = [
	{
		kind: 'failed',
		pattern: /not inside a trusted directory/i,
		next: () => 'Codex works only inside a Git repository: check that the run starts in one that `git status` accepts.',
	},
	{
		kind: 'sandboxed',
		pattern:
			/\bEPERM\b|operation not permitted|FailedToOpenSocket|in-process app-server client: Read-only file system/i,
		next: sandboxStep,
	},
	{
		kind: 'failed',
		pattern:
			/usage.?limit|rate.?limit|\b429\b|too many requests|insufficient_quota|quota exceeded|limit reached|credit balance/i,
		next: (agent) =>
			`${NAMES[agent]}'s usage or rate limit is reached: wait until it resets, or resume with another plan-code.`,
	},
	{
		kind: 'failed',
		pattern: /overloaded|high demand|\b529\b|\b50[0-4]\b|internal server error|service unavailable/i,
		next: (agent) => `The service behind ${NAMES[agent]} failed: resume the run a little later.`,
	},
	{
		kind: 'not-logged-in',
		pattern:
			/not logged in|failed to authenticate|\/login\b|codex login|\b401\b|unauthorized|invalid api key|authentication_error|missing environment variable/i,
		next: loginStep,
	},
	{
		kind: 'failed',
		pattern: /input_too_large|context.?(?:length|window)|prompt is too long|exceeds 10 ?MB/i,
		next: () => 'The prompt is too long for the model: narrow the task or reduce the diff, then resume.',
	},
	{
		kind: 'failed',
		pattern: /selected model|model[^\n]{0,80}(?:not found|does not exist|not supported)|unknown model/i,
		next: (agent) => `Name a model your account has in ${variable(agent, 'MODEL')}, or unset it.`,
	},
	{
		kind: 'failed',
		pattern: /unknown option|unexpected argument|invalid value|required option|cannot be used with/i,
		next: (agent) =>
			`${NAMES[agent]} refused its command line: look at ${variable(agent, 'ARGS')} and run \`ccc check-agent ${agent}\`.`,
	},
	{
		kind: 'failed',
		pattern:
			/unable to connect|connection ?refused|connection[^\n]{0,40}\blost\b|stream disconnected|error sending request|ENOTFOUND|ETIMEDOUT|ECONNRESET/i,
		next: (agent) => `${NAMES[agent]} cannot reach its service: check the network and proxy settings, then resume.`,
	},
];

/** What an error text means and what to do about it, or undefined when it tells nothing we know. */
export function readFailure(agent: Agent, text: string): { kind: FailureSign['kind']; nextStep: string } | undefined {
	const sign = SIGNS.find(({ pattern }) => pattern.test(text));
	return sign && { kind: sign.kind, nextStep: sign.next(agent) };
}
