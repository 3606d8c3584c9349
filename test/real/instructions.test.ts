/** What `ccc render` writes reaches the real agents, and no agent reads it twice. */
import { expect, it } from 'vitest';
import { runProcess } from '../../scripts/lib/kit/run-process.ts';
import { render } from '../../scripts/lib/render/render.ts';
import { realSandbox } from './harness.ts';
import { startAnthropicModel } from './models/anthropic.ts';
import { startOpenAiModel } from './models/openai.ts';
import { say } from './models/script.ts';

/** From the block, and from the files around it. */
const BLOCK = 'Folders under `.ccc/` are the records of runs.';
const AGENTS = 'Agents here speak of herons.';
const CLAUDE = 'Claude here speaks of otters.';

const CASES: readonly [string, Record<string, string>, { claude: readonly string[]; codex: readonly string[] }][] = [
	['a CLAUDE.md that ccc creates', { 'AGENTS.md': `${AGENTS}\n` }, { claude: [AGENTS], codex: [AGENTS] }],
	[
		'a CLAUDE.md of its own',
		{ 'AGENTS.md': `${AGENTS}\n`, 'CLAUDE.md': `${CLAUDE}\n` },
		{ claude: [CLAUDE], codex: [AGENTS] },
	],
	[
		'a CLAUDE.md that imports',
		{ 'AGENTS.md': `${AGENTS}\n`, 'CLAUDE.md': `${CLAUDE}\n\n@AGENTS.md\n` },
		{ claude: [CLAUDE, AGENTS], codex: [AGENTS] },
	],
	[
		'a CLAUDE.md with the import in code only',
		{ 'AGENTS.md': `${AGENTS}\n`, 'CLAUDE.md': `${CLAUDE}\n\nSee \`@AGENTS.md\`.\n` },
		{ claude: [CLAUDE], codex: [AGENTS] },
	],
];

it.each(CASES)('with %s, each agent reads the block once', async (_, files, reads) => {
	const models = {
		claude: await startAnthropicModel(() => say('Done.')),
		codex: await startOpenAiModel(() => say('Done.')),
	};
	const sandbox = await realSandbox({ anthropicUrl: models.claude.url, openAiUrl: models.codex.url, files });
	try {
		await render(sandbox.repo, 'write');
		const argv = {
			claude: ['claude', '-p', 'Say done.'],
			codex: ['codex', 'exec', '--sandbox', 'read-only', 'Say done.'],
		} as const;
		for (const agent of ['claude', 'codex'] as const) {
			const ran = await runProcess({ argv: [...argv[agent]], cwd: sandbox.repo, env: sandbox.env, timeoutMs: 60_000 });
			expect(ran.exitCode, ran.stderr).toBe(0);
			const request = models[agent].requests.find(({ turn }) => turn !== undefined);
			const sent = JSON.stringify(request?.body);
			const count = (text: string): number => sent.split(JSON.stringify(text).slice(1, -1)).length - 1;
			expect({ [agent]: count(BLOCK) }).toEqual({ [agent]: 1 });
			for (const text of [AGENTS, CLAUDE]) expect(count(text), text).toBe(reads[agent].includes(text) ? 1 : 0);
		}
	} finally {
		await sandbox.cleanup();
		for (const model of Object.values(models)) await model.close();
	}
});
