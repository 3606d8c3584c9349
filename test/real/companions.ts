import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent } from '../../scripts/lib/agents/agent.ts';
import { type Access, companionArgv } from '../../scripts/lib/agents/command-line.ts';
import { readAgentConfig } from '../../scripts/lib/agents/config.ts';
import { companionEnvironment } from '../../scripts/lib/agents/environment.ts';
import { classify, type Outcome } from '../../scripts/lib/agents/outcome.ts';
import { type ProcessResult, runProcess } from '../../scripts/lib/kit/run-process.ts';
import { type RealSandbox, realSandbox } from './harness.ts';
import { startAnthropicModel } from './models/anthropic.ts';
import { startOpenAiModel } from './models/openai.ts';
import type { Script, Turn } from './models/script.ts';

/** One finished call: what the process did, what ccc makes of it, and the turns its model was asked for. */
interface CompanionCall {
	result: ProcessResult;
	outcome: Outcome;
	turns: Turn[];
}

/** Both real agents in one sandbox, each with a played model. */
export interface RealCompanions {
	sandbox: RealSandbox;
	/** Runs ccc's own command line of this agent and access against a model that follows `script`. */
	call(
		agent: Agent,
		access: Access,
		script: Script,
		options?: { prompt?: string; timeoutMs?: number; env?: Record<string, string | undefined> },
	): Promise<CompanionCall>;
	close(): Promise<void>;
}

export async function realCompanions(files?: Record<string, string>): Promise<RealCompanions> {
	let playing: Script = () => {
		throw new Error('no call is being made');
	};
	const models = {
		claude: await startAnthropicModel((turn) => playing(turn)),
		codex: await startOpenAiModel((turn) => playing(turn)),
	};
	const sandbox = await realSandbox({
		anthropicUrl: models.claude.url,
		openAiUrl: models.codex.url,
		...(files ? { files } : {}),
	});
	return {
		sandbox,
		async call(agent, access, script, options = {}) {
			playing = script;
			const before = models[agent].requests.length;
			const env = { ...sandbox.env, ...options.env };
			const output = join(sandbox.root, `answer-${randomUUID()}.txt`);
			const argv = companionArgv(agent, access, readAgentConfig(env), output);
			const timeoutMs = options.timeoutMs ?? 60_000;
			const result = await runProcess({
				argv,
				cwd: sandbox.repo,
				env: companionEnvironment(env, {}, agent),
				stdin: options.prompt ?? `CCC stage: ${access}_v0\n\nDo the work.\n`,
				timeoutMs,
				marker: `CCC_CALL_ID=${randomUUID()}`,
			});
			const answer = await readFile(output, 'utf8').catch(() => undefined);
			return {
				result,
				outcome: classify(agent, { ...result, bin: argv[0], timeoutMs, outputTruncated: false }, answer),
				turns: models[agent].requests.slice(before).flatMap((request) => (request.turn ? [request.turn] : [])),
			};
		},
		async close() {
			await sandbox.cleanup();
			await models.claude.close();
			await models.codex.close();
		},
	};
}
