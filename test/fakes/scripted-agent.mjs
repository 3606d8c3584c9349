#!/usr/bin/env node
// Plays `claude` or `codex`, whichever name it is called by, as scenario.json beside that name says: by stage a step, or a
// list of steps for the first, second, .. call of that stage. Without a step it approves, plans and codes as it should.
//   answer   the whole final message        shell    a command line run in the repository before the answer
//   stderr   text on stderr                 exit     exit code (without an answer unless one is given)
//   hang     never answers                  orphan   leaves a process in a session of its own
//   noFile   Codex: no output file          stdout   Codex: what stands on stdout beside the output file
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeDocument, planDocument } from './documents.mjs';

const folder = path.dirname(process.argv[1]);
const who = path.basename(process.argv[1]);
const argv = process.argv.slice(2);
if (argv.includes('--version')) {
	console.log(who === 'claude' ? '2.1.197 (Claude Code)' : 'codex-cli 0.147.0');
	process.exit(0);
}
if (argv.includes('--help')) {
	console.log(
		'--print --output-format --no-session-persistence --tools --disallowedTools --permission-mode --allowedTools --model',
	);
	console.log('--output-last-message --sandbox --color');
	process.exit(0);
}
if (argv[0] === 'login' || argv[0] === 'auth') {
	console.log('Logged in');
	process.exit(0);
}

const prompt = readFileSync(0, 'utf8');
const stage = /^CCC stage: (\S+)/.exec(prompt)[1];
const log = path.join(folder, 'calls.jsonl');
const earlier = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
const times = earlier.filter((line) => JSON.parse(line).stage === stage).length;
appendFileSync(log, `${JSON.stringify({ who, stage, argv, cwd: process.cwd(), env: process.env, prompt })}\n`);

const scenario = JSON.parse(readFileSync(path.join(folder, 'scenario.json'), 'utf8'));
const steps = [scenario[stage] ?? {}].flat();
const step = steps[Math.min(times, steps.length - 1)] ?? {};
if (step.shell) execFileSync('sh', ['-c', step.shell], { stdio: 'ignore' });
if (step.orphan) spawn('setsid', ['sleep', '987'], { detached: true, stdio: 'ignore' }).unref();
if (step.stderr) process.stderr.write(step.stderr);
if (step.hang) setInterval(() => {}, 1000);
else answer();

function answer() {
	const text = step.answer ?? (step.exit ? '' : usualAnswer());
	if (who === 'codex') {
		process.stdout.write(step.stdout ?? text);
		if (!step.noFile) writeFileSync(argv[argv.indexOf('--output-last-message') + 1], text);
	} else process.stdout.write(text);
	process.exitCode = step.exit ?? 0;
}

function usualAnswer() {
	const [, kind, version, review] = /^(plan|code|review)_v(\d+)(_review)?$/.exec(stage);
	if (review || kind === 'review') return 'I read it all.\n\nREADY: yes\n';
	const ids = [...new Set(prompt.match(/^[PC]\d+(?= \[)/gm) ?? [])];
	if (kind === 'plan') return planDocument(Number(version), ids);
	const ref = /^run_start_ref: (\S+)$/m.exec(prompt)[1];
	return codeDocument(Number(version), { ref, head: head(), ids });
}

function head() {
	try {
		const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
		return execFileSync('git', ['rev-parse', '--verify', 'HEAD'], options).trim();
	} catch {
		return 'none';
	}
}
