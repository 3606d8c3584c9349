/** A tool the model asks for: the agent's own shell, a Codex patch, or any tool by its name. */
export type ToolCall = ShellCall | { patch: string } | { name: string; input: Record<string, unknown> };

export interface ShellCall {
	shell: string;
	/** Codex only: asks the user to let the command run outside the sandbox. */
	escalate?: {
		/** The question that the user reads. */
		justification: string;
		/** The first words of the commands that a lasting permission would cover. */
		prefixRule?: readonly string[];
	};
}

/** What the played model does with one request. */
export type Reply =
	| { kind: 'text'; text: string }
	| { kind: 'tools'; calls: readonly ToolCall[]; text?: string }
	| { kind: 'error'; status: number; type?: string; message?: string; retryAfterSeconds?: number }
	/** Never answers; the connection stays open until the client or the test ends it. */
	| { kind: 'hang' }
	/** Sends this text, then drops the connection in the middle of the answer. */
	| { kind: 'cut'; text: string }
	/** A well-formed answer without a message. */
	| { kind: 'empty' };

/** What a script gets to know about one request of an agent. */
export interface Turn {
	/** From the prompt's first line `CCC stage: <stage>`. */
	stage: string | undefined;
	/** The latest user prompt, as the agent sent it. */
	prompt: string;
	/** Codex only: the skill that it put beside the prompt, whole, between `<skill>` and `</skill>`. */
	skill?: string;
	/** Tool results since that prompt; 0 for the first request of a prompt. */
	step: number;
	/** Their texts, oldest first. */
	toolResults: readonly string[];
	/** Names of the tools offered to the model. */
	tools: readonly string[];
	/** Counts the requests that reached this model's script, from 0; retries count too. */
	requestIndex: number;
}

export type Script = (turn: Turn) => Reply | Promise<Reply>;

/** A request as it came in; `turn` is absent for side requests that the script never sees. */
export interface RecordedRequest {
	method: string;
	path: string;
	body: unknown;
	bytes: number;
	turn?: Turn;
}

/** A model that is being played on loopback. */
export interface PlayedModel {
	url: string;
	readonly requests: readonly RecordedRequest[];
	close(): Promise<void>;
}

/** A final answer. */
export function say(text: string): Reply {
	return { kind: 'text', text };
}

/** Asks the agent to run tools. */
export function use(...calls: ToolCall[]): Reply {
	return { kind: 'tools', calls };
}

/** The stage named on the first line of a companion prompt. */
export function stageOf(prompt: string): string | undefined {
	return /^CCC stage: (\S+)\r?(?:\n|$)/.exec(prompt)?.[1];
}
