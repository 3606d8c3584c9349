// Starts the commands of the demo. None outlives it: a signal that ends the demo is handed on, and waited for.
import { spawn } from 'node:child_process';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Its output goes where ours goes. As all of these, it rejects when a signal comes meanwhile.
 * @returns {Promise<number>} the exit code; 1 when a signal ended the command
 */
export async function show(words, options) {
	return (await start(words, { ...options, stdio: 'inherit' })).exitCode;
}

/** @returns {Promise<{ exitCode: number, output: string }>} with what it said on stdout */
export function capture(words, options) {
	return start(words, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Runs the tests of a repository. @returns the exit code and each test with its result */
export async function runTests(cwd, env) {
	const { exitCode, output } = await capture([process.execPath, '--test', '--test-reporter=tap'], { cwd, env });
	const tests = [...output.matchAll(/^\s*(not )?ok \d+ - (.+)$/gm)].map(([, not, name]) => ({ name, passed: !not }));
	return { exitCode, tests };
}

function start([program, ...words], options) {
	const child = spawn(program, words, options);
	let interruption;
	const handOn = (signal) => {
		interruption = new Error(`interrupted by ${signal}`);
		child.kill(signal);
	};
	for (const signal of SIGNALS) process.on(signal, handOn);
	let output = '';
	child.stdout?.setEncoding('utf8').on('data', (text) => {
		output += text;
	});
	return new Promise((resolve, reject) => {
		const end = (error, result) => {
			for (const signal of SIGNALS) process.off(signal, handOn);
			if (error === undefined) resolve(result);
			else reject(error);
		};
		child.on('error', end);
		child.on('close', (code) => end(interruption, { exitCode: code ?? 1, output }));
	});
}
