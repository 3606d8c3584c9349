import { readIfExists, writeFileAtomic } from './atomic-file.ts';

/**
 * Appends one value as a line of JSON. The whole file is written anew and renamed: these logs are short, and a line
 * cut by a crash would have to be told from damage ever after. One writer at a time (the caller holds the lock).
 */
export async function appendLine(file: string, value: unknown): Promise<void> {
	const before = (await readIfExists(file))?.toString('utf8') ?? '';
	const separator = before === '' || before.endsWith('\n') ? '' : '\n';
	await writeFileAtomic(file, `${before}${separator}${JSON.stringify(value)}\n`);
}
