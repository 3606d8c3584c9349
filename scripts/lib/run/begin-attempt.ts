/** Starts a companion call for a stage: prompt, picture of the repository, record, call. */
import { readFile } from 'node:fs/promises';
import { startCall } from '../agents/call.ts';
import { callFiles } from '../agents/call-folder.ts';
import type { Access } from '../agents/command-line.ts';
import { confirmBaseline } from '../git/baseline.ts';
import { type Picture, takePicture } from '../git/guard.ts';
import { readHead } from '../git/repository.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { sha256 } from '../kit/sha256.ts';
import { type Attempt, callFolderOf, nextAttemptNumber, writeAttempt } from './attempts.ts';
import type { Coordinator } from './coordinator.ts';
import { OVERFLOW_MESSAGE, type PromptFacts, renderCorrection, renderPrompt } from './prompt.ts';
import { type Records, readRecords } from './record-guard.ts';
import { stageFacts } from './stage-facts.ts';
import { ownerOf, reviewedBy, type Stage, type StageKind, stageName } from './stages.ts';
import type { RunState } from './truth.ts';
import { verifiedSurface } from './verified-surface.ts';

const ACCESS: Readonly<Record<StageKind, Access>> = {
	plan: 'plan',
	plan_review: 'review',
	code: 'code',
	review: 'review',
};

/** A companion call under way, with the records of the run as they were when it began. */
export interface Underway {
	readonly attempt: Attempt;
	readonly records: Records;
}

/** @throws CccError `prompt-too-large` (exit 3) before anything is written, and the errors of the git room */
export async function beginAttempt(by: Coordinator, state: RunState, stage: Stage): Promise<Underway> {
	const facts = await stageFacts(by.place.folder, state, stage);
	if (stage.kind !== 'review') return launch(by, state, stage, 'first', renderPrompt(by.templates, facts));
	const { surface, verification } = await verifiedSurface(by, state, reviewedBy(stage));
	const full: PromptFacts = {
		...facts,
		surface: surface.text,
		...(verification === undefined ? {} : { verification }),
	};
	return launch(by, state, stage, 'first', renderPrompt(by.templates, full), {
		sha256: surface.sha256,
		bytes: surface.bytes,
	});
}

/** Asks the owner once more, with what was wrong with the form of the answer. */
export async function beginCorrection(
	by: Coordinator,
	state: RunState,
	stage: Stage,
	previous: Attempt,
	answer: string,
): Promise<Underway> {
	const prompt = await readFile(callFiles(callFolderOf(by.place.folder, previous)).prompt, 'utf8');
	const problems = previous.problems ?? [];
	return launch(
		by,
		state,
		stage,
		'correction',
		renderCorrection(by.templates, prompt, answer, problems),
		previous.diff,
	);
}

async function launch(
	by: Coordinator,
	state: RunState,
	stage: Stage,
	purpose: Attempt['purpose'],
	prompt: string,
	diff?: Attempt['diff'],
): Promise<Underway> {
	const { place } = by;
	const bytes = Buffer.byteLength(prompt);
	if (bytes > by.promptMaxBytes) {
		throw new CccError('prompt-too-large', OVERFLOW_MESSAGE, {
			at: stageName(stage),
			expected: `at most ${by.promptMaxBytes} bytes`,
			found: `${bytes} bytes`,
			exitCode: EXIT.blocked,
		});
	}
	// The verify command ran since the stage began, and it may do anything.
	await confirmBaseline(place.repository, state.run.baseline);
	const exclude = [place.relative];
	const attempt: Attempt = {
		version: 1,
		stage: stageName(stage),
		owner: ownerOf(stage, state.run.planCode),
		number: await nextAttemptNumber(place.folder, stage),
		purpose,
		prompt: { sha256: sha256(prompt), bytes },
		...(diff === undefined ? {} : { diff }),
		root: place.repository.root,
		exclude,
		before: await pictureBefore(by, stage, exclude),
	};
	by.signal.throwIfAborted();
	await by.lock.assertHeld();
	await writeAttempt(place.folder, attempt);
	const records = await readRecords(place.folder);
	await startCall({
		folder: callFolderOf(place.folder, attempt),
		agent: attempt.owner,
		stage: attempt.stage,
		access: ACCESS[stage.kind],
		prompt,
		cwd: place.repository.root,
		config: by.agents,
		env: { ...by.env },
		supervisorArgv: by.supervisorArgv,
	});
	return { attempt, records };
}

/** Coders change files by order: they are held to HEAD. Everybody else must leave the repository as it is. */
async function pictureBefore(by: Coordinator, stage: Stage, exclude: string[]): Promise<Picture> {
	if (stage.kind !== 'code') return takePicture(by.place.repository, exclude);
	return { head: (await readHead(by.place.repository)) ?? null, headRef: null, entries: {} };
}
