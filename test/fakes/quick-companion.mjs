#!/usr/bin/env node
// Speaks both CLIs (`codex exec ... --output-last-message <file> -`, `claude --print ...`): thinks for a moment, sends
// version 0 of the plan and of the code back, and approves version 1. Its edits are the same however often it makes them.
// FAKE_THINK_MS: the longest it thinks, default 60. FAKE_HANG_AT: a stage it never answers, or after FAKE_HANG_MS.
// FAKE_ASKED: a file that gets a line per call, the stage.
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeDocument, planDocument } from './documents.mjs';

const argv = process.argv.slice(2);
const prompt = readFileSync(0, 'utf8');
const [, stage, kind, digits, isPlanReview] = /^CCC stage: ((plan|code|review)_v(\d+)(_review)?)$/m.exec(prompt);
const version = Number(digits);
const longest = Number(process.env.FAKE_THINK_MS ?? 60);
const think = () => sleep(5 + Math.random() * (longest - 5));

if (process.env.FAKE_ASKED) appendFileSync(process.env.FAKE_ASKED, `${stage}\n`);
await think();
if (process.env.FAKE_HANG_AT === stage) await sleep(Number(process.env.FAKE_HANG_MS ?? 2 ** 31 - 1));
if (kind === 'review' || isPlanReview) say(review());
else if (kind === 'plan') say(planDocument(version, openIds()));
else {
	await edit();
	const ref = /^run_start_ref: (\S+)$/m.exec(prompt)[1];
	const head = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
	say(codeDocument(version, { ref, head, ids: openIds() }));
}

function review() {
	return version === 0 ? '## Findings\n- [major] Not good enough yet.\n\nREADY: no\n' : 'Good.\n\nREADY: yes\n';
}

function openIds() {
	return [...new Set(prompt.match(/^[PC]\d+(?= \[)/gm) ?? [])];
}

async function edit() {
	writeFileSync('value.txt', `value ${version}\n`);
	await think();
	writeFileSync('added.txt', `added ${version}\n`);
}

function say(text) {
	if (argv[0] === 'exec') writeFileSync(argv[argv.indexOf('--output-last-message') + 1], text);
	process.stdout.write(text);
}
