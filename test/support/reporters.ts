import path from 'node:path';
import type { TestUserConfig } from 'vitest/node';

/** The usual output, and a report `<suite>.json` in the folder TEST_REPORTS names, for the sum at the end of .ci/run. */
export function reporters(suite: 'unit' | 'kill' | 'real'): NonNullable<TestUserConfig['reporters']> {
	const folder = process.env.TEST_REPORTS;
	return folder ? ['default', ['json', { outputFile: path.join(folder, `${suite}.json`) }]] : ['default'];
}
