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

/** SHA-256 of the artifact as the stage was last committed, where the ledger tells. */
export async function lastCommitHash(folder: string, stage: Stage): Promise<string | undefined> {
	const text = (await readIfExists(ledgerFile(folder)))?.toString('utf8') ?? '';
	return text
		.split('\n')
		.map(parseEvent)
		.findLast((event) => event?.event === 'commit' && event.stage === stageName(stage))?.sha256?.artifact;
}

/** A line that is no event says nothing here; the validator reports it. */
function parseEvent(line: string): LedgerEvent | undefined {
	try {
		return JSON.parse(line) as LedgerEvent;
	} catch {
		return undefined;
	}
}

/** Milliseconds the companion worked, by stage, as of the last commit of each. */
export async function readCommitDurations(folder: string): Promise<Map<string, number>> {
	const text = (await readIfExists(ledgerFile(folder)))?.toString('utf8') ?? '';
	const durations = new Map<string, number>();
	for (const event of text.split('\n').map(parseEvent)) {
		if (event?.event === 'commit' && event.stage && event.durationMs !== undefined) {
			durations.set(event.stage, event.durationMs);
		}
	}
	return durations;
}
