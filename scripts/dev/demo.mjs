// `npm run demo`: two scripted agents play Claude and Codex on a throwaway repository, through the same calls as real ones.
// With --built the bundle is taken as it is. Its exit code is 0 only when everything ended as it should.
import { existsSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { demoEnvironment } from '../demo/environment.mjs';
import { faultsOf, readObjections } from '../demo/outcome.mjs';
import { capture, runTests, show } from '../demo/processes.mjs';
import { makeShop, TASK } from '../demo/shop.mjs';
import { bad, command, good, heading, paragraph, quote, testResult } from '../demo/show.mjs';

const scripts = fileURLToPath(new URL('..', import.meta.url));
const ccc = [process.execPath, path.join(scripts, 'ccc.mjs')];
const VERIFY = 'node --test';
/** The run folder as a person in the repository would name it. */
const RUN = '.ccc/runs/demo';

const folder = makeFolder();
const repository = path.join(folder, 'shop');
const home = path.join(folder, 'home');
const run = path.join(repository, RUN);
const env = demoEnvironment(process.env, { home, agents: path.join(scripts, 'demo', 'agents') });
const place = { cwd: repository, env };

try {
	const faults = await demo();
	for (const fault of faults) bad(`Not as it should be: ${fault}`);
	if (faults.length > 0) process.exitCode = 1;
	else good('Done: the plan was sent back once, the code once; then both were approved, and the tests pass.');
} catch (error) {
	stop(error);
}
lookAround();

function makeFolder() {
	try {
		return realpathSync(mkdtempSync(path.join(tmpdir(), 'ccc-demo-')));
	} catch (error) {
		stop(error);
		process.exit();
	}
}

function stop(error) {
	bad(`The demo could not go on: ${error.message}`);
	process.exitCode = 1;
}

/** @returns {Promise<string[]>} what did not end as it should */
async function demo() {
	for (const made of [repository, home]) mkdirSync(made);
	if (!process.argv.includes('--built')) {
		const built = await show([process.execPath, path.join(scripts, 'dev', 'build.mjs')], {});
		if (built !== 0) return [`the build ended with exit code ${built}`];
	}
	paragraph('Two scripted agents play Claude and Codex: no login, no network, no model.', 0);

	heading('1. A repository with a bug');
	makeShop(repository, env);
	command(`cd ${quote(repository)}`);
	if (await testsPass()) return ['the tests pass before anything is mended'];

	heading('2. Claude plans and Codex codes; each reviews the other');
	paragraph(TASK);
	command(`ccc run ${RUN} "<the task above>" p2-c2 verify="${VERIFY}"`);
	console.log();
	const ran = await show([...ccc, 'run', RUN, TASK, 'p2-c2', `verify=${VERIFY}`], place);
	if (ran !== 0) return [`ccc run ended with exit code ${ran}`];

	heading('3. What the reviewers objected to');
	for (const { stage, findings } of readObjections(run)) {
		console.log(`  ${stage}`);
		for (const finding of findings) paragraph(finding, 4);
	}

	heading('4. The result');
	const green = await testsPass();
	command(`ccc validate ${RUN}`);
	const { exitCode: validated, output } = await capture([...ccc, 'validate', RUN], place);
	for (const line of output.trim().split('\n')) console.log(`  ${line}`);
	return [
		...faultsOf(run),
		...(green ? [] : ['the tests do not pass']),
		...(validated === 0 ? [] : [`ccc validate ended with exit code ${validated}`]),
	];
}

async function testsPass() {
	command(VERIFY);
	const { exitCode, tests } = await runTests(repository, env);
	for (const test of tests) testResult(test);
	return exitCode === 0 && tests.length > 0;
}

function lookAround() {
	heading('Look around');
	if (existsSync(run)) {
		for (const verb of ['status', 'diff', 'validate'])
			console.log(`  node ${[ccc[1], verb, run].map(quote).join(' ')}`);
		console.log(`  ls ${quote(path.join(run, 'artifacts'))}`);
	}
	console.log(`  rm -r ${quote(folder)}    # when you have seen enough`);
	console.log(`\nRun folder: ${run}`);
}
