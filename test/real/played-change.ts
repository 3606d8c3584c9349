import { join } from 'node:path';
import type { Agent } from '../../scripts/lib/agents/agent.ts';
import { type Reply, type Script, say, type ToolCall, type Turn, use } from './models/script.ts';

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
	return byStage(stages);
}

/**
 * Plays one agent in any of its roles through p0-c0: every review approves. The coder mends the function and adds a
 * test with the tools its agent has.
 * @param repo the repository the agents work in
 */
export function playedAtOnce(agent: Agent, repo: string): Script {
	return byStage({
		plan_v0: () => say(plan(0, 'Run `node --test`; all tests must pass.', 'Initial plan.')),
		plan_v0_review: (turn) => {
			need(turn.prompt, '# Plan v0', 'all tests must pass');
			return say(review(['None'], 'yes'));
		},
		code_v0: (turn) => {
			need(turn.prompt, '# Plan v0');
			return codeWith(WHOLE_CHANGE[agent](repo), 0, turn, 'Initial implementation.');
		},
		review_v0: (turn) => {
			need(turn.prompt, '# Code v0', '+\tconst half = ', '+++ b/test/single.test.mjs');
			return say(review(['None'], 'yes'));
		},
	});
}

const BEFORE = `	const sorted = [...numbers].sort();
	return sorted[Math.floor(sorted.length / 2)];`;
const AFTER = `	const sorted = [...numbers].sort((a, b) => a - b);
	const half = Math.floor(sorted.length / 2);
	return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;`;
const NEW_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median } from '../src/median.mjs';

test('takes the only one', () => assert.equal(median([7]), 7));
`;

/** An edit and a new file; done a second time it fails without changing anything. */
const WHOLE_CHANGE: Readonly<Record<Agent, (repo: string) => readonly ToolCall[]>> = {
	claude: (repo) => {
		const file_path = join(repo, 'src/median.mjs');
		return [
			{ name: 'Read', input: { file_path } },
			{ name: 'Edit', input: { file_path, old_string: BEFORE, new_string: AFTER } },
			{ name: 'Write', input: { file_path: join(repo, 'test/single.test.mjs'), content: NEW_TEST } },
		];
	},
	codex: () => {
		const update = `*** Update File: src/median.mjs\n@@\n${marked('-', BEFORE)}\n${marked('+', AFTER)}`;
		const add = `*** Add File: test/single.test.mjs\n${marked('+', NEW_TEST.trimEnd())}`;
		return [{ patch: `*** Begin Patch\n${update}\n${add}\n*** End Patch\n` }];
	},
};

function marked(mark: string, text: string): string {
	return text.replaceAll(/^/gm, mark);
}

function byStage(stages: Readonly<Record<string, (turn: Turn) => Reply>>): Script {
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

function code(version: number, turn: Turn, changes: string, lines: string): Reply {
	const patch = `*** Begin Patch\n*** Update File: src/median.mjs\n@@\n${lines}\n*** End Patch\n`;
	return codeWith([{ patch }], version, turn, changes);
}

/** Makes the edits one after the other, runs the tests and asks for HEAD, then reports. */
function codeWith(edits: readonly ToolCall[], version: number, turn: Turn, changes: string): Reply {
	const check = { shell: 'node --test; echo "tests ended with $?"; echo "HEAD is $(git rev-parse HEAD)"' };
	const next = [...edits, check][turn.step];
	if (next) return use(next);
	const said = turn.toolResults[edits.length] ?? '';
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
