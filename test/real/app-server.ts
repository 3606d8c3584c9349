import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { killTree } from '../../scripts/lib/kit/process-tree.ts';

type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access';
type ApprovalPolicy = 'untrusted' | 'on-request' | 'never';

export interface ThreadOptions {
	cwd: string;
	approvalPolicy: ApprovalPolicy;
	sandbox: SandboxMode;
	/** Entries of config.toml by their dotted names, for this thread. */
	config?: Record<string, unknown>;
}

/** What Codex asks before it runs a command outside the sandbox. */
export interface CommandApproval {
	itemId: string;
	/** As it will run, shell included: `/bin/bash -lc '...'`. */
	command: string;
	cwd: string;
	reason?: string | null;
	/** The words that would be allowed from now on, where Codex has such a rule to propose. */
	proposedExecpolicyAmendment?: string[] | null;
	availableDecisions?: unknown[];
}

export type Decision =
	| 'accept'
	| 'acceptForSession'
	| { acceptWithExecpolicyAmendment: { execpolicy_amendment: string[] } }
	| 'decline'
	| 'cancel';

/** One thing that happened in a turn; only what the tests look at is named. */
interface Item {
	type: string;
	id: string;
	/** Of an `agentMessage`. */
	text?: string;
	/** Of a `commandExecution`. */
	command?: string;
	aggregatedOutput?: string | null;
	exitCode?: number | null;
	status?: string;
	[other: string]: unknown;
}

export interface TurnResult {
	id: string;
	status: 'completed' | 'interrupted' | 'failed';
	/** Why it failed. */
	error: string | undefined;
	/** Completed items, in order. */
	items: Item[];
	/** Every approval that was asked for, in order, with what was answered. */
	approvals: { asked: CommandApproval; decision: Decision }[];
}

interface TurnOptions {
	/** Answers each request to approve a command; without it every one is declined. */
	approve?: (asked: CommandApproval) => Decision | Promise<Decision>;
	/** After this the server is killed and the turn rejects; default 60 s. */
	timeoutMs?: number;
}

/** A `codex app-server`, as an editor drives it: threads that live on disk, turns, and questions to the user. */
export interface AppServer {
	/** Returns the id of a new thread. */
	startThread(options: ThreadOptions): Promise<string>;
	/** Loads a thread of an earlier server; it keeps its sandbox and approval policy. */
	resumeThread(threadId: string): Promise<void>;
	/** Sends the user's words and waits for the end of the turn. Rejects when the server ends before it. */
	runTurn(threadId: string, text: string, options?: TurnOptions): Promise<TurnResult>;
	/** Closes its input, as an editor does that is closed, and ends what is left of its process tree. */
	close(): Promise<void>;
	/** Ends it like a crash, with the commands it runs; what left its tree (a detached process) lives on. */
	kill(): Promise<void>;
}

interface Message {
	id?: number;
	method?: string;
	params?: Record<string, unknown>;
	result?: unknown;
	error?: { code: number; message: string };
}

interface Waiting {
	resolve: (result: unknown) => void;
	reject: (error: Error) => void;
}

interface RunningTurn extends Waiting {
	approve: NonNullable<TurnOptions['approve']>;
	items: Item[];
	approvals: TurnResult['approvals'];
}

/** How long one request (not a turn) may take. */
const REQUEST_MS = 30_000;

/**
 * Starts and initializes a server in this environment, which is all it gets.
 * @throws Error with the server's last words when it ends, or does not answer in time
 */
export async function startAppServer(
	env: Record<string, string>,
	options: { cwd: string; args?: readonly string[] },
): Promise<AppServer> {
	const child = spawn('codex', ['app-server', ...(options.args ?? [])], {
		cwd: options.cwd,
		env,
		detached: true,
		stdio: ['pipe', 'pipe', 'pipe'],
	});
	const connection = connect(child);
	await connection.request('initialize', { clientInfo: { name: 'ccc-tests', title: null, version: '0' } });
	connection.send({ method: 'initialized' });
	return {
		async startThread({ cwd, approvalPolicy, sandbox, config }) {
			const params = { cwd, approvalPolicy, sandbox, ...(config ? { config } : {}) };
			const started = (await connection.request('thread/start', params)) as { thread: { id: string } };
			return started.thread.id;
		},
		async resumeThread(threadId) {
			await connection.request('thread/resume', { threadId });
		},
		runTurn: (threadId, text, turnOptions = {}) => connection.runTurn(threadId, text, turnOptions),
		async close() {
			child.stdin.end();
			await Promise.race([connection.ended, delay(2000, undefined, { ref: false })]);
			await endTree(child, 2000);
		},
		kill: () => endTree(child, 0),
	};
}

