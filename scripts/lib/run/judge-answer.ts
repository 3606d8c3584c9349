/** What a companion's answer is worth: an artifact that can be committed, or the list of what is wrong with it. Pure. */
import type { Agent } from '../agents/agent.ts';
import { artifactFromAnswer } from './answer-text.ts';
import { attestVerdict, type Finding } from './attest.ts';
import { contractOf } from './contracts.ts';
import type { Mode } from './modes.ts';
import { formatProblem } from './problem.ts';
import { renderReviewArtifact } from './review-artifact.ts';
import { readReview } from './review-reading.ts';
import { artifactPath, isReview, type Rounds, rawReviewPath, type Stage } from './stages.ts';
import { versionLeft } from './transitions.ts';
import { type ArtifactInput, validateArtifact } from './validate-artifact.ts';
import type { Verdict } from './verdicts.ts';

export interface JudgeInput {
	readonly stage: Stage;
	readonly owner: Agent;
	readonly answer: string;
	readonly rounds: Rounds;
	readonly mode: Mode;
	readonly runStartRef: string;
	/** Ids a new version has to answer. */
	readonly idsToAnswer: readonly string[];
	/** Number of the first finding a review may use. */
	readonly firstFindingNumber: number;
}

export type Judgement =
	| {
			readonly kind: 'artifact';
			readonly artifact: string;
			readonly raw?: string;
			readonly verdict?: Verdict;
			readonly findings?: readonly Finding[];
	  }
	| { readonly kind: 'unreadable'; readonly problems: readonly string[] };

export function judgeAnswer(input: JudgeInput): Judgement {
	return isReview(input.stage) ? judgeReview(input) : judgeWork(input);
}

/** What is wrong with an artifact, as lines for its author; none when it can be committed. */
function faultsOf(
	artifact: string,
	facts: Pick<ArtifactInput, 'stage' | 'raw' | 'openFindings' | 'runStartRef'>,
): string[] {
	const { problems } = validateArtifact({ ...facts, path: artifactPath(facts.stage), bytes: Buffer.from(artifact) });
	return problems.filter((problem) => problem.level === 'error').map(formatProblem);
}

function judgeWork({ stage, answer, runStartRef, idsToAnswer }: JudgeInput): Judgement {
	const artifact = artifactFromAnswer(answer, `# ${contractOf(stage).title}`);
	const problems = faultsOf(artifact, { stage, runStartRef, openFindings: idsToAnswer });
	return problems.length > 0 ? { kind: 'unreadable', problems } : { kind: 'artifact', artifact };
}

function judgeReview(input: JudgeInput): Judgement {
	const { stage, answer, rounds, mode } = input;
	const raw = answer.endsWith('\n') ? answer : `${answer}\n`;
	const read = readReview(Buffer.from(raw));
	if ('unreadable' in read) {
		const { code, line, found, expected } = read.unreadable;
		return {
			kind: 'unreadable',
			problems: [`${rawReviewPath(stage)}:${line}: ${code}: ${found}, expected ${expected}`],
		};
	}
	const { reading } = read;
	const verdict = attestVerdict(reading, versionLeft(stage, rounds), mode);
	const artifact = renderReviewArtifact({
		stage,
		reviewer: REVIEWER[input.owner],
		reading,
		verdict,
		firstId: input.firstFindingNumber,
		runStartRef: input.runStartRef,
	});
	// A review that is too large or too deeply nested to be kept as an artifact goes back like any other fault of form.
	const problems = faultsOf(artifact, { stage, runStartRef: input.runStartRef, raw: Buffer.from(raw) });
	if (problems.length > 0) return { kind: 'unreadable', problems };
	return { kind: 'artifact', artifact, raw, verdict, findings: reading.findings };
}

const REVIEWER: Readonly<Record<Agent, string>> = { claude: 'Claude', codex: 'Codex' };
