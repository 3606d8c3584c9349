// The coder of the demo: its first version forgets refunds, and only runs the test that the task is about.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { openFindings, startRefOf } from './prompt.mjs';

const FILE = 'src/split.mjs';

const FORGETS_REFUNDS = {
	what: 'Everybody gets the floor of the division; the first people get a cent more until nothing is left.',
	body: `	const base = Math.floor(total / people);
	const rest = total % people;
	return Array.from({ length: people }, (_, index) => base + (index < rest ? 1 : 0));
`,
	test: ['--test', '--test-name-pattern=no cent is lost'],
};
const HANDLES_REFUNDS = {
	what: 'The division is rounded towards zero; the rest is handed out in cents of its own sign.',
	body: `	const base = Math.trunc(total / people);
	const rest = Math.abs(total % people);
	const cent = Math.sign(total);
	return Array.from({ length: people }, (_, index) => base + (index < rest ? cent : 0));
`,
	test: ['--test'],
};

/** Edits the file, runs tests, and reports what they said. */
export function playCode(prompt, { version, mayWrite, say }) {
	if (!mayWrite) throw new Error('this session may not write: the sandbox is read-only');
	const change = version === 0 ? FORGETS_REFUNDS : HANDLES_REFUNDS;
	replaceBody(change.body);
	say(`edited ${FILE}`);
	const tested = run(process.execPath, change.test);
	const command = `node ${change.test.map((word) => (word.includes(' ') ? `"${word}"` : word)).join(' ')}`;
	say(`${command}: exit code ${tested.status}`);
	return report(prompt, version, change.what, `Ran \`${command}\`: exit code ${tested.status}.`);
}

function replaceBody(body) {
	const source = readFileSync(FILE, 'utf8');
	const changed = source.replace(
		/(^export function split\(.*\{\n)[\s\S]*?(^\}\n)/m,
		(_, head, end) => head + body + end,
	);
	if (!changed.includes(body)) throw new Error(`${FILE} holds no function split()`);
	writeFileSync(FILE, changed);
}

function report(prompt, version, what, verification) {
	const answers = openFindings(prompt).map(({ id }) => `- ${id}: fixed; ${what}`);
	return `# Code v${version}

## Overview

split() shares out every cent.

## What Changed

${what}

## Implementation Details

Only the body of split(); its signature is as before.

## Files Changed

| File | Purpose |
|---|---|
| ${FILE} | split() |

## Git Baseline

run_start_ref: ${startRefOf(prompt)}
current_head: ${run('git', ['rev-parse', '--verify', 'HEAD']).stdout.trim() || 'none'}

## Verification

${verification}

## Review Focus

How the rest of the division is handed out.

## Risks and Unknowns

None.

## Changes Since Previous Code Version

${version === 0 ? 'Initial implementation.' : answers.join('\n')}
`;
}

const run = (command, words) => spawnSync(command, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
