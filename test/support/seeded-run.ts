import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readHead } from '../../scripts/lib/git/repository.ts';
import { acquireLock } from '../../scripts/lib/kit/lock.ts';
import { commitStage } from '../../scripts/lib/run/commit-stage.ts';
import { judgeAnswer } from '../../scripts/lib/run/judge-answer.ts';
import { lockFolder } from '../../scripts/lib/run/locked-run.ts';
import type { Mode } from '../../scripts/lib/run/modes.ts';
import { updateRunFile } from '../../scripts/lib/run/run-file-update.ts';
import { placeNewRun } from '../../scripts/lib/run/run-folder.ts';
import { firstFindingNumber, idsToAnswer, openFindingsFor } from '../../scripts/lib/run/stage-facts.ts';
import { ownerOf, type PlanCode, parseStage, type Rounds, type Stage } from '../../scripts/lib/run/stages.ts';
import { startRun } from '../../scripts/lib/run/start-run.ts';
import { effectiveRounds, nextStep } from '../../scripts/lib/run/transitions.ts';
import { readRunState } from '../../scripts/lib/run/truth.ts';
import { codeDocument, planDocument } from '../fakes/documents.mjs';
import type { Sandbox } from './sandbox.ts';

const NOW = new Date('2026-01-02T03:04:05.000Z');
const PACK = path.resolve(import.meta.dirname, '../..');

export const APPROVAL = 'All good.\n\nREADY: yes\n';
export const MAJOR = '- [major] Wrong line.\n\nREADY: no\n';
export const MINOR = '- [minor] A nit.\n\nREADY: no\n';
export const BLOCKED = '- [major] Cannot tell.\n\nBLOCKED: no access to the service\n\nREADY: no\n';

/**
 * Makes a run in the sandbox that has come as far as these stages, without calling anybody: `'plan_v0'`, or with what
 * the agent said, `['plan_v0_review', MAJOR]`. A code stage appends a line to a.txt.
 */
export async function seedRun(
	sandbox: Sandbox,
	stages: readonly (string | readonly [string, string])[],
	options: { rounds?: Rounds; planCode?: PlanCode; mode?: Mode; verify?: string; task?: string } = {},
): Promise<void> {
	const { repository } = sandbox;
	const place = await placeNewRun(sandbox.run, repository.root, sandbox.env);
	const planCode = options.planCode ?? 'claude-codex';
	await startRun(place, {
		task: options.task ?? 'Append a line to a.txt',
		rounds: options.rounds ?? { plan: 0, code: 0 },
		planCode,
		planCodeSource: 'default',
		sessionDetected: 'unknown',
		cccHome: PACK,
		...(options.verify === undefined ? {} : { verify: options.verify }),
		now: NOW,
	});
	const lock = await acquireLock(lockFolder(place.folder), { purpose: 'test' });
	const head = (await readHead(place.repository)) ?? 'none';
	for (const entry of stages) {
		const [name, said] = typeof entry === 'string' ? [entry, undefined] : entry;
		const stage = parseStage(name) as Stage;
		const state = await readRunState(place.folder);
		const ids = idsToAnswer(stage, await openFindingsFor(place.folder, state, stage));
		const judged = judgeAnswer({
			stage,
			owner: ownerOf(stage, planCode),
			answer: said ?? usualAnswer(stage, state.run.baseline.ref, head, ids),
			rounds: effectiveRounds(state),
			mode: options.mode ?? 'normal',
			runStartRef: state.run.baseline.ref,
			idsToAnswer: ids,
			firstFindingNumber: await firstFindingNumber(place.folder, state, stage),
		});
		if (judged.kind !== 'artifact') throw new Error(`${name}: ${judged.problems.join('; ')}`);
		if (stage.kind === 'code') writeFileSync(path.join(repository.root, 'a.txt'), `one\nv${stage.version}\n`);
		await commitStage({
			folder: place.folder,
			lock,
			stage,
			artifact: judged.artifact,
			...(judged.raw === undefined ? {} : { raw: judged.raw }),
			runStartRef: state.run.baseline.ref,
			openFindings: ids,
			evidence: { owner: ownerOf(stage, planCode) },
			now: NOW,
		});
	}
	const state = await readRunState(place.folder);
	await updateRunFile(place.folder, state, nextStep(state, 'normal'));
	await lock.release();
}

function usualAnswer(stage: Stage, ref: string, head: string, ids: readonly string[]): string {
	if (stage.kind === 'plan') return planDocument(stage.version, ids);
	return stage.kind === 'code' ? codeDocument(stage.version, { ref, head, ids }) : APPROVAL;
}
