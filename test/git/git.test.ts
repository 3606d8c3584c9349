import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runGit } from '../../scripts/lib/git/git.ts';
import { gitFailure } from '../../scripts/lib/git/git-failure.ts';
import { makeRepository } from '../support/git-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('runGit', () => {
	it('says that output was too long, and by how much it may be', async () => {
		const test = await makeRepository();
		test.write('f', 'x'.repeat(5000));
		test.git('add', '.');
		const call = { cwd: test.root, env: { PATH: process.env.PATH }, config: [], maxBytes: 1000 };
		await expect(runGit(['diff', '--cached'], call)).rejects.toMatchObject({
			code: 'git-output-too-large',
			exitCode: 3,
			facts: { expected: 'at most 1000 bytes' },
		});
	});

	it('hands on nothing but the environment it is given, and no stdin', async () => {
		const folder = await tempFolder();
		const fake = path.join(folder, 'git');
		writeFileSync(fake, '#!/bin/sh\n/bin/cat\n/usr/bin/env\n');
		chmodSync(fake, 0o755);
		const answer = await runGit(['x'], { cwd: folder, env: { PATH: folder, ONLY: 'this' }, config: [] });
		expect(answer.stdout.toString()).toContain('ONLY=this');
		expect(answer.stdout.toString()).not.toContain('HOME=');
	});
});

describe('gitFailure', () => {
	it.each([
		['fatal: not a git repository (or any of the parent directories): .git', 'not-a-repository'],
		["fatal: detected dubious ownership in repository at '/x'", 'repository-not-trusted'],
		['error: bad signature 0x6e6f7420\nfatal: index file corrupt', 'corrupt-index'],
		['fatal: /x/index: index file smaller than expected', 'corrupt-index'],
		['error: open("a b"): Permission denied\nfatal: cannot hash a b', 'unreadable-file'],
		['fatal: unable to read 975fbec8256d3e8a3797e7a3611380f27c49f4ac', 'missing-object'],
		['fatal: loose object 975fbec8256d3e8a3797e7a3611380f27c49f4ac (stored in x) is corrupt', 'missing-object'],
		['fatal: something new', 'git-failed'],
	])('%s', (complaint, code) => {
		const error = gitFailure('git diff', 128, complaint, { cwd: '/x' });
		expect(error.code).toBe(code);
		expect(error.facts.next).toBeDefined();
	});

	it('names the file that may not be read', () => {
		const error = gitFailure('git diff', 128, 'error: open("a b"): Permission denied\n', { cwd: '/x' });
		expect(error.facts.at).toBe('a b');
	});
});
