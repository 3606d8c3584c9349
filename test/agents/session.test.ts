import { describe, expect, it } from 'vitest';
import { detectSession } from '../../scripts/lib/agents/session.ts';

describe('detectSession', () => {
	it.each([
		[{}, 'unknown'],
		[{ CLAUDECODE: '1' }, 'claude'],
		[{ CLAUDE_CODE_SESSION_ID: 'a' }, 'claude'],
		[{ CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'a' }, 'claude'],
		[{ CODEX_CI: '1' }, 'codex'],
		[{ CLAUDECODE: '1', CODEX_CI: '1' }, 'unknown'],
		[{ CLAUDE_CODE_SESSION_ID: 'a', CODEX_CI: '1' }, 'unknown'],
		[{ CLAUDECODE: '0', CODEX_CI: '0' }, 'unknown'],
		[{ CLAUDECODE: '', CLAUDE_CODE_SESSION_ID: '', CODEX_CI: '' }, 'unknown'],
		[{ CODEX_THREAD_ID: 'x', CODEX_SANDBOX: 'seatbelt' }, 'unknown'],
	])('%j is %s', (env, session) => {
		expect(detectSession(env)).toBe(session);
	});
});
