import { defineConfig } from 'vitest/config';

export default defineConfig({
	test: {
		root: import.meta.dirname,
		include: ['**/*.test.ts'],
		// The agents' own retries take seconds, and two of them at once would make each other's times meaningless.
		fileParallelism: false,
		testTimeout: 120_000,
		hookTimeout: 60_000,
	},
});
