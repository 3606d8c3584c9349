// The two reviews of the demo. As real reviewers, they see nothing but their prompt.
import { blockOf, sectionOf, stageOf, verificationOf } from './prompt.mjs';

/** A plan passes when its verification could notice a mistake and its changes leave nothing open. */
export function reviewPlan(prompt, { say }) {
	const { version } = stageOf(prompt);
	const plan = blockOf(prompt, `artifacts/plan_v${version}.md`);
	if (plan === undefined) throw new Error('the prompt does not hold the plan');
	const findings = [];
	const verification = sectionOf(plan, 'Verification Plan');
	if (!verification.includes('node --test')) {
		findings.push(
			`[major] Verification Plan: "${verification}" would not notice a refund that is a cent off. Name the command, node --test, and say that every test must pass.`,
		);
	}
	if (!sectionOf(plan, 'Proposed Changes').includes('first')) {
		findings.push('[minor] Proposed Changes: say who gets the cents that are left over.');
	}
	say(`${findings.length} findings`);
	return review('Read the plan against the task.', findings, '');
}

/** Code passes when the verification that the coordinator ran did. */
export function reviewCode(prompt, { say }) {
	const { command, exitCode, failing } = verificationOf(prompt);
	say(`the verification ended with exit code ${exitCode}`);
	const tests = '## Tests to Add\n\nNone; the tests are there already.\n\n';
	if (exitCode === 0) return review(`Read the diff; \`${command}\` passes.`, [], tests);
	const which = failing.map((name) => `"${name}"`).join(' and ') || 'a test';
	const keepsSign = /^\+.*= total % people;$/m.test(prompt);
	const why = keepsSign
		? ' Below zero, Math.floor() takes a cent too many from everybody and % is negative, so nobody gets one back.'
		: '';
	return review(
		`Read the diff; \`${command}\` fails.`,
		[
			`[major] src/split.mjs: ${which} still fails (\`${command}\`, exit code ${exitCode}).${why} Round towards zero and share out the rest with its sign.`,
		],
		tests,
	);
}

function review(summary, findings, testsToAdd) {
	return `## Summary

${summary}

## Findings

${findings.length === 0 ? 'None' : findings.map((finding) => `- ${finding}`).join('\n')}

${testsToAdd}## Questions

None

READY: ${findings.length === 0 ? 'yes' : 'no'}
`;
}
