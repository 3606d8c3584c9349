import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProcess } from '../../scripts/lib/kit/run-process.ts';
import { killProcessesWith, processesWith, type RunningProcess } from './processes.ts';
import { startRefusingProxy } from './refusing-proxy.ts';

const PINNED_BINARIES = join(dirname(fileURLToPath(import.meta.url)), 'node_modules', '.bin');

/** A place where the real agents run with nothing of this machine's user: own home, settings, repository, network. */
export interface RealSandbox {
	/** Holds all of it; every process started in the sandbox carries this path in its environment. */
	root: string;
	/** The whole environment for the agents and for ccc. */
	env: Record<string, string>;
	/** A git repository with one commit. */
	repo: string;
	home: string;
	/** What the agents tried to reach beside their models; all of it was refused. */
	readonly outsideAttempts: readonly string[];
	/** Runs git in the repository and returns its stdout; throws when it fails. */
	git(...args: string[]): Promise<string>;
	/** What runs in the sandbox at this moment. */
	processes(): Promise<RunningProcess[]>;
	/** Ends every process of the sandbox and removes it. */
	cleanup(): Promise<void>;
}

interface SandboxOptions {
	/** Address of Claude Code's played model. */
	anthropicUrl?: string;
	/** Address of Codex's played model. */
	openAiUrl?: string;
	/** Committed to the repository at its start, by path. */
	files?: Record<string, string>;
	/** Added to the environment, or changed in it. */
	env?: Record<string, string>;
}

/** Makes a sandbox. Agents without a model's address get one that refuses connections. */
export async function realSandbox(options: SandboxOptions = {}): Promise<RealSandbox> {
	const root = await realpath(await mkdtemp(join(base(), 'ccc-real-')));
	const proxy = await startRefusingProxy();
	const home = join(root, 'home');
	const repo = join(root, 'repo');
	const codexHome = join(root, 'codex');
	const temporary = join(root, 'tmp');
	const claudeConfig = join(root, 'claude');
	for (const folder of [home, repo, codexHome, temporary, claudeConfig]) await mkdir(folder);

	const nowhere = 'http://127.0.0.1:1';
	await writeFile(join(codexHome, 'config.toml'), codexConfig(options.openAiUrl ?? nowhere));
	await writeFile(join(home, '.gitconfig'), '[user]\n\tname = Test\n\temail = test@example.invalid\n');
	const env: Record<string, string> = {
		PATH: [PINNED_BINARIES, dirname(process.execPath), process.env.PATH ?? ''].join(delimiter),
		HOME: home,
		TMPDIR: temporary,
		USER: 'test',
		LOGNAME: 'test',
		SHELL: '/bin/bash',
		LANG: 'C.UTF-8',
		TERM: 'xterm-256color',
		GIT_CONFIG_NOSYSTEM: '1',
		CODEX_HOME: codexHome,
		CLAUDE_CONFIG_DIR: claudeConfig,
		ANTHROPIC_BASE_URL: options.anthropicUrl ?? nowhere,
		ANTHROPIC_API_KEY: 'sk-ant-not-a-key-0000000000000000000000',
		CLAUDE_CODE_MAX_RETRIES: '1',
		...offline(proxy.url),
		...options.env,
	};

	// Codex runs commands in a login shell, where the system's profile may set PATH anew.
	await writeFile(join(home, '.bash_profile'), `export PATH='${env.PATH?.replaceAll("'", `'\\''`)}'\n`);

	const git = async (...args: string[]) => {
		const result = await runProcess({ argv: ['git', ...args], cwd: repo, env, timeoutMs: 30_000 });
		if (result.exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr}`);
		return result.stdout;
	};
	await git('init', '--quiet', '--initial-branch=main');
	for (const [path, text] of Object.entries(options.files ?? { 'README.md': '# Example\n' })) {
		await mkdir(dirname(join(repo, path)), { recursive: true });
		await writeFile(join(repo, path), text);
	}
	await git('add', '--all');
	await git('commit', '--quiet', '--message', 'start');

	return {
		root,
		env,
		repo,
		home,
		outsideAttempts: proxy.attempts,
		git,
		processes: () => processesWith(root),
		cleanup: async () => {
			await killProcessesWith(root);
			await proxy.close();
			await rm(root, { recursive: true, force: true });
		},
	};
}

/**
 * Where sandboxes go. Codex lets a coder write below /tmp, so a sandbox there could not show that nothing outside the
 * repository is writable; and below this project the agents would read the project's own instructions.
 */
function base(): string {
	try {
		accessSync('/var/tmp', constants.W_OK);
		return '/var/tmp';
	} catch {
		return tmpdir();
	}
}

/** The agents' documented switches against calls home, and a proxy that refuses what is left. */
function offline(proxyUrl: string): Record<string, string> {
	return {
		HTTPS_PROXY: proxyUrl,
		HTTP_PROXY: proxyUrl,
		https_proxy: proxyUrl,
		http_proxy: proxyUrl,
		NO_PROXY: '127.0.0.1,localhost',
		no_proxy: '127.0.0.1,localhost',
		DISABLE_TELEMETRY: '1',
		DISABLE_AUTOUPDATER: '1',
		CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
		CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
	};
}

function codexConfig(openAiUrl: string): string {
	return `model = "gpt-5.4"
model_provider = "played"
check_for_update_on_startup = false

[model_providers.played]
name = "played"
base_url = "${openAiUrl}/v1"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[features]
plugins = false
`;
}
