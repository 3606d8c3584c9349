/** `state/ledger.jsonl`: what happened, a line per event. It is evidence, not truth: no decision is read from it. */
import path from 'node:path';
import { readIfExists } from '../kit/atomic-file.ts';
import { appendLine } from '../kit/json-lines.ts';
import { type Stage, stageName } from './stages.ts';

export interface LedgerEvent {
	readonly event:
		| 'start'
		| 'resume'
		| 'call'
		| 'verify'
		| 'commit'
		| 'blocked'
		| 'decide'
		| 'cancel'
		| 'repair'
		| 'complete';
	readonly stage?: string;
	readonly owner?: string;
	/** Milliseconds the companion worked. */
	readonly durationMs?: number;
	/** Bytes of UTF-8, by what they are of. */
	readonly bytes?: Readonly<Partial<Record<'artifact' | 'prompt' | 'transcript' | 'diff', number>>>;
	readonly tokens?: number;
	/** SHA-256 in hex, by what it is of. */
	readonly sha256?: Readonly<Partial<Record<'artifact' | 'prompt' | 'transcript' | 'diff', string>>>;
	/** Outcome of a call, verdict of a review, code of a block. */
	readonly result?: string;
	readonly reason?: string;
}

const ledgerFile = (folder: string): string => path.join(folder, 'state', 'ledger.jsonl');

/** Appends one event with its time; the caller holds the run's lock. */
export async function recordEvent(folder: string, event: LedgerEvent, now: Date): Promise<void> {
	await appendLine(ledgerFile(folder), { time: now.toISOString(), ...event });
}

/**
 * The same for an event that a killed command may have recorded already: given the same time, it is there once.
 * @param time when it happened, not when it is recorded
 */
export async function recordEventOnce(folder: string, event: LedgerEvent, time: string): Promise<void> {
	const entry = { time, ...event };
	if (!(await readLines(folder)).includes(JSON.stringify(entry))) await appendLine(ledgerFile(folder), entry);
}

/** Whether nothing has happened since the run was complete, but that somebody resumed it. */
export async function isCompletionRecorded(folder: string): Promise<boolean> {
	const events = (await readLines(folder)).map(parseEvent);
	return events.findLast((event) => event !== undefined && event.event !== 'resume')?.event === 'complete';
}

async function readLines(folder: string): Promise<string[]> {
	return ((await readIfExists(ledgerFile(folder)))?.toString('utf8') ?? '').split('\n');
}

/** Whether this program started the run, and has recorded every commit since. */
export async function isLedgerWhole(folder: string): Promise<boolean> {
	return (await readLines(folder)).map(parseEvent).some((event) => event?.event === 'start');
}

/** SHA-256 of the artifact as the stage was last committed, where the ledger tells. */
export async function lastCommitHash(folder: string, stage: Stage): Promise<string | undefined> {
	return (await readLines(folder))
		.map(parseEvent)
		.findLast((event) => event?.event === 'commit' && event.stage === stageName(stage))?.sha256?.artifact;
}

/** Whether the newest event is the commit of this artifact: nothing else has happened in the run since. */
export async function endsWithCommit(folder: string, stage: string, artifactSha256: string): Promise<boolean> {
	const last = (await readLines(folder)).map(parseEvent).findLast((event) => event !== undefined);
	return last?.event === 'commit' && last.stage === stage && last.sha256?.artifact === artifactSha256;
}

/** A line that is no event says nothing here; the validator reports it. */
function parseEvent(line: string): LedgerEvent | undefined {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === 'object' && value !== null ? (value as LedgerEvent) : undefined;
	} catch {
		return undefined;
	}
}

/** Milliseconds the companion worked, by stage, as of the last commit of each. */
export async function readCommitDurations(folder: string): Promise<Map<string, number>> {
	const durations = new Map<string, number>();
	for (const event of (await readLines(folder)).map(parseEvent)) {
		if (event?.event === 'commit' && event.stage && event.durationMs !== undefined) {
			durations.set(event.stage, event.durationMs);
		}
	}
	return durations;
}
