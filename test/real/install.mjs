// Installs the pinned `claude` and `codex` beside the project, for the tests that drive the real tools.
// Plain Node and no dependency, so that it can run before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));
const AGENTS = [
	{ command: 'claude', package: '@anthropic-ai/claude-code', installScript: 'install.cjs' },
	{ command: 'codex', package: '@openai/codex', installScript: undefined },
];

/** What hinders the pinned agents from being used as they are; nothing when all is well. */
function problems() {
	const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
	return AGENTS.map((agent) => {
		const pinned = lock.packages[`node_modules/${agent.package}`].version;
		const manifest = join(folder, 'node_modules', agent.package, 'package.json');
		if (!existsSync(manifest)) return `${agent.package}: expected ${pinned}, found none`;
		const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
		if (version !== pinned) return `${agent.package}: expected ${pinned}, found ${version}`;
		const answer = run(join(folder, 'node_modules', '.bin', agent.command), ['--version']);
		if (!answer.ok) return `${agent.command} --version failed: ${answer.output}`;
		if (!answer.output.includes(pinned))
			return `${agent.command} --version: expected ${pinned}, found ${answer.output}`;
		return undefined;
	}).filter((problem) => problem !== undefined);
}

/** Runs one command here and returns whether it worked, with the end of what it said. */
function run(command, args) {
	const result = spawnSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
	const output = result.error ? result.error.message : `${result.stdout}${result.stderr}`.trim().slice(-1500);
	return { ok: result.status === 0, output };
}

function install() {
	if (problems().length === 0) return 'already installed';
	const npm = run('npm', ['ci', '--no-fund', '--no-audit']);
	if (!npm.ok) throw new Error(`npm ci in ${folder} failed:\n${npm.output}`);
	// npm may skip install scripts, and Claude Code's is what puts its binary in place of a stub.
	for (const agent of AGENTS) {
		if (agent.installScript === undefined || problems().length === 0) continue;
		run(process.execPath, [join(folder, 'node_modules', agent.package, agent.installScript)]);
	}
	const left = problems();
	if (left.length > 0) {
		throw new Error(`${left.join('\n')}\nRemove ${join(folder, 'node_modules')} and run this again.`);
	}
	return 'installed';
}

try {
	const state = install();
	const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
	console.log(`real agents ${state}: ${AGENTS.map((a) => `${a.command} ${dependencies[a.package]}`).join(', ')}`);
} catch (error) {
	console.error(`real agents not installed: ${error.message}`);
	process.exitCode = 1;
}
