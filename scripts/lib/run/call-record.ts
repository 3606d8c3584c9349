/** `state/call.json`: the stage coordinator that runs, or ran and whose end nobody has been told of yet. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../kit/atomic-file.ts';
import { CccError, EXIT, type ExitCode } from '../kit/errors.ts';
import { readRecord } from './record-files.ts';

const schema = z.object({
	version: z.literal(1),
	stage: z.string(),
	/** ISO time. */
	startedAt: z.string(),
	/** Set at the end of one that failed; a stage that was committed needs no word of its own. */
	failure: z
		.object({
			code: z.string(),
			message: z.string(),
			exitCode: z.number().int(),
			at: z.string().exactOptional(),
			expected: z.string().exactOptional(),
			found: z.string().exactOptional(),
			next: z.string().exactOptional(),
			/** A hard failure: the run is blocked. */
			blocks: z.boolean(),
		})
		.exactOptional(),
});
export type CallRecord = Omit<z.infer<typeof schema>, 'version'>;

const RECORD = 'state/call.json';

export async function writeCallRecord(folder: string, record: CallRecord): Promise<void> {
	await writeFileAtomic(path.join(folder, RECORD), `${JSON.stringify({ version: 1, ...record })}\n`);
}

/** One that cannot be read says nothing. */
export async function readCallRecord(folder: string): Promise<CallRecord | undefined> {
	try {
		return schema.parse(JSON.parse((await readRecord(folder, RECORD))?.toString('utf8') ?? ''));
	} catch {
		return undefined;
	}
}

export async function clearCallRecord(folder: string): Promise<void> {
	await rm(path.join(folder, RECORD), { force: true });
}

export function failureOf(
	{ code, message, exitCode, facts }: CccError,
	blocks: boolean,
): NonNullable<CallRecord['failure']> {
	const { at, expected, found, next } = facts;
	const known = Object.entries({ at, expected, found, next }).filter(([, value]) => value !== undefined);
	return { code, message, exitCode, blocks, ...Object.fromEntries(known) };
}

/** The error as it was thrown. */
export function errorOfFailure({ code, message, exitCode, blocks, ...facts }: NonNullable<CallRecord['failure']>) {
	const known = Object.values(EXIT).find((value) => value === exitCode) ?? (EXIT.internal as ExitCode);
	return new CccError(code, message, { ...withoutUndefined(facts), exitCode: known });
}

function withoutUndefined<T extends object>(facts: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
	return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as never;
}
