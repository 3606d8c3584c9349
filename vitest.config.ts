import { defineConfig } from 'vitest/config';
import { reporters } from './test/support/reporters.ts';

export default defineConfig({
	test: {
		reporters: reporters('unit'),
		include: ['test/**/*.test.ts'],
		// Slow suites have commands of their own (test:kill, test:real); .ci/run calls each of them.
		exclude: ['test/kill/**', 'test/real/**', 'node_modules/**'],
		globalSetup: ['test/support/global-setup.ts'],
		setupFiles: ['test/support/scrub-environment.ts'],
		testTimeout: 30_000,
		hookTimeout: 30_000,
	},
});
