import type { Agent } from '../../scripts/lib/agents/agent.ts';
import type { Reply } from './models/script.ts';

/** A way in which a model fails, and what a run blocked by it has to say. */
interface PlayedFailure {
	readonly name: string;
	/** The stage whose model fails. */
	readonly stage: 'plan_v0' | 'plan_v0_review' | 'code_v0' | 'review_v0';
	readonly reply: Reply;
	/** Stable code of the failure. */
	readonly code: string;
	/** The reason, mostly in the agent's words. */
	readonly why: Readonly<Record<Agent, RegExp>>;
	/** What the user is advised to do. */
	readonly next: Readonly<Record<Agent, RegExp>>;
	/** The deadline of a call, for a model that never answers. */
	readonly timeoutSeconds?: string;
}

const both = (pattern: RegExp): Readonly<Record<Agent, RegExp>> => ({ claude: pattern, codex: pattern });
const error = (status: number): Reply => ({ kind: 'error', status, message: 'no luck' });

export const FAILURES: readonly PlayedFailure[] = [
	{
		name: 'answers 500',
		stage: 'plan_v0_review',
		reply: error(500),
		code: 'companion-failed',
		why: { claude: /500 no luck/, codex: /high demand/ },
		next: both(/service behind .* failed.* later/),
	},
	{
		name: 'answers 401',
		stage: 'plan_v0',
		reply: error(401),
		code: 'companion-not-logged-in',
		why: both(/401.*no luck/),
		next: {
			claude: /Log in to Claude Code \(run `claude` and type \/login\)/,
			codex: /Log in to Codex.*`codex login`/,
		},
	},
	{
		name: 'answers 429',
		stage: 'code_v0',
		reply: error(429),
		code: 'companion-failed',
		why: { claude: /429.*no luck/, codex: /429 Too Many Requests/ },
		next: both(/limit is reached: wait until it resets/),
	},
	{
		name: 'gives an empty answer',
		stage: 'review_v0',
		reply: { kind: 'empty' },
		code: 'companion-empty',
		why: both(/did not answer\. empty/),
		next: both(/without a final message: resume the run to ask it again/),
	},
	{
		name: 'hangs',
		stage: 'plan_v0',
		reply: { kind: 'hang' },
		code: 'companion-timed-out',
		why: both(/did not answer\. timed-out/),
		next: both(/deadline of 4\.0 s: raise CCC_AGENT_TIMEOUT_SECONDS/),
		timeoutSeconds: '4',
	},
	{
		name: 'always cuts its stream',
		stage: 'review_v0',
		reply: { kind: 'cut', text: '## Summary\n\nHalf of an ans' },
		code: 'companion-failed',
		why: { claude: /Connection to the API was lost/, codex: /stream disconnected/ },
		next: both(/cannot reach its service: check the network/),
	},
];
