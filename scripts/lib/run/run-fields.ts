/** The `key: value` sections of run.md: which keys there are, what each may be, and what is wrong with one. */
import type { Agent } from '../agents/agent.ts';
import type { Document, Section } from '../markdown/document.ts';
import { hiddenKeyLine, type KeyLine, readKeyLines } from '../markdown/key-lines.ts';
import { quoted } from '../markdown/quoted.ts';
import type { Problem } from './problem.ts';
import type { RunFile } from './run-file.ts';
import { parseValue } from './run-text.ts';
import { artifactPath, PLAN_CODES, parseStage } from './stages.ts';
import { VERDICTS } from './verdicts.ts';

const AGENTS = ['claude', 'codex'] as const satisfies readonly Agent[];

export const STATUSES = ['active', 'complete', 'blocked', 'canceled'] as const;

export interface Fields extends Partial<Omit<RunFile, 'description' | 'taskSummary' | 'status'>> {
	/** The 1-based line of each key. */
	readonly lines: ReadonlyMap<string, number>;
}

const oneOf =
	<T extends string>(...words: readonly T[]) =>
	(value: string): T | undefined =>
		words.find((word) => word === value);
const stageOr =
	(...words: string[]) =>
	(value: string) =>
		words.includes(value) || parseStage(value) !== undefined ? value : undefined;
const round = (value: string) => (/^(?:0|[1-9][0-9]?)$/.test(value) ? Number(value) : undefined);
const matching = (pattern: RegExp) => (value: string) => (pattern.test(value) ? value : undefined);

function artifactOrNone(value: string): string | undefined {
	if (value === 'none') return value;
	const stage = parseStage(/^artifacts\/(.+)\.md$/.exec(value)?.[1] ?? '');
	return stage !== undefined && artifactPath(stage) === value ? value : undefined;
}

/** A path that stays in the run folder by its words; whether it does by its links is for whoever opens it. */
function innerPath(value: string): string | undefined {
	const parts = value.split('/');
	return /^[^\\:]+$/.test(value) && !parts.includes('..') && !parts.includes('') ? value : undefined;
}

const text = (value: string) => (value === '' ? undefined : parseValue(value));

/** Keys by section: how each value is read, and what is expected where it cannot be. */
const KEYS = {
	planner: ['Runtime', oneOf(...AGENTS), AGENTS.join(' or ')],
	coder: ['Runtime', oneOf(...AGENTS), AGENTS.join(' or ')],
	plan_code: ['Runtime', oneOf(...PLAN_CODES), PLAN_CODES.join(', ')],
	session_detected: ['Runtime', oneOf(...AGENTS, 'unknown'), 'claude, codex or unknown'],
	plan_code_source: [
		'Runtime',
		oneOf('explicit', 'env', 'default', 'persisted'),
		'explicit, env, default or persisted',
	],
	ccc_home: ['Runtime', text, 'a path'],
	verify: ['Runtime', text, 'a command'],
	plan_rounds: ['Rounds', round, 'a number from 0 to 99'],
	revision_rounds: ['Rounds', round, 'a number from 0 to 99'],
	run_start_ref: ['Git Baseline', matching(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/), '40 or 64 hex digits'],
	run_start_ref_kind: ['Git Baseline', oneOf('head', 'empty_tree'), 'head or empty_tree'],
	run_start_status_file: ['Git Baseline', innerPath, 'a path inside the run folder'],
	run_start_unstaged_diff: ['Git Baseline', innerPath, 'a path inside the run folder'],
	run_start_staged_diff: ['Git Baseline', innerPath, 'a path inside the run folder'],
	current_stage: ['Workflow State', stageOr('none'), 'a stage or none'],
	latest_artifact: ['Workflow State', artifactOrNone, 'artifacts/<stage>.md or none'],
	latest_verdict: ['Workflow State', oneOf(...VERDICTS, 'none'), `${VERDICTS.join(', ')} or none`],
	next_action: ['Workflow State', stageOr('complete', 'blocked', 'canceled'), 'a stage, complete, blocked or canceled'],
	reason: ['Workflow State', text, 'one line of text'],
} as const satisfies Record<string, readonly [string, (value: string) => unknown, string]>;

type Key = keyof typeof KEYS;
type Value<K extends Key> = Exclude<ReturnType<(typeof KEYS)[K][1]>, undefined>;

