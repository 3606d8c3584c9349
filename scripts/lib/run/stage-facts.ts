/** Gathers what the prompt of a stage shows, from the run folder (protocol: Review Prompt Contract). */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { findingsOfArtifact, type NumberedFinding, nextFindingNumber } from './open-findings.ts';
import type { PromptFacts } from './prompt.ts';
import type { PromptBlock } from './prompt-template.ts';
import { artifactPath, halfOf, isReview, reviewOf, type Stage, type StageKind, stageName } from './stages.ts';
import type { RunState } from './truth.ts';

/** Facts that come from the run folder alone; the git outputs and the verification are added by the caller. */
export async function stageFacts(folder: string, state: RunState, stage: Stage): Promise<PromptFacts> {
	const block = (of: Stage | undefined): Promise<PromptBlock | undefined> => artifactBlock(folder, of);
	const version = isReview(stage) ? stage.version : stage.version - 1;
	const onPlan = halfOf(stage) === 'plan';
	const plan = await block(onPlan ? before('plan', version) : lastPlan(state));
	const code = onPlan ? undefined : await block(before('code', version));
	const direction = directionFor(state, stage);
	return {
		stage,
		runStartRef: state.run.baseline.ref,
		task: state.task,
		...(plan ? { plan } : {}),
		...(code ? { code } : {}),
		...(direction === undefined ? {} : { direction }),
		openFindings: await openFindingsFor(folder, state, stage),
		...(stage.kind === 'code' && state.run.verify !== undefined ? { verifyCommand: state.run.verify } : {}),
	};
}

const before = (kind: StageKind, version: number): Stage | undefined => (version < 0 ? undefined : { kind, version });

/** The plan that is carried out: the last one committed. */
function lastPlan(state: RunState): Stage | undefined {
	for (let version = 99; version >= 0; version--) {
		if (state.done.has(stageName({ kind: 'plan', version }))) return { kind: 'plan', version };
	}
	return undefined;
}

/**
 * The findings a stage has to answer or follow up: those of the previous review of its half. The first coder gets the
 * comments of the review that let the plan pass.
 */
export async function openFindingsFor(folder: string, state: RunState, stage: Stage): Promise<NumberedFinding[]> {
	const review = previousReview(state, stage);
	return review === undefined ? [] : findingsOf(folder, state, review);
}

function previousReview(state: RunState, stage: Stage): Stage | undefined {
	if (stage.version > 0) return { kind: reviewOf(stage).kind, version: stage.version - 1 };
	if (stage.kind !== 'code') return undefined;
	const plan = lastPlan(state);
	return plan && reviewOf(plan);
}

async function findingsOf(folder: string, state: RunState, review: Stage): Promise<NumberedFinding[]> {
	if (!state.done.has(stageName(review))) return [];
	return findingsOfArtifact(await readFile(path.join(folder, artifactPath(review))));
}

/** Ids an answer section must name: only versions after the first have one. */
export function idsToAnswer(stage: Stage, findings: readonly NumberedFinding[]): string[] {
	return stage.version > 0 && !isReview(stage) ? findings.map(({ id }) => id) : [];
}

/** The number of the first finding of a review: ids are never used twice in a run. */
export async function firstFindingNumber(folder: string, state: RunState, review: Stage): Promise<number> {
	const ids: string[] = [];
	for (let version = 0; version < review.version; version++) {
		ids.push(...(await findingsOf(folder, state, { kind: review.kind, version })).map(({ id }) => id));
	}
	return nextFindingNumber(ids);
}

/** What the human said when asking for this version. */
function directionFor(state: RunState, stage: Stage): string | undefined {
	const review = { kind: reviewOf(stage).kind, version: stage.version - 1 };
	const decision = state.decisions.findLast(
		(entry) => entry.decision === 'revise' && stageName(entry.stage) === stageName(review),
	);
	return isReview(stage) ? undefined : decision?.reason;
}

async function artifactBlock(folder: string, stage: Stage | undefined): Promise<PromptBlock | undefined> {
	if (!stage) return undefined;
	const relative = artifactPath(stage);
	return { title: relative, text: await readFile(path.join(folder, relative), 'utf8') };
}
