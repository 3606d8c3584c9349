import { defineConfig } from 'vitest/config';
import { reporters } from '../support/reporters.ts';

export default defineConfig({
	test: {
		reporters: reporters('kill'),
		root: import.meta.dirname,
		include: ['**/*.test.ts'],
		globalSetup: ['../support/global-setup.ts'],
		setupFiles: ['../support/scrub-environment.ts'],
		// Each suite keeps two processors busy; side by side they would only make each other's moments coarser.
		fileParallelism: false,
		maxConcurrency: 2,
		testTimeout: 900_000,
		hookTimeout: 60_000,
	},
});
