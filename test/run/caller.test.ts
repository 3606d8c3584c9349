import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitWords } from '../../scripts/lib/kit/words.ts';
import { commandLine, readCaller } from '../../scripts/lib/run/caller.ts';
import { withCommands } from '../../scripts/lib/run/session-output.ts';

const OWN = ['/usr/bin/node', '/the pack/scripts/ccc.mjs'];
const awkward = fc.stringMatching(/^[a-z $'"`\\!&;*~#漢é-]{1,12}$/);

describe('who calls', () => {
	it.each([
		[{}, undefined],
		[{ CLAUDE_CODE_SESSION_ID: '' }, undefined],
		[{ CLAUDE_CODE_SESSION_ID: 'a' }, 'claude:a'],
		[{ CODEX_THREAD_ID: 'a' }, 'codex:a'],
		[{ CLAUDE_CODE_SESSION_ID: 'a', CODEX_THREAD_ID: 'b' }, 'claude:a+codex:b'],
	])('%j is session %s', (env, expected) => {
		expect(readCaller(env, '/', OWN).sessionId).toBe(expected);
	});

	it('is called again through the launcher it came by, wherever the command is run then', () => {
		expect(readCaller({ CCC_CALLED_AS: './ccc.sh' }, '/my skills/ccc', OWN).command).toBe('sh "/my skills/ccc/ccc.sh"');
		expect(readCaller({}, '/', OWN).command).toBe("/usr/bin/node '/the pack/scripts/ccc.mjs'");
	});
});

describe('a command line', () => {
	it('means the same to a shell and to us', () => {
		fc.assert(
			fc.property(awkward, fc.array(awkward, { minLength: 1, maxLength: 3 }), (launcher, words) => {
				const caller = readCaller({ CCC_CALLED_AS: `/${launcher}` }, '/', OWN);
				const line = commandLine(caller, words);
				const parsed = splitWords(line);
				expect(parsed).toEqual(['sh', expect.stringMatching(/^\//), ...words]);
				const shown = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' });
				expect(shown.split('\0').slice(0, -1)).toEqual(parsed);
			}),
			{ numRuns: 25 },
		);
	});

	it('in advice names the launcher as it is', () => {
		for (const odd of ["a$'b", 'a$&b', 'a$`b', 'a$$b']) {
			const caller = { command: `sh "/${odd}/ccc.sh"` };
			expect(withCommands('x: ccc repair /r rerun plan_v0, or ccc status /r', caller)).toBe(
				`x: sh "/${odd}/ccc.sh" repair /r rerun plan_v0, or sh "/${odd}/ccc.sh" status /r`,
			);
		}
	});
});
