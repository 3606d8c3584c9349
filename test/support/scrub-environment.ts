/** Whatever agent session or user configuration surrounds the test run must not change a result. */
for (const name of Object.keys(process.env)) {
	if (/^(CLAUDE|CODEX_|ANTHROPIC_|OPENAI_|CCC_|GIT_|AI_AGENT$)/.test(name)) delete process.env[name];
}
