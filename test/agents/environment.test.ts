import { describe, expect, it } from 'vitest';
import { companionEnvironment } from '../../scripts/lib/agents/environment.ts';

describe('companionEnvironment', () => {
	it('drops what marks the surrounding session and keeps logins, homes and proxies', () => {
		const kept = {
			PATH: '/bin',
			HOME: '/home/u',
			CODEX_HOME: '/c',
			CODEX_API_KEY: 'k',
			CLAUDE_CONFIG_DIR: '/d',
			CLAUDE_CODE_OAUTH_TOKEN: 't',
			ANTHROPIC_BASE_URL: 'u',
			HTTPS_PROXY: 'p',
			EMPTY: '',
		};
		const dropped = {
			CLAUDECODE: '1',
			CLAUDE_CODE_SESSION_ID: 'a',
			CLAUDE_CODE_CHILD_SESSION: '1',
			CLAUDE_CODE_ENTRYPOINT: 'cli',
			CLAUDE_CODE_EXECPATH: '/x',
			AI_AGENT: 'x',
			CODEX_CI: '1',
			CODEX_THREAD_ID: 'x',
			CODEX_SESSION_ID: 'x',
			CODEX_SANDBOX: 'seatbelt',
			CODEX_SANDBOX_NETWORK_DISABLED: '1',
			CODEX_MANAGED_BY_NPM: '1',
			CODEX_MANAGED_PACKAGE_ROOT: '/x',
			UNSET: undefined,
		};
		expect(companionEnvironment({ ...kept, ...dropped }, {})).toEqual(kept);
	});

	it('sets the extra entries whatever was there', () => {
		expect(companionEnvironment({ CCC_CALL_ID: 'outer' }, { CCC_CALL_ID: 'inner' })).toEqual({ CCC_CALL_ID: 'inner' });
	});

	it('bounds the retries of claude unless the user did', () => {
		expect(companionEnvironment({}, {}, 'claude')).toEqual({ CLAUDE_CODE_MAX_RETRIES: '3' });
		expect(companionEnvironment({ CLAUDE_CODE_MAX_RETRIES: '7' }, {}, 'claude')).toEqual({
			CLAUDE_CODE_MAX_RETRIES: '7',
		});
		expect(companionEnvironment({}, {}, 'codex')).toEqual({});
	});
});