const OPTIONAL: ReadonlySet<string> = new Set<Key>(['ccc_home', 'verify', 'reason']);

/** Reads all keyed sections that are there and adds what is wrong to `problems`. */
export function readFields(
	document: Document,
	file: string,
	sectionOf: (name: string) => Section | undefined,
	problems: Problem[],
): Fields {
	const values = new Map<string, unknown>();
	const lines = new Map<string, number>();
	for (const name of ['Runtime', 'Rounds', 'Git Baseline', 'Workflow State']) {
		const section = sectionOf(name);
		if (section === undefined) continue;
		const keys = (Object.keys(KEYS) as Key[]).filter((key) => KEYS[key][0] === name);
		readSection(document, file, section, keys, { values, lines, problems });
	}
	const get = <K extends Key>(key: K) => values.get(key) as Value<K> | undefined;
	return { lines, ...fieldsFrom(get) };
}

function readSection(
	document: Document,
	file: string,
	section: Section,
	keys: readonly Key[],
	into: { values: Map<string, unknown>; lines: Map<string, number>; problems: Problem[] },
): void {
	const report = (at: { line: number; column: number }, code: string, found: string, expected: string) =>
		into.problems.push({ file, line: at.line, column: at.column, code, found, expected, level: 'error' });
	const byKey = new Map<string, KeyLine[]>();
	for (const keyLine of readKeyLines(document, section)) {
		byKey.set(keyLine.key, [...(byKey.get(keyLine.key) ?? []), keyLine]);
	}
	for (const key of keys) {
		const [, read, expected] = KEYS[key];
		const [first, second] = byKey.get(key) ?? [];
		if (first === undefined) {
			if (OPTIONAL.has(key)) continue;
			const hidden = hiddenKeyLine(document, section, key);
			const found = hidden === undefined ? `no '${key}:'` : `'${key}:' inside a list, quote or code on line ${hidden}`;
			report(section, 'missing-key', found, `a line '${key}: …' under '## ${section.title}'`);
			continue;
		}
		if (second !== undefined) {
			report(second, 'duplicate-key', `'${key}:' on lines ${first.line} and ${second.line}`, `'${key}:' once`);
			continue;
		}
		into.lines.set(key, first.line);
		const value = read(first.value);
		if (value === undefined) report(first, 'bad-value', quoted(`${key}: ${first.value}`), expected);
		else into.values.set(key, value);
	}
	for (const [key, [first]] of byKey) {
		if (keys.includes(key as Key)) continue;
		const found = `'${key}:'`;
		const expected = `one of ${keys.join(', ')}`;
		into.problems.push({
			file,
			line: first!.line,
			column: first!.column,
			code: 'unknown-key',
			found,
			expected,
			level: 'warning',
		});
	}
}

function fieldsFrom(get: <K extends Key>(key: K) => Value<K> | undefined): Omit<Fields, 'lines'> {
	return defined({
		planner: get('planner'),
		coder: get('coder'),
		planCode: get('plan_code'),
		sessionDetected: get('session_detected'),
		planCodeSource: get('plan_code_source'),
		cccHome: get('ccc_home'),
		verify: get('verify'),
		rounds: whole({ plan: get('plan_rounds'), code: get('revision_rounds') }),
		baseline: whole({
			ref: get('run_start_ref'),
			kind: get('run_start_ref_kind'),
			statusFile: get('run_start_status_file'),
			unstagedDiff: get('run_start_unstaged_diff'),
			stagedDiff: get('run_start_staged_diff'),
		}),
		workflow: workflowFrom(get),
	});
}

function workflowFrom(get: <K extends Key>(key: K) => Value<K> | undefined): Fields['workflow'] {
	const state = whole({
		currentStage: get('current_stage'),
		latestArtifact: get('latest_artifact'),
		latestVerdict: get('latest_verdict'),
		nextAction: get('next_action'),
	});
	const reason = get('reason');
	return state === undefined || reason === undefined ? state : { ...state, reason };
}

type Whole<T> = { [K in keyof T]: Exclude<T[K], undefined> };
type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The object when none of its values is missing. */
function whole<T extends object>(value: T): Whole<T> | undefined {
	return Object.values(value).includes(undefined) ? undefined : (value as Whole<T>);
}

/** The object without its missing values. */
function defined<T extends object>(value: T): Defined<T> {
	return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Defined<T>;
}
