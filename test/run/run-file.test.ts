import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatProblem } from '../../scripts/lib/run/problem.ts';
import { parseRunFile, type RunFile, renderRunFile } from '../../scripts/lib/run/run-file.ts';
import { cleanText } from '../../scripts/lib/run/run-text.ts';
import { PLAN_CODES } from '../../scripts/lib/run/stages.ts';
import { VERDICTS } from '../../scripts/lib/run/verdicts.ts';

const RUN: RunFile = {
	description: 'One change.',
	planner: 'claude',
	coder: 'codex',
	planCode: 'claude-codex',
	sessionDetected: 'unknown',
	planCodeSource: 'default',
	rounds: { plan: 2, code: 2 },
	taskSummary: 'Fix it.',
	baseline: {
		ref: 'a'.repeat(40),
		kind: 'head',
		statusFile: 'state/run_start.status',
		unstagedDiff: 'state/run_start.diff',
		stagedDiff: 'state/run_start_cached.diff',
	},
	workflow: { currentStage: 'plan_v0', latestArtifact: 'none', latestVerdict: 'none', nextAction: 'plan_v0' },
	status: 'active',
};

const parse = (text: string) => parseRunFile(new TextEncoder().encode(text), 'run.md');
const problemsOf = (text: string) => parse(text).problems.map(({ line, code, level }) => `${line} ${code} ${level}`);

describe('run.md as written', () => {
	it('has the keys of the protocol in its order', () => {
		expect(renderRunFile({ ...RUN, cccHome: '/opt/ccc', verify: 'npm test' })).toBe(
			`# CCC Run

## Description

> One change.

## Runtime

planner: claude
coder: codex
plan_code: claude-codex
session_detected: unknown
plan_code_source: default
ccc_home: /opt/ccc
verify: npm test

## Rounds

plan_rounds: 2
revision_rounds: 2

## Task Summary

> Fix it.

## Git Baseline

run_start_ref: ${'a'.repeat(40)}
run_start_ref_kind: head
run_start_status_file: state/run_start.status
run_start_unstaged_diff: state/run_start.diff
run_start_staged_diff: state/run_start_cached.diff

## Workflow State

current_stage: plan_v0
latest_artifact: none
latest_verdict: none
next_action: plan_v0

## Status

active
`,
		);
	});

	it('reads back as it was, whatever the texts are', () => {
		const hostile = fc.oneof(
			fc.string({ unit: 'binary', maxLength: 60 }),
			fc
				.array(
					fc.constantFrom(
						'## Status',
						'complete',
						'',
						'```',
						'> > > x',
						'- - - a',
						'\\- x',
						'1. x',
						'<!--',
						'-->',
						'planner: codex',
						'\\',
						'    code',
						'---',
						'===',
						'# CCC Run',
						'\u2028',
						' ',
						'\t- x',
						'[a]: b',
						'>'.repeat(100),
						'- '.repeat(100),
						'\uFEFF',
					),
					{ maxLength: 8 },
				)
				.map((lines) => lines.join('\n')),
		);
		const line = fc.oneof(
			fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
			fc.constantFrom('a # b', '"x"', ' x ', '# x', 'a\nb: c'),
		);
		const run = fc.record(
			{
				description: hostile,
				taskSummary: hostile,
				planCode: fc.constantFrom(...PLAN_CODES),
				sessionDetected: fc.constantFrom('claude', 'codex', 'unknown'),
				planCodeSource: fc.constantFrom('explicit', 'env', 'default', 'persisted'),
				rounds: fc.record({ plan: fc.nat(99), code: fc.nat(99) }),
				status: fc.constantFrom('active', 'complete', 'blocked', 'canceled'),
				latestVerdict: fc.constantFrom(...VERDICTS, 'none'),
				cccHome: line,
				verify: line,
				reason: line,
			},
			{
				requiredKeys: [
					'description',
					'taskSummary',
					'planCode',
					'sessionDetected',
					'planCodeSource',
					'rounds',
					'status',
					'latestVerdict',
				],
			},
		);
		fc.assert(
			fc.property(run, ({ latestVerdict, reason, ...values }) => {
				const [planner, coder] = values.planCode.split('-') as [RunFile['planner'], RunFile['coder']];
				const workflow = { ...RUN.workflow, latestVerdict, ...(reason === undefined ? {} : { reason }) };
				const whole: RunFile = { ...RUN, ...values, planner, coder, workflow };
				const { run: back, problems } = parse(renderRunFile(whole));
				expect(problems).toEqual([]);
				expect(back).toEqual({
					...whole,
					description: cleanText(whole.description),
					taskSummary: cleanText(whole.taskSummary),
				});
			}),
			{ numRuns: 150 },
		);
	});
});

