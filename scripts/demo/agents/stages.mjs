// What the scripted agents do in each stage of the demo: the planner says too little about verification, the coder
// forgets refunds at first, and each reviewer judges by what its prompt shows.
import { playCode } from './code.mjs';
import { openFindings, stageOf } from './prompt.mjs';
import { reviewCode, reviewPlan } from './reviews.mjs';

const PLAYS = { plan: playPlan, plan_review: reviewPlan, code: playCode, review: reviewCode };

/**
 * @param {string} prompt what the coordinator sent
 * @param {{ mayWrite: boolean, say: (line: string) => void }} session what the command line allows; say is heard on stderr
 * @returns the kind of stage and the final message
 */
export function playStage(prompt, session) {
	const { kind, version } = stageOf(prompt);
	session.say(`read ${Buffer.byteLength(prompt)} bytes of prompt`);
	return { kind, answer: PLAYS[kind](prompt, { ...session, version }) };
}

function playPlan(prompt, { version }) {
	const open = openFindings(prompt);
	const isFirst = open.length === 0;
	return `# Plan v${version}

## Summary

Share what rounding leaves over, one cent each, instead of dropping it.

## Scope

Only split() in src/split.mjs. Its signature stays, and the tests stay as they are.

## Proposed Changes

Give everybody the whole part of the division, then hand out the cents that are left, one each.${
		isFirst ? '' : ' They go to the first people of the list, so that the same bill always gives the same shares.'
	}

## Files and Areas

- src/split.mjs

## Verification Plan

${isFirst ? 'Try some amounts by hand.' : 'Run `node --test`: it must end with exit code 0, with every test of test/split.test.mjs in it, a refund included.'}

## Risks and Questions

None.

## Changes Since Previous Plan Version

${isFirst ? 'Initial plan.' : open.map(({ id, severity }) => `- ${id}: fixed, ${severity === 'major' ? 'the Verification Plan names the command and what it must print' : 'the Proposed Changes say who gets the cents'}.`).join('\n')}
`;
}
