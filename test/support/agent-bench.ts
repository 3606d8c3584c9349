import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type StartCallOptions, startCall } from '../../scripts/lib/agents/call.ts';
import { type CallResult, readResult } from '../../scripts/lib/agents/call-folder.ts';
import { readAgentConfig } from '../../scripts/lib/agents/config.ts';
import { superviseCall } from '../../scripts/lib/agents/supervise.ts';
import { killTree, listTree } from '../../scripts/lib/kit/process-tree.ts';

const FIXTURES = path.resolve(import.meta.dirname, '../fixtures');
const SUPERVISOR = [process.execPath, path.join(FIXTURES, 'supervise.mjs')] as const;
export const COORDINATOR = path.join(FIXTURES, 'coordinate.mjs');

/** Helpers a fake CLI may use: `prompt()` reads stdin to its end, `outFile` is Codex's -o, `log(x)` notes JSON beside it. */
const PRELUDE = `#!${process.execPath}
const fs = require('node:fs');
const { spawn } = require('node:child_process');
const argv = process.argv.slice(2);
const outFile = argv[argv.indexOf('--output-last-message') + 1];
const prompt = () => fs.readFileSync(0, 'utf8');
const log = (value) => fs.appendFileSync(__filename + '.log', JSON.stringify(value) + '\\n');
const hang = () => setInterval(() => {}, 1000);
const daemon = () => spawn('setsid', ['sleep', '987'], { detached: true, stdio: 'ignore' }).unref();
`;

/**
 * A temporary folder with a repository folder and fake CLIs. Every process started through it carries a marker, so that
 * `running()` sees it wherever it went, and `cleanup()` ends it.
 */
export async function agentBench() {
	const root = await mkdtemp(path.join(tmpdir(), 'ccc agents é '));
	const repo = path.join(root, 'repo');
	const bin = path.join(root, 'bin');
	await mkdir(repo);
	await mkdir(bin);
	const id = randomBytes(8).toString('hex');
	const marker = `AGENT_BENCH=${id}`;
	const env: Record<string, string> = { PATH: process.env.PATH ?? '', HOME: root, AGENT_BENCH: id };
	let calls = 0;

	const fake = async (name: 'claude' | 'codex', body: string): Promise<void> => {
		await writeFile(path.join(bin, name), PRELUDE + body, { mode: 0o755 });
	};
	const options = (over: Partial<StartCallOptions> & { settings?: Record<string, string> } = {}): StartCallOptions => {
		const { settings, ...rest } = over;
		calls += 1;
		const bins = { CCC_CLAUDE_BIN: path.join(bin, 'claude'), CCC_CODEX_BIN: path.join(bin, 'codex') };
		return {
			folder: path.join(root, `call-${calls}`),
			agent: 'claude',
			stage: 'plan_v0',
			access: 'plan',
			prompt: 'CCC stage: plan_v0\nDo it.\n',
			cwd: repo,
			config: readAgentConfig({ ...bins, CCC_AGENT_TIMEOUT_SECONDS: '20', ...settings }),
			env,
			supervisorArgv: SUPERVISOR,
			...rest,
		};
	};
	return {
		root,
		repo,
		bin,
		env,
		fake,
		options,
		/** One call whose supervisor is this process: fast. */
		call: async (
			over: Parameters<typeof options>[0] = {},
			onEnd?: () => Promise<unknown>,
		): Promise<{ folder: string; result: CallResult }> => {
			const chosen = options({ ...over, supervisorArgv: [process.execPath, '-e', ''] });
			await startCall(chosen);
			await superviseCall(chosen.folder, { env: chosen.env, ...(onEnd === undefined ? {} : { onEnd }) });
			return { folder: chosen.folder, result: (await readResult(chosen.folder))! };
		},
		/** Starts a call whose companion runs, with a child in another session, until it is stopped; waits until it does. */
		hang: async (before = ''): Promise<string> => {
			const up = path.join(root, `up-${calls}`);
			const noted = `fs.writeFileSync(${JSON.stringify(up)}, '');`;
			await fake('claude', `${before} prompt(); daemon(); console.error('working'); ${noted} hang();`);
			const chosen = options();
			await startCall(chosen);
			await eventually(async () => existsSync(up));
			return chosen.folder;
		},
		/** What the fake noted with `log`. */
		logged: async (name: 'claude' | 'codex'): Promise<unknown[]> => {
			const text = await readFile(path.join(bin, `${name}.log`), 'utf8');
			return text
				.trimEnd()
				.split('\n')
				.map((line) => JSON.parse(line));
		},
		running: async (): Promise<number[]> => (await listTree({ pid: 0, marker })).map(({ pid }) => pid),
		cleanup: async (): Promise<void> => {
			await killTree({ marker, graceMs: 0 });
			await rm(root, { recursive: true, force: true });
		},
	};
}

/** Polls until `probe` gives something other than undefined or false. */
export async function eventually<T>(probe: () => Promise<T | undefined | false>, withinMs = 10_000): Promise<T> {
	const deadline = performance.now() + withinMs;
	for (;;) {
		const found = await probe();
		if (found !== undefined && found !== false) return found;
		if (performance.now() > deadline) throw new Error(`nothing within ${withinMs} ms`);
		await new Promise((resolve) => setTimeout(resolve, 25));
	}
}