describe('run.md of another hand', () => {
	const text = renderRunFile(RUN);
	const lineOf = (start: string) => text.split('\n').findIndex((line) => line.startsWith(start)) + 1;

	it('may hold plain paragraphs, comments after ccc_home and other spellings of headings', () => {
		const other = text
			.replace('> One change.', 'One\nchange.\n\n- with a list')
			.replace(
				'plan_code_source: default',
				'plan_code_source: default\nccc_home: /opt/c#c/ccc     # optional provenance',
			)
			.replace('## Rounds', 'Rounds\n------');
		expect(parse(other)).toMatchObject({
			problems: [],
			run: { description: 'One\nchange.\n\n- with a list', cccHome: '/opt/c#c/ccc' },
		});
	});

	it.each([
		'4b825dc642cb6eb9a060e54bf8d69288fbee4904',
		'6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
	])('may start from the empty tree %s', (ref) => {
		const baseline = { ...RUN.baseline, ref, kind: 'empty_tree' as const };
		expect(parse(renderRunFile({ ...RUN, baseline }))).toMatchObject({ problems: [], run: { baseline } });
	});

	it.each([
		['CRLF', text.replaceAll('\n', '\r\n')],
		['CR', text.replaceAll('\n', '\r')],
		['a byte order mark', `\uFEFF${text}`],
	])('reads the same with %s', (_, spelling) => {
		expect(parse(spelling)).toEqual(parse(text));
	});

	it.each([
		[
			'an empty tree that is none',
			['run_start_ref_kind: head', 'run_start_ref_kind: empty_tree'],
			[`${lineOf('run_start_ref:')} wrong-empty-tree error`],
		],
		['an unknown agent', ['planner: claude', 'planner: Claude'], ['9 bad-value error']],
		[
			'a plan code that is another',
			['plan_code: claude-codex', 'plan_code: codex-claude'],
			['11 plan-code-mismatch error'],
		],
		['a key twice', ['coder: codex', 'coder: codex\ncoder: codex'], ['11 duplicate-key error']],
		['a key missing', ['coder: codex\n', ''], ['7 missing-key error']],
		['a key in a list', ['plan_rounds: 2', '- plan_rounds: 2\n'], ['15 missing-key error']],
		['a further key', ['coder: codex', 'coder: codex\nmodel: x'], ['11 unknown-key warning']],
		['a leading zero', ['plan_rounds: 2', 'plan_rounds: 02'], ['17 bad-value error']],
		['a short reference', ['a'.repeat(40), 'abc123'], ['26 bad-value error']],
		['a path that leaves', ['state/run_start.diff', '../../etc/passwd'], ['29 bad-value error']],
		['an absolute path', ['state/run_start.diff', '/etc/passwd'], ['29 bad-value error']],
		['an unknown verdict', ['latest_verdict: none', 'latest_verdict: LGTM'], ['36 bad-value error']],
		['a status of two words', ['\nactive\n', '\nactive\ncomplete\n'], ['41 bad-status error']],
		['no status', ['\nactive\n', '\n'], ['39 bad-status error']],
		['a section missing', ['## Rounds\n\nplan_rounds: 2\nrevision_rounds: 2\n', ''], ['37 missing-section error']],
		['a title twice', ['## Status', '# CCC Run\n\n## Status'], ['39 duplicate-title error']],
	])('is reported with its line: %s', (_, [from, to], expected) => {
		expect(problemsOf(text.replace(from!, to!))).toEqual(expected);
	});

	it('has its sections in order', () => {
		const moved = text
			.replace('## Rounds\n\nplan_rounds: 2\nrevision_rounds: 2\n\n', '')
			.replace('## Status', '## Rounds\n\nplan_rounds: 2\nrevision_rounds: 2\n\n## Status');
		expect(problemsOf(moved)).toEqual(['15 section-order error']);
	});

	it('gives no run where a value is missing, and says all that is wrong', () => {
		const result = parse(text.replace('planner: claude', 'planner: x').replace('active', 'done'));
		expect(result.run).toBeUndefined();
		expect(result.problems.map(formatProblem)).toEqual([
			"run.md:9:1: bad-value: found 'planner: x', expected claude or codex",
			"run.md:41:1: bad-status: found 'done', expected exactly one of active, complete, blocked, canceled",
		]);
	});

	it('answers any bytes', () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
				expect(parseRunFile(bytes, 'run.md').run).toBeUndefined();
			}),
		);
	});
});
