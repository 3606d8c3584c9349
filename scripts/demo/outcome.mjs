// Reads from the files of a run what happened in it, and says whether that is what the demo is meant to show.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The plan is sent back once, the code once, then each is approved. */
const EXPECTED = [
	['plan_v0'],
	['plan_v0_review', 'NEEDS_CHANGES'],
	['plan_v1'],
	['plan_v1_review', 'APPROVE'],
	['code_v0'],
	['review_v0', 'NEEDS_CHANGES'],
	['code_v1'],
	['review_v1', 'APPROVE'],
];

/** @returns what each review of the run objected to, word for word: `{ stage, findings }` */
export function readObjections(folder) {
	return EXPECTED.map(([stage]) => ({ stage, findings: findingsOf(readArtifact(folder, stage)) })).filter(
		({ findings }) => findings.length > 0,
	);
}

/** @returns what is not as it should be, in words; empty when all is */
export function faultsOf(folder) {
	const faults = [];
	for (const [stage, expected] of EXPECTED) {
		if (!existsSync(path.join(folder, 'state', `${stage}.done`))) faults.push(`${stage} is not done`);
		const found = /^VERDICT: (.+)$/m.exec(readArtifact(folder, stage))?.[1];
		if (found !== expected) faults.push(`${stage} has the verdict ${found ?? 'none'}, not ${expected ?? 'none'}`);
	}
	return faults;
}

function readArtifact(folder, stage) {
	const file = path.join(folder, 'artifacts', `${stage}.md`);
	return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

const findingsOf = (artifact) =>
	[...artifact.matchAll(/^- ([PC]\d+ \[(?:major|minor)\] .*)$/gm)].map((match) => match[1]);
