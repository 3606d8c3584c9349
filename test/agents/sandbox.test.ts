import { describe, expect, it } from 'vitest';
import { detectSandbox, findSandbox } from '../../scripts/lib/agents/sandbox.ts';

/** As a command in Codex's sandbox sees it, shortened. */
const WRAPPER = [
	...[
		'bwrap',
		'--new-session',
		'--die-with-parent',
		'--ro-bind',
		'/',
		'/',
		'--dev',
		'/dev',
		'--bind',
		'/repo',
		'/repo',
	],
	...[
		'--unshare-user',
		'--unshare-pid',
		'--proc',
		'/proc',
		'--argv0',
		'codex-linux-sandbox',
		'--',
		'/opt/codex/bin/codex',
	],
	...['--sandbox-policy-cwd', '/repo', '--apply-seccomp-then-exec', '--', '/bin/bash', '-c', 'node check.mjs'],
];
const SHELL = ['/bin/bash', '-c', 'ccc run .ccc/runs/x'];
const CODEX = ['/opt/codex/bin/codex', 'exec', '--sandbox', 'danger-full-access', '-'];

describe('detectSandbox', () => {
	it.each([
		[{ CODEX_SANDBOX_NETWORK_DISABLED: '1' }, { name: 'codex', sign: 'CODEX_SANDBOX_NETWORK_DISABLED' }],
		[{ CODEX_SANDBOX: 'seatbelt' }, { name: 'codex', sign: 'CODEX_SANDBOX' }],
		[{ SANDBOX_RUNTIME: '1' }, { name: 'claude', sign: 'SANDBOX_RUNTIME' }],
		[{ CODEX_CI: '1', CLAUDECODE: '1', CODEX_SANDBOX: '', CODEX_SANDBOX_NETWORK_DISABLED: '0' }, undefined],
	])('%j', (env, sandbox) => {
		expect(detectSandbox(env, [], true)).toEqual(sandbox);
	});

	it.each([
		['of its own pid namespace', [SHELL, WRAPPER]],
		['of an outer one', [SHELL, WRAPPER, CODEX, ['-zsh'], ['/sbin/init']]],
		['by its path', [SHELL, ['/usr/bin/bwrap', ...WRAPPER.slice(1)]]],
		['of a bwrap without --argv0', [SHELL, ['bwrap', '--ro-bind', '/', '/', '--', '/tmp/a/codex-linux-sandbox', '--']]],
	])("knows Codex's bwrap among the ancestors: %s", (_, ancestors) => {
		expect(detectSandbox({}, ancestors, false)).toMatchObject({
			name: 'codex',
			sign: expect.stringContaining('bwrap'),
		});
	});

	it.each([
		['a plain shell', [SHELL, ['sshd: user@pts/0'], ['/sbin/init']]],
		[
			'Docker',
			[
				['node', 'server.mjs'],
				['/usr/bin/tini', '--', 'node', 'server.mjs'],
			],
		],
		['systemd-nspawn', [SHELL, ['/usr/lib/systemd/systemd']]],
		['Codex without a sandbox, or a command it lets out', [SHELL, CODEX, ['node', '/usr/bin/codex'], ['-zsh']]],
		["somebody's own bwrap", [SHELL, ['bwrap', '--unshare-pid', '--ro-bind', '/', '/', '--', 'bash']]],
		[
			'Codex inside of it, and words of a command that name the helper',
			[
				CODEX,
				['bwrap', '--unshare-pid', '--', 'codex', 'exec', '--argv0', 'codex-linux-sandbox', '/x/codex-linux-sandbox'],
			],
		],
		['a program that searches for the helper', [['grep', '--argv0', 'codex-linux-sandbox', 'bwrap'], []]],
	])('gives no false alarm: %s', (_, ancestors) => {
		expect(detectSandbox({ CODEX_CI: '1', CODEX_THREAD_ID: 'x' }, ancestors, false)).toBeUndefined();
	});

	it('does not believe the variable where listening is let through: Codex keeps it for a command it lets out', () => {
		const env = { CODEX_CI: '1', CODEX_SANDBOX_NETWORK_DISABLED: '1' };
		expect(detectSandbox(env, [SHELL, CODEX], false)).toBeUndefined();
		expect(detectSandbox(env, [SHELL, WRAPPER], false)).toMatchObject({ name: 'codex' });
		expect(detectSandbox(env, [SHELL, CODEX], true)).toMatchObject({ name: 'codex' });
	});
});

describe('findSandbox', () => {
	it('tries what the variable says: here one may listen', async () => {
		expect(await findSandbox({ CODEX_SANDBOX_NETWORK_DISABLED: '1' })).toBeUndefined();
		expect(await findSandbox({ CODEX_SANDBOX: 'seatbelt' })).toMatchObject({ name: 'codex' });
	});
});
