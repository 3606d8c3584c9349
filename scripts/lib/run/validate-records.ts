/** The run's own records as the validator reads them: the ledger's hashes and the decisions. */
import { sha256 } from '../kit/sha256.ts';
import { quoted } from '../markdown/quoted.ts';
import type { Problem } from './problem.ts';
import type { DecisionView } from './sequence.ts';
import { artifactPath, isReview, parseStage, rawReviewPath, type Stage, stageName } from './stages.ts';

export const LEDGER = 'state/ledger.jsonl';
export const DECISIONS = 'state/decisions.jsonl';

interface Line {
	readonly number: number;
	readonly value: Record<string, unknown>;
}

/** The objects of a JSON lines file; a line that is none is a problem with its number. */
function readLines(bytes: Uint8Array, file: string, code: string, problems: Problem[]): Line[] {
	const lines: Line[] = [];
	const sources = new TextDecoder('utf-8').decode(bytes).split(/\r\n?|\n/);
	sources.forEach((source, index) => {
		if (source.trim() === '') return;
		const value = parseObject(source);
		if (value) lines.push({ number: index + 1, value });
		else problems.push(problemAt(file, index + 1, code, quoted(source), 'a JSON object'));
	});
	return lines;
}

function parseObject(source: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(source);
		return typeof value === 'object' && value !== null && !Array.isArray(value)
			? (value as Record<string, unknown>)
			: undefined;
	} catch {
		return undefined;
	}
}

function problemAt(
	file: string,
	line: number,
	code: string,
	found: string,
	expected: string,
	level: Problem['level'] = 'error',
): Problem {
	return { file, line, column: 1, code, found, expected, level };
}

/** The decisions that bear on the sequence, in their order; cancellations do not. */
export function readDecisionViews(bytes: Uint8Array, problems: Problem[]): DecisionView[] {
	return readLines(bytes, DECISIONS, 'bad-decision', problems).flatMap(({ number, value }): DecisionView[] => {
		const { decision, stage } = value;
		if (decision === 'cancel') return [];
		const review = typeof stage === 'string' ? parseStage(stage) : undefined;
		if ((decision !== 'accept' && decision !== 'revise') || review === undefined || !isReview(review)) {
			const found = quoted(JSON.stringify(value), 120);
			const expected = '"decision" accept, revise or cancel, and "stage" a review such as plan_v0_review';
			problems.push(problemAt(DECISIONS, number, 'bad-decision', found, expected));
			return [];
		}
		return [{ decision, stage: stageName(review) }];
	});
}

/**
 * The last commit of each done stage against the files.
 *
 * @param files bytes by path, where they could be read
 */
export function checkHashes(
	bytes: Uint8Array,
	done: readonly Stage[],
	files: ReadonlyMap<string, Uint8Array>,
	problems: Problem[],
): void {
	const commits = new Map<string, Line>();
	for (const line of readLines(bytes, LEDGER, 'bad-ledger-line', problems)) {
		if (line.value.event === 'commit' && typeof line.value.stage === 'string') commits.set(line.value.stage, line);
	}
	for (const stage of done) {
		const name = stageName(stage);
		const commit = commits.get(name);
		if (commit === undefined) {
			problems.push(
				problemAt(LEDGER, 1, 'not-in-ledger', `no commit of ${name}`, 'one for each .done file', 'warning'),
			);
			continue;
		}
		const recorded = commit.value.sha256;
		const hashes = typeof recorded === 'object' && recorded !== null ? (recorded as Record<string, unknown>) : {};
		for (const [key, file] of [
			['artifact', artifactPath(stage)],
			['transcript', rawReviewPath(stage)],
		] as const) {
			const expected = hashes[key];
			const content = files.get(file);
			if (typeof expected !== 'string' || content === undefined) continue;
			const found = sha256(content);
			if (found === expected) continue;
			problems.push(
				problemAt(
					file,
					1,
					'changed-after-commit',
					`SHA-256 ${found}`,
					`${expected}, as line ${commit.number} of ${LEDGER} says`,
				),
			);
		}
	}
}
