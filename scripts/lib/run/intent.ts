/** `state/intent.json`: what a commit is about to write, so that a commit cut in the middle can be told from damage. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { readIfExists, writeFileAtomic } from '../kit/atomic-file.ts';
import type { LedgerEvent } from './ledger.ts';
import { parseStage } from './stages.ts';

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const schema = z.object({
	version: z.literal(1),
	stage: z.string().refine((name) => parseStage(name) !== undefined),
	artifactSha256: hex,
	/** Only for reviews. */
	rawSha256: hex.exactOptional(),
	/** A session's draft is being committed. */
	draft: z.literal(true).exactOptional(),
	/** What the ledger will say once the commit is done. */
	evidence: z.custom<LedgerEvent>((value) => typeof value === 'object' && value !== null),
});
export type Intent = z.infer<typeof schema>;

const intentFile = (folder: string): string => path.join(folder, 'state', 'intent.json');

export async function writeIntent(folder: string, intent: Intent): Promise<void> {
	await writeFileAtomic(intentFile(folder), `${JSON.stringify(intent)}\n`);
}

/** An intent that cannot be read says nothing, like one that was never written. */
export async function readIntent(folder: string): Promise<Intent | undefined> {
	const bytes = await readIfExists(intentFile(folder));
	if (!bytes) return undefined;
	try {
		return schema.parse(JSON.parse(bytes.toString('utf8')));
	} catch {
		return undefined;
	}
}

export async function clearIntent(folder: string): Promise<void> {
	await rm(intentFile(folder), { force: true });
}
