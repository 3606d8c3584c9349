/**
 * The only way to a `.done` file (protocol: Write Ordering, Validation Before .done). An intent is logged first, so that
 * whoever finds a commit cut in the middle can finish it or tell that somebody else wrote the files.
 */
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { readIfExists, renameSynced, writeFileAtomic } from '../kit/atomic-file.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import type { Lock } from '../kit/lock.ts';
import { sha256 } from '../kit/sha256.ts';
import { renderDone } from './done-file.ts';
import { clearIntent, type Intent, readIntent, writeIntent } from './intent.ts';
import { endsWithCommit, type LedgerEvent, recordEvent } from './ledger.ts';
import {
	artifactPath,
	donePath,
	draftPath,
	isReview,
	parseStage,
	rawReviewPath,
	type Stage,
	stageName,
} from './stages.ts';
import { validateArtifact } from './validate-artifact.ts';
import { validationFailure } from './validation-failure.ts';

export interface CommitInput {
	readonly folder: string;
	readonly lock: Lock;
	readonly stage: Stage;
	/** Whole text of the artifact. */
	readonly artifact: string;
	/** Whole raw review, for review stages only. */
	readonly raw?: string;
	readonly runStartRef: string;
	readonly openFindings: readonly string[];
	/** What the ledger keeps beside the hashes: owner, duration, prompt and diff hashes. */
	readonly evidence: Omit<LedgerEvent, 'event' | 'stage'>;
	readonly now: Date;
	/** What is committed lies in the draft of a session, which must not be lost before it has its place. */
	readonly draft?: boolean;
	/** A review may be attested again (auto mode); everything else is committed once. */
	readonly replace?: boolean;
}

/**
 * @throws CccError `already-committed` (exit 1), `lock-lost` (exit 4), `invalid-run` with every problem (exit 1);
 *   in each case nothing new is left behind
 */
export async function commitStage(input: CommitInput): Promise<void> {
	const { folder, stage, raw } = input;
	const name = stageName(stage);
	const at = (relative: string): string => path.join(folder, relative);
	await input.lock.assertHeld();
	if (!input.replace && (await exists(at(donePath(stage))))) {
		throw new CccError('already-committed', `${name} is committed already.`, {
			at: donePath(stage),
			next: `to do it again: ccc repair <folder> rerun ${name}`,
			exitCode: EXIT.invalid,
		});
	}
	const { problems } = validateArtifact({
		stage,
		path: artifactPath(stage),
		bytes: Buffer.from(input.artifact),
		runStartRef: input.runStartRef,
		openFindings: input.openFindings,
		...(isReview(stage) ? { raw: raw === undefined ? 'missing' : Buffer.from(raw) } : {}),
	});
	// Before the intent, not after the temporary file: an intent then always speaks of valid text.
	if (problems.some((problem) => problem.level === 'error')) throw validationFailure(problems);
	const intent: Intent = {
		version: 1,
		stage: name,
		artifactSha256: sha256(input.artifact),
		...(raw === undefined ? {} : { rawSha256: sha256(raw) }),
		...(input.draft ? { draft: true } : {}),
		evidence: evidenceOf(input),
	};
	await writeIntent(folder, intent);
	if (raw !== undefined) await place(at(rawReviewPath(stage)), raw);
	await place(at(artifactPath(stage)), input.artifact);
	await finishCommit(folder, intent, input.now);
}

/** The temporary file may be what a session wrote: it is replaced as a whole, so that no cut can lose that. */
async function place(file: string, content: string): Promise<void> {
	await writeFileAtomic(`${file}.tmp`, content);
	await renameSynced(`${file}.tmp`, file);
}

/** The last steps, the same for a commit that goes through and for one that is finished by the next command. */
async function finishCommit(folder: string, intent: Intent, now: Date): Promise<void> {
	const stage = parseStage(intent.stage) as Stage;
	const done = path.join(folder, donePath(stage));
	await writeFileAtomic(done, renderDone(stage), { temporary: `${done}.tmp` });
	// The cut may have come between this line and the next.
	if (!(await endsWithCommit(folder, intent.stage, intent.artifactSha256))) {
		await recordEvent(folder, { ...intent.evidence, event: 'commit', stage: intent.stage }, now);
	}
	await clearIntent(folder);
}

function evidenceOf({ evidence, artifact, raw, stage }: CommitInput): LedgerEvent {
	const transcript = raw === undefined ? {} : { transcript: raw };
	const measured = { artifact, ...transcript };
	return {
		...evidence,
		event: 'commit',
		stage: stageName(stage),
		bytes: { ...evidence.bytes, ...mapValues(measured, (text) => Buffer.byteLength(text)) },
		sha256: { ...evidence.sha256, ...mapValues(measured, sha256) },
	};
}

function mapValues<T>(record: Record<string, string>, map: (text: string) => T): Record<string, T> {
	return Object.fromEntries(Object.entries(record).map(([key, text]) => [key, map(text)]));
}

/**
 * Finishes a commit that was cut after its artifact was whole, or undoes what an earlier cut left. Files that the
 * intent does not describe are not touched.
 * @returns the name of the stage that got its `.done`, if any
 */
export async function recoverCommit(folder: string, lock: Lock, now: Date): Promise<string | undefined> {
	const intent = await readIntent(folder);
	if (!intent) {
		await clearIntent(folder);
		return undefined;
	}
	await lock.assertHeld();
	const stage = parseStage(intent.stage) as Stage;
	const at = (relative: string): string => path.join(folder, relative);
	const holds = async (relative: string, hash: string | undefined): Promise<boolean> => {
		const bytes = await readIfExists(at(relative)).catch(() => undefined);
		return bytes !== undefined && sha256(bytes) === hash;
	};
	const rawWhole = intent.rawSha256 === undefined || (await holds(rawReviewPath(stage), intent.rawSha256));
	if (rawWhole && (await holds(artifactPath(stage), intent.artifactSha256))) {
		await finishCommit(folder, intent, now);
		return intent.stage;
	}
	const undoRaw = intent.rawSha256 !== undefined && rawWhole && !(await exists(at(donePath(stage))));
	// A draft that is there was written after the cut: it is the one that counts.
	const undoneToDraft = intent.draft && !(await exists(at(draftPath(stage))));
	if (undoRaw && undoneToDraft) await renameSynced(at(rawReviewPath(stage)), at(draftPath(stage)));
	else if (undoRaw) await rm(at(rawReviewPath(stage)), { force: true });
	if (isReview(stage) || !intent.draft) await rm(at(`${artifactPath(stage)}.tmp`), { force: true });
	await clearIntent(folder);
	return undefined;
}

async function exists(file: string): Promise<boolean> {
	return stat(file).then(
		() => true,
		() => false,
	);
}
