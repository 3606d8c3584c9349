import { describe, expect, it } from 'vitest';
import { readRunSettings } from '../../scripts/lib/run/settings.ts';
import { errorOf } from '../support/ccc-error.ts';

describe('readRunSettings', () => {
	it('has the defaults of the protocol', () => {
		const settings = readRunSettings({});
		expect(settings).toMatchObject({ promptMaxBytes: 200_000, diffBudget: 60_000 });
		expect(settings).not.toHaveProperty('planCode');
		expect(settings).not.toHaveProperty('verify');
		expect(settings.agents.timeoutMs).toBe(1_800_000);
	});

	it('reads each variable', () => {
		const settings = readRunSettings({
			CCC_REVIEW_PROMPT_MAX_BYTES: '1',
			CCC_REVIEW_DIFF_BUDGET: '999999999999',
			CCC_PLAN_CODE: 'whatever it is',
			CCC_VERIFY: ' npm test ',
			CCC_AGENT_TIMEOUT_SECONDS: '7',
		});
		expect(settings).toMatchObject({
			promptMaxBytes: 1,
			diffBudget: 999_999_999_999,
			planCode: 'whatever it is',
			verify: 'npm test',
			agents: { timeoutMs: 7000 },
		});
	});

	it('takes an empty variable for an absent one', () => {
		const empty = { CCC_REVIEW_PROMPT_MAX_BYTES: '', CCC_REVIEW_DIFF_BUDGET: '', CCC_PLAN_CODE: '', CCC_VERIFY: '' };
		expect(readRunSettings(empty)).toEqual(readRunSettings({}));
	});

	const numbers = ['0', '-1', '007', '1e5', '200_000', '200 000', '1.5', ' 5', '٣', '9999999999999', 'many'];
	it.each<[string, string]>([
		...numbers.map((value): [string, string] => ['CCC_REVIEW_PROMPT_MAX_BYTES', value]),
		...numbers.map((value): [string, string] => ['CCC_REVIEW_DIFF_BUDGET', value]),
		['CCC_VERIFY', 'npm test && rm x'],
		['CCC_VERIFY', `npm 'test`],
		['CCC_VERIFY', ' '],
		['CCC_AGENT_TIMEOUT_SECONDS', '0'],
	])('refuses %s=%j and names the variable', (name, value) => {
		const error = errorOf(() => readRunSettings({ [name]: value }));
		expect(error).toMatchObject({ code: 'bad-setting', exitCode: 2, facts: { at: name } });
		expect(error.facts.expected).toBeTruthy();
		expect(error.facts.found).toBeTruthy();
	});
});
