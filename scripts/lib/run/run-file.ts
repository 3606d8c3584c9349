/** run.md, written and read (protocol: Run File). Both are pure; whoever writes the file does so atomically. */
import type { Agent } from '../agents/agent.ts';
import { type Document, readDocument, type Section, sectionText } from '../markdown/document.ts';
import { quoted } from '../markdown/quoted.ts';
import { checkHeadings, findSection } from './check-headings.ts';
import type { Problem } from './problem.ts';
import { type Fields, readFields, STATUSES } from './run-fields.ts';
import { parseQuoted, renderQuoted, renderValue } from './run-text.ts';
import type { PlanCode, Rounds } from './stages.ts';
import type { Verdict } from './verdicts.ts';

export interface RunFile {
	/** Free text of the user; untrusted. */
	readonly description: string;
	readonly planner: Agent;
	readonly coder: Agent;
	readonly planCode: PlanCode;
	readonly sessionDetected: 'claude' | 'codex' | 'unknown';
	readonly planCodeSource: 'explicit' | 'env' | 'default' | 'persisted';
	readonly cccHome?: string;
	/** The command the coordinator runs after each code stage. */
	readonly verify?: string;
	readonly rounds: Rounds;
	/** Untrusted. */
	readonly taskSummary: string;
	readonly baseline: {
		readonly ref: string;
		readonly kind: 'head' | 'empty_tree';
		/** Paths relative to the run folder. */
		readonly statusFile: string;
		readonly unstagedDiff: string;
		readonly stagedDiff: string;
	};
	readonly workflow: {
		/** A stage name or `none`. */
		readonly currentStage: string;
		/** A path relative to the run folder or `none`. */
		readonly latestArtifact: string;
		readonly latestVerdict: Verdict | 'none';
		/** A stage name, `complete`, `blocked` or `canceled`. */
		readonly nextAction: string;
		/** Why the run is blocked or canceled. */
		readonly reason?: string;
	};
	readonly status: 'active' | 'complete' | 'blocked' | 'canceled';
}

const TITLE = 'CCC Run';
const SECTIONS = [
	'Description',
	'Runtime',
	'Rounds',
	'Task Summary',
	'Git Baseline',
	'Workflow State',
	'Status',
] as const;
/** These two are derived from the truth of the run whenever it is written. */
const STATE_SECTIONS: readonly string[] = ['Workflow State', 'Status'];
/** Ids of the tree without files, in SHA-1 and SHA-256 repositories. */
const EMPTY_TREES = [
	'4b825dc642cb6eb9a060e54bf8d69288fbee4904',
	'6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
];

const LOST_STATE: Pick<RunFile, 'workflow' | 'status'> = {
	workflow: {
		currentStage: 'none',
		latestArtifact: 'none',
		latestVerdict: 'none',
		nextAction: 'blocked',
		reason: 'the state in run.md cannot be read; the next command derives it anew',
	},
	status: 'blocked',
};

/** The whole file. Text that run.md cannot hold (CR, NUL, lone surrogates) is replaced as `cleanText` says. */
export function renderRunFile(run: RunFile): string {
	const { baseline, workflow } = run;
	const optional = (key: string, value: string | undefined) =>
		value === undefined ? [] : [`${key}: ${renderValue(value)}`];
	const bodies: Record<(typeof SECTIONS)[number], string[]> = {
		Description: [renderQuoted(run.description)],
		Runtime: [
			`planner: ${run.planner}`,
			`coder: ${run.coder}`,
			`plan_code: ${run.planCode}`,
			`session_detected: ${run.sessionDetected}`,
			`plan_code_source: ${run.planCodeSource}`,
			...optional('ccc_home', run.cccHome),
			...optional('verify', run.verify),
		],
		Rounds: [`plan_rounds: ${run.rounds.plan}`, `revision_rounds: ${run.rounds.code}`],
		'Task Summary': [renderQuoted(run.taskSummary)],
		'Git Baseline': [
			`run_start_ref: ${baseline.ref}`,
			`run_start_ref_kind: ${baseline.kind}`,
			`run_start_status_file: ${baseline.statusFile}`,
			`run_start_unstaged_diff: ${baseline.unstagedDiff}`,
			`run_start_staged_diff: ${baseline.stagedDiff}`,
		],
		'Workflow State': [
			`current_stage: ${workflow.currentStage}`,
			`latest_artifact: ${workflow.latestArtifact}`,
			`latest_verdict: ${workflow.latestVerdict}`,
			`next_action: ${workflow.nextAction}`,
			...optional('reason', workflow.reason),
		],
		Status: [run.status],
	};
	return `# ${TITLE}\n${SECTIONS.map((section) => `\n## ${section}\n\n${bodies[section].join('\n')}\n`).join('')}`;
}

