import { defineConfig } from 'vitest/config';
import { reporters } from '../support/reporters.ts';

export default defineConfig({
	test: {
		reporters: reporters('real'),
		root: import.meta.dirname,
		include: ['**/*.test.ts'],
		globalSetup: ['../support/global-setup.ts'],
		// The agents' own retries take seconds, and two of them at once would make each other's times meaningless.
		fileParallelism: false,
		testTimeout: 120_000,
		hookTimeout: 60_000,
	},
});