async function endTree(child: ChildProcess, graceMs: number): Promise<void> {
	if (child.pid !== undefined) await killTree({ pid: child.pid, graceMs });
}

/** The messages of one server: requests and their answers by id, and the turns that run by thread. */
function connect(child: ChildProcess & { stdin: NonNullable<ChildProcess['stdin']> }) {
	const waiting = new Map<number, Waiting>();
	const turns = new Map<string, RunningTurn>();
	let lastId = 0;
	let lastWords = '';
	child.stderr?.setEncoding('utf8').on('data', (text: string) => {
		lastWords = (lastWords + text).slice(-4000);
	});
	child.stdin.on('error', () => undefined);

	const failAll = (reason: string) => {
		const error = new Error(`codex app-server ${reason}\n${lastWords}`);
		for (const { reject } of [...waiting.values(), ...turns.values()]) reject(error);
		waiting.clear();
		turns.clear();
	};
	child.once('error', (error) => failAll(`did not start: ${error.message}`));
	const ended = once(child, 'close').then(
		() => failAll(`ended with ${child.exitCode ?? child.signalCode}`),
		() => undefined,
	);

	const send = (message: object) => {
		child.stdin.write(`${JSON.stringify(message)}\n`);
	};
	const request = (method: string, params: object): Promise<unknown> => {
		if (child.exitCode !== null || child.signalCode !== null) {
			return Promise.reject(new Error(`codex app-server has ended; ${method} was not sent\n${lastWords}`));
		}
		lastId += 1;
		const id = lastId;
		const answered = new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
		send({ id, method, params });
		return before(REQUEST_MS, method, answered);
	};
	const before = async <T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> => {
		const stop = new AbortController();
		const deadline = delay(timeoutMs, undefined, { signal: stop.signal }).then(async () => {
			failAll(`did not come to the end of ${what} within ${timeoutMs} ms`);
			await endTree(child, 0);
			return promise;
		});
		try {
			return await Promise.race([promise, deadline]);
		} finally {
			stop.abort();
			deadline.catch(() => undefined);
		}
	};

	/** Answers the server's own requests; whatever is not a question about a command is refused. */
	const answer = async (id: number, method: string, params: Record<string, unknown>) => {
		const turn = turns.get(String(params.threadId));
		if (method !== 'item/commandExecution/requestApproval' || turn === undefined) {
			send({ id, error: { code: -32601, message: `the tests do not answer ${method}` } });
			turn?.reject(new Error(`unexpected request of codex app-server: ${method} ${JSON.stringify(params)}`));
			return;
		}
		const asked = params as unknown as CommandApproval;
		const decision = await turn.approve(asked);
		turn.approvals.push({ asked, decision });
		send({ id, result: { decision } });
	};
	const notified = (method: string, params: Record<string, unknown>) => {
		const threadId = String(params.threadId);
		const turn = turns.get(threadId);
		if (method === 'item/completed') turn?.items.push(params.item as Item);
		if (method === 'turn/completed' && turn) {
			turns.delete(threadId);
			turn.resolve(params.turn);
		}
	};
	createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
		const { id, method, params = {}, result, error } = JSON.parse(line) as Message;
		if (id !== undefined && method !== undefined) {
			answer(id, method, params).catch((reason) => turns.get(String(params.threadId))?.reject(reason));
		} else if (method !== undefined) notified(method, params);
		else if (id !== undefined) {
			const asker = waiting.get(id);
			waiting.delete(id);
			if (error) asker?.reject(new Error(`codex app-server: ${error.message} (${error.code})`));
			else asker?.resolve(result);
		}
	});

	const runTurn = async (threadId: string, text: string, options: TurnOptions): Promise<TurnResult> => {
		const items: Item[] = [];
		const approvals: TurnResult['approvals'] = [];
		const approve = options.approve ?? (() => 'decline');
		const done = new Promise<unknown>((resolve, reject) => {
			turns.set(threadId, { resolve, reject, approve, items, approvals });
		});
		// It may be rejected while turn/start is still unanswered.
		done.catch(() => undefined);
		await request('turn/start', { threadId, input: [{ type: 'text', text, text_elements: [] }] });
		const turn = (await before(options.timeoutMs ?? 60_000, 'the turn', done)) as {
			id: string;
			status: TurnResult['status'];
			error: { message: string } | null;
		};
		return { id: turn.id, status: turn.status, error: turn.error?.message, items, approvals };
	};
	return { send, request, runTurn, ended };
}
