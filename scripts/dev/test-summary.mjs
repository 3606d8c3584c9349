// Adds up the reports of the test suites in a folder and prints `N passed, N failed` as the last line.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const folder = process.argv[2];
const EXPECTED = ['unit', 'kill', 'real'];
let passed = 0;
let failed = 0;
const seen = new Set();
for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
	const report = JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
	seen.add(name.replace(/\.json$/, ''));
	passed += report.numPassedTests;
	failed +=
		report.numFailedTests +
		report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
	if (report.numPendingTests > 0) process.stdout.write(`${name}: ${report.numPendingTests} skipped on this platform\n`);
}
for (const name of EXPECTED.filter((suite) => !seen.has(suite))) {
	process.stdout.write(`suite ${name} left no report\n`);
	failed++;
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
