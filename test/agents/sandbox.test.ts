import { describe, expect, it } from 'vitest';
import { detectSandbox } from '../../scripts/lib/agents/sandbox.ts';

describe('detectSandbox', () => {
	it.each([
		[{ CODEX_SANDBOX_NETWORK_DISABLED: '1' }, { name: 'codex', variable: 'CODEX_SANDBOX_NETWORK_DISABLED' }],
		[{ CODEX_SANDBOX: 'seatbelt' }, { name: 'codex', variable: 'CODEX_SANDBOX' }],
		[{ SANDBOX_RUNTIME: '1' }, { name: 'claude', variable: 'SANDBOX_RUNTIME' }],
		[{ CODEX_CI: '1', CLAUDECODE: '1', CODEX_SANDBOX: '', CODEX_SANDBOX_NETWORK_DISABLED: '0' }, undefined],
	])('%j', (env, sandbox) => {
		expect(detectSandbox(env)).toEqual(sandbox);
	});
});
