import { join } from 'node:path';
import { type Reply, type Script, say, type Turn, use } from './models/script.ts';

/** A repository with a bug: numbers are sorted as text, and of an even count only the upper middle is taken. */
export const FILES = {
	'package.json': '{ "name": "numbers", "private": true, "type": "module" }\n',
	'src/median.mjs': `export function median(numbers) {
	const sorted = [...numbers].sort();
	return sorted[Math.floor(sorted.length / 2)];
}
`,
	'test/median.test.mjs': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median } from '../src/median.mjs';

test('sorts by value', () => assert.equal(median([10, 9, 100]), 10));
test('takes the mean of the two in the middle', () => assert.equal(median([1, 2, 3, 10]), 2.5));
`,
};

export const TASK = 'Make median() in src/median.mjs right for numbers of several digits and for an even count.';

/**
 * Plays Claude as planner and Codex as coder through p1-c1: the first plan is sent back for its verification, the first
 * code because it mends only half, and the second of each is approved. Throws where a prompt lacks what its stage needs.
 * @param repo the repository the agents work in
 */
export function playedChange(repo: string): Script {
	const stages: Record<string, (turn: Turn) => Reply> = {
		plan_v0: (turn) => {
			if (turn.step === 0) return use({ name: 'Read', input: { file_path: join(repo, 'src/median.mjs') } });
			need(turn.toolResults[0] ?? '', 'sorted[Math.floor');
			return say(plan(0, 'Read the code again.', 'Initial plan.'));
		},
		plan_v0_review: (turn) => {
			need(turn.prompt, '# Plan v0', 'Review only the artifacts');
			return say(review(['[major] The verification plan runs nothing.', '[minor] Name the file.'], 'no'));
		},
		plan_v1: (turn) => say(plan(1, 'Run `node --test`; both tests must pass.', answers(turn))),
		plan_v1_review: (turn) => {
			need(turn.prompt, '# Plan v1', 'both tests must pass');
			return say(review(['None'], 'yes'));
		},
		code_v0: (turn) => {
			need(turn.prompt, '# Plan v1');
			const line = 'const sorted = [...numbers].sort';
			return code(0, turn, 'Initial implementation.', `-\t${line}();\n+\t${line}((a, b) => a - b);`);
		},
		review_v0: (turn) => {
			need(
				turn.prompt,
				'# Code v0',
				'+\tconst sorted = [...numbers].sort((a, b) => a - b);',
				'takes the mean of the two',
			);
			return say(review(['[major] An even count still gives the upper of the two in the middle.'], 'no'));
		},
		code_v1: (turn) => {
			const half = 'Math.floor(sorted.length / 2)';
			return code(
				1,
				turn,
				answers(turn),
				`-\treturn sorted[${half}];\n+\tconst half = ${half};\n+\treturn sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;`,
			);
		},
		review_v1: (turn) => {
			need(turn.prompt, '# Code v1', '+\tconst half = ');
			return say(review(['None'], 'yes'));
		},
	};
	return (turn) => {
		const play = stages[turn.stage ?? ''];
		if (!play) throw new Error(`no script for stage ${turn.stage}`);
		return play(turn);
	};
}

function need(text: string, ...parts: string[]): void {
	for (const part of parts) if (!text.includes(part)) throw new Error(`expected in the prompt: ${part}`);
}

/** A list item for each finding that the prompt shows as open. */
function answers({ prompt }: Turn): string {
	const open = [...prompt.matchAll(/^([PC]\d+) \[(?:major|minor)\]/gm)].map((match) => match[1]);
	if (open.length === 0) throw new Error('expected open findings in the prompt');
	return open.map((id) => `- ${id}: fixed as asked.`).join('\n');
}

function plan(version: number, verification: string, changes: string): string {
	return `# Plan v${version}

## Summary

Sort by value and take the mean of the two in the middle.

## Scope

Only median().

## Proposed Changes

Give sort() a comparison, and handle an even count.

## Files and Areas

- src/median.mjs

## Verification Plan

${verification}

## Risks and Questions

None.

## Changes Since Previous Plan Version

${changes}
`;
}

/** Patches the file, runs the tests and asks for HEAD, then reports. */
function code(version: number, turn: Turn, changes: string, lines: string): Reply {
	if (turn.step === 0) {
		return use({ patch: `*** Begin Patch\n*** Update File: src/median.mjs\n@@\n${lines}\n*** End Patch\n` });
	}
	if (turn.step === 1)
		return use({ shell: 'node --test; echo "tests ended with $?"; echo "HEAD is $(git rev-parse HEAD)"' });
	const said = turn.toolResults[1] ?? '';
	const ref = /^run_start_ref: ([0-9a-f]+)$/m.exec(turn.prompt)?.[1];
	const head = /HEAD is ([0-9a-f]+)/.exec(said)?.[1];
	if (!ref || !head) throw new Error(`expected run_start_ref and HEAD, got ${ref} and ${said}`);
	return say(`# Code v${version}

## Overview

The plan is carried out.

## What Changed

median().

## Implementation Details

See the diff.

## Files Changed

| File | Purpose |
|---|---|
| src/median.mjs | the function |

## Git Baseline

run_start_ref: ${ref}
current_head: ${head}

## Verification

Ran \`node --test\`: ${/tests ended with \d/.exec(said)?.[0]}

## Review Focus

The comparison.

## Risks and Unknowns

None.

## Changes Since Previous Code Version

${changes}
`);
}

function review(findings: string[], ready: 'yes' | 'no'): string {
	const list = findings.map((finding) => (finding === 'None' ? finding : `- ${finding}`)).join('\n');
	return `## Summary

Read all of it.

## Findings

${list}

## Questions

None

READY: ${ready}
`;
}
