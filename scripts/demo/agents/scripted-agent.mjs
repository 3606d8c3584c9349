// Stands in for the `claude` and `codex` command lines in the demo: takes the same words, reads the prompt from standard
// input and answers in the same place. What it answers is in stages.mjs; no model is asked and no network is used.
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { playStage } from './stages.mjs';

/** Of the real command lines, the options that a run uses; any other word is refused, as it would be there. */
const CLIS = {
	claude: {
		usage: 'claude [options] < prompt',
		version: 'scripted stand-in for Claude Code',
		options: {
			'--print': '',
			'--output-format': '<format>',
			'--no-session-persistence': '',
			'--tools': '<tools>',
			'--allowedTools': '<tools>',
			'--disallowedTools': '<tools>',
			'--permission-mode': '<mode>',
			'--model': '<model>',
		},
		mayWrite: (given) => given.get('--permission-mode') === 'acceptEdits',
		answersPrompt: (given) => given.has('--print'),
	},
	codex: {
		usage: 'codex exec [options] - < prompt',
		version: 'scripted stand-in for codex-cli',
		options: { '--sandbox': '<mode>', '--color': '<when>', '--output-last-message': '<file>', '--model': '<model>' },
		mayWrite: (given) => given.get('--sandbox') === 'workspace-write',
		answersPrompt: (given) => given.has('exec') && given.has('-'),
	},
};

/** Milliseconds a stage takes, so that a person can follow; CCC_DEMO_PACE_MS overrides all of them. */
const PACE_MS = { plan: 600, plan_review: 500, code: 800, review: 600 };

/** @param {'claude' | 'codex'} name whose command line to speak */
export async function runAgent(name) {
	const words = process.argv.slice(2);
	try {
		process.stdout.write(aboutItself(name, words) ?? (await answerPrompt(name, words)));
	} catch (error) {
		process.stderr.write(`error: ${error.message}\n`);
		process.exitCode = 1;
	}
}

function aboutItself(name, words) {
	const { usage, version, options } = CLIS[name];
	if (words.includes('--version')) return `0.0.0 (${version})\n`;
	if (words.includes('--help')) {
		const lines = Object.entries(options).map(([option, value]) => `  ${option} ${value}`.trimEnd());
		return `Usage: ${usage}\n\n${lines.join('\n')}\n`;
	}
	if (words.join(' ') === 'auth status') return '{ "loggedIn": true }\n';
	if (words.join(' ') === 'login status') return 'Logged in (scripted, no account needed)\n';
	return undefined;
}

async function answerPrompt(name, words) {
	const { usage, mayWrite, answersPrompt } = CLIS[name];
	const given = readOptions(name, words);
	if (!answersPrompt(given)) throw new Error(`nothing to do; usage: ${usage}`);
	const prompt = readFileSync(0, 'utf8');
	const say = (line) => process.stderr.write(`${line}\n`);
	const { kind, answer } = playStage(prompt, { mayWrite: mayWrite(given), say });
	await sleep(Number(process.env.CCC_DEMO_PACE_MS ?? PACE_MS[kind]));
	const file = given.get('--output-last-message');
	if (file !== undefined) writeFileSync(file, answer);
	return answer;
}

function readOptions(name, words) {
	const { options } = CLIS[name];
	const given = new Map();
	for (let index = 0; index < words.length; index++) {
		const word = words[index];
		const value = options[word];
		if (value === undefined && !(name === 'codex' && (word === 'exec' || word === '-'))) {
			throw new Error(`unexpected argument ${JSON.stringify(word)}`);
		}
		given.set(word, value ? words[++index] : '');
	}
	return given;
}
