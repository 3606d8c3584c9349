/** Starts a companion call for a stage: prompt, picture of the repository, record, call. */
import { readFile } from 'node:fs/promises';
import { startCall } from '../agents/call.ts';
import { callFiles } from '../agents/call-folder.ts';
import type { Access } from '../agents/command-line.ts';
import { type Picture, takePicture } from '../git/guard.ts';
import { readHead } from '../git/repository.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { sha256 } from '../kit/sha256.ts';
import { type Attempt, callFolderOf, latestAttempt, writeAttempt } from './attempts.ts';
import type { Coordinator } from './coordinator.ts';
import { OVERFLOW_MESSAGE, type PromptFacts, renderCorrection, renderPrompt } from './prompt.ts';
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

/** @throws CccError `prompt-too-large` (exit 3) before anything is written, and the errors of the git room */
export async function beginAttempt(by: Coordinator, state: RunState, stage: Stage): Promise<Attempt> {
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
): Promise<Attempt> {
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
): Promise<Attempt> {
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
	const exclude = [place.relative];
	const attempt: Attempt = {
		version: 1,
		stage: stageName(stage),
		number: ((await latestAttempt(place.folder, stage))?.number ?? 0) + 1,
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
	await startCall({
		folder: callFolderOf(place.folder, attempt),
		agent: ownerOf(stage, state.run.planCode),
		stage: attempt.stage,
		access: ACCESS[stage.kind],
		prompt,
		cwd: place.repository.root,
		config: by.agents,
		env: { ...by.env },
		supervisorArgv: by.supervisorArgv,
	});
	return attempt;
}

/** Coders change files by order: they are held to HEAD. Everybody else must leave the repository as it is. */
async function pictureBefore(by: Coordinator, stage: Stage, exclude: string[]): Promise<Picture> {
	if (stage.kind !== 'code') return takePicture(by.place.repository, exclude);
	return { head: (await readHead(by.place.repository)) ?? null, headRef: null, entries: {} };
}
