import path from 'node:path';

/** What would make a run depend on whoever calls the demo: agents' sessions and logins, settings of ccc, of git, of node --test. */
const THEIRS = /^(CLAUDE|CODEX|ANTHROPIC|OPENAI|CCC_|GIT_|XDG_|AI_AGENT$|NODE_TEST_CONTEXT$)/;

/**
 * The environment of everything the demo starts.
 * @param {Record<string, string | undefined>} env the caller's
 * @param {{ home: string, agents: string }} folders an empty folder, and the one with the scripted agents
 */
export function demoEnvironment(env, { home, agents }) {
	const kept = Object.entries(env).filter(([name]) => !THEIRS.test(name) || name === 'CCC_DEMO_PACE_MS');
	return {
		...Object.fromEntries(kept),
		HOME: home,
		// The agents and the verify command look for node in PATH; the one that runs this may not be in it.
		PATH: [path.dirname(process.execPath), env.PATH ?? ''].join(path.delimiter),
		GIT_CONFIG_NOSYSTEM: '1',
		CCC_CLAUDE_BIN: path.join(agents, 'claude'),
		CCC_CODEX_BIN: path.join(agents, 'codex'),
	};
}
