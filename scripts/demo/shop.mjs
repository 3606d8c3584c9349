// The throwaway repository of the demo: a function with a real bug, and tests of which two fail.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export const TASK =
	'split() in src/split.mjs loses cents: 10.00 among three people makes 9.99. Every share must be whole cents and together they must be the total, for refunds too.';

const FILES = {
	'package.json': '{ "name": "shop", "private": true, "type": "module" }\n',
	'src/split.mjs': `/** Splits an amount in cents among people; a refund is a negative amount. */
export function split(total, people) {
	const share = Math.round(total / people);
	return Array.from({ length: people }, () => share);
}
`,
	'test/split.test.mjs': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { split } from '../src/split.mjs';

test('an even split', () => assert.deepEqual(split(900, 3), [300, 300, 300]));
test('no cent is lost', () => assert.deepEqual(split(1000, 3), [334, 333, 333]));
test('a refund loses no cent either', () => assert.deepEqual(split(-1000, 3), [-334, -333, -333]));
`,
};

/** Identity and settings of our own: an empty HOME has none, and the user's must not matter here. */
const GIT = [
	...['-c', 'user.name=Demo', '-c', 'user.email=demo@example.invalid', '-c', 'init.defaultBranch=main'],
	...['-c', 'commit.gpgSign=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.autocrlf=false'],
];

/** @param {string} folder where to make it; exists and is empty */
export function makeShop(folder, env) {
	for (const [name, text] of Object.entries(FILES)) {
		const file = path.join(folder, name);
		mkdirSync(path.dirname(file), { recursive: true });
		writeFileSync(file, text);
	}
	const git = (...words) => callGit(words, folder, env);
	git('init', '--quiet', '--template=');
	git('add', '--all');
	git('commit', '--quiet', '--message=A shop that splits bills');
}

function callGit(words, cwd, env) {
	const { error, status } = spawnSync('git', [...GIT, ...words], { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
	if (error) throw new Error(`git cannot be started (${error.code}); install it, or put it in PATH`);
	if (status !== 0) throw new Error(`git ${words[0]} ended with exit code ${status}`);
}