/**
 * Reads run.md, our own or of another hand. All problems are reported; `run` is there when each needed value could be
 * read, which does not mean that there are no problems.
 *
 * @param file how the problems name the file
 * @param options `withoutState`: Workflow State and Status are neither read nor checked, for whoever derives them anew
 * @returns `lines` has the 1-based line of each key, and of the status
 */
export function parseRunFile(
	bytes: Uint8Array,
	file: string,
	options: { readonly withoutState?: boolean } = {},
): { run?: RunFile; problems: Problem[]; lines: ReadonlyMap<string, number> } {
	const result = readDocument(bytes);
	if ('problem' in result) return { problems: [{ file, level: 'error', ...result.problem }], lines: new Map() };
	const { document } = result;
	const wanted = options.withoutState ? SECTIONS.filter((name) => !STATE_SECTIONS.includes(name)) : SECTIONS;
	const problems: Problem[] = checkHeadings(document, file, { title: TITLE, sections: wanted });
	const sections = new Map<string, Section | undefined>(wanted.map((name) => [name, findSection(document, name)]));
	const read = readFields(document, file, (name) => sections.get(name), problems);
	const fields = options.withoutState ? { ...read, workflow: LOST_STATE.workflow } : read;
	const status = options.withoutState
		? LOST_STATE.status
		: readStatus(document, file, sections.get('Status'), problems);
	const run = assemble(document, fields, status, sections.get('Description'), sections.get('Task Summary'));
	if (fields.planCode !== undefined && fields.planner !== undefined && fields.coder !== undefined) {
		const expected = `${fields.planner}-${fields.coder}`;
		if (fields.planCode !== expected) {
			const line = fields.lines.get('plan_code') ?? 1;
			const found = `'plan_code: ${fields.planCode}'`;
			problems.push({
				file,
				line,
				column: 1,
				code: 'plan-code-mismatch',
				found,
				expected: `'${expected}'`,
				level: 'error',
			});
		}
	}
	const { baseline } = fields;
	if (baseline?.kind === 'empty_tree' && !EMPTY_TREES.includes(baseline.ref)) {
		const found = `'run_start_ref: ${baseline.ref}' that is no empty tree`;
		const expected = EMPTY_TREES.map((ref) => `'${ref}'`).join(' or ');
		const line = fields.lines.get('run_start_ref') ?? 1;
		problems.push({ file, line, column: 1, code: 'wrong-empty-tree', found, expected, level: 'error' });
	}
	const statusLine = sections.get('Status')?.nodes[0]?.position?.start.line ?? 1;
	const lines = new Map([...fields.lines, ['status', statusLine]]);
	return run === undefined ? { problems, lines } : { run, problems, lines };
}

function readStatus(
	document: Document,
	file: string,
	section: Section | undefined,
	problems: Problem[],
): RunFile['status'] | undefined {
	if (section === undefined) return undefined;
	const text = sectionText(document, section);
	const status = STATUSES.find((word) => word === text);
	if (status === undefined) {
		const line =
			document.lines.findIndex((source, index) => index >= section.startLine - 1 && source.trim() !== '') + 1;
		problems.push({
			file,
			line: text === '' ? section.line : line,
			column: 1,
			code: 'bad-status',
			found: text === '' ? 'nothing' : quoted(text),
			expected: `exactly one of ${STATUSES.join(', ')}`,
			level: 'error',
		});
	}
	return status;
}

function assemble(
	document: Document,
	fields: Fields,
	status: RunFile['status'] | undefined,
	description: Section | undefined,
	summary: Section | undefined,
): RunFile | undefined {
	const { planner, coder, planCode, sessionDetected, planCodeSource, cccHome, verify, rounds, baseline, workflow } =
		fields;
	if (
		!(planner && coder && planCode && sessionDetected && planCodeSource) ||
		!(rounds && baseline && workflow && status && description && summary)
	) {
		return undefined;
	}
	return {
		description: freeText(document, description),
		planner,
		coder,
		planCode,
		sessionDetected,
		planCodeSource,
		...(cccHome === undefined ? {} : { cccHome }),
		...(verify === undefined ? {} : { verify }),
		rounds,
		taskSummary: freeText(document, summary),
		baseline,
		workflow,
		status,
	};
}

/** Quoted as we write it, or any Markdown of another hand, trimmed. */
function freeText(document: Document, section: Section): string {
	const [only, ...others] = section.nodes;
	if (only?.type === 'blockquote' && others.length === 0) {
		const source = document.lines.slice(only.position!.start.line - 1, section.endLine);
		const text = parseQuoted(source.slice(0, source.findLastIndex((line) => line !== '') + 1));
		if (text !== undefined) return text;
	}
	return sectionText(document, section);
}
