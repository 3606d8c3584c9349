import { formatDuration } from '../lib/kit/duration.ts';
import { quoteWord } from '../lib/kit/words.ts';
import { existingRunFolder } from '../lib/run/run-folder.ts';
import { type RunOverview, readRunOverview, type StageOverview } from '../lib/run/run-overview.ts';
import { decideAdvice, resumeCommand } from '../lib/run/run-report.ts';
import { validateRun } from '../lib/run/validate-run.ts';
import type { Invocation } from './invocation.ts';
import type { Output } from './outputs.ts';
import { closingLines, printJson, printText } from './print.ts';
import { takeWords } from './words.ts';

export async function status({ words, json, cwd }: Invocation): Promise<number> {
	const [shown = ''] = takeWords(words, ['<folder>']);
	const folder = await existingRunFolder(shown, cwd);
	const overview = await readRunOverview(folder, new Date());
	const problems = (await validateRun(folder)).problems.filter(({ level }) => level === 'error').length;
	if (json) printJson(toJson(shown, overview, problems));
	else printText(toText(shown, overview, problems));
	return 0;
}

function toJson(
	shown: string,
	{ run, stageCompleted, stages, openFindings, driver, coordinator }: RunOverview,
	problems: number,
): Output<'status'> {
	return {
		ccc_run: shown,
		stage_completed: stageCompleted,
		next_action: run.workflow.nextAction,
		status: run.status,
		exit_code: 0,
		reason: run.workflow.reason,
		problems,
		plan_code: run.planCode,
		rounds: run.rounds,
		stages: stages.map(({ stage, owner, state, verdict, durationMs, idleMs }) => ({
			stage,
			owner,
			state,
			verdict,
			duration_ms: durationMs,
			idle_ms: idleMs,
		})),
		open_findings: openFindings.map(({ id, severity, text }) => ({ id, severity, text })),
		driver,
		coordinator: coordinator && {
			purpose: coordinator.purpose,
			pid: coordinator.owner.pid,
			since: coordinator.acquiredAt,
		},
	};
}

function toText(shown: string, overview: RunOverview, problems: number): string {
	const { run, stageCompleted, stages, openFindings, coordinator } = overview;
	const width = Math.max(0, ...stages.map(({ stage }) => stage.length));
	const lines = [
		`Task: ${run.taskSummary.split('\n')[0] ?? ''}`,
		`${run.planCode}, p${run.rounds.plan}-c${run.rounds.code}, ${run.status}`,
		'',
		...stages.map((stage) => `  ${stage.stage.padEnd(width)}  ${stage.owner.padEnd(6)}  ${describe(stage)}`),
	];
	if (openFindings.length > 0) {
		lines.push('', 'Open findings:');
		lines.push(...openFindings.map(({ id, severity, text }) => `  ${id} [${severity}] ${text.split('\n')[0] ?? ''}`));
	}
	if (overview.driver) lines.push('', `Driven by: ${DRIVERS[overview.driver]}`);
	if (coordinator) lines.push('', `At work: ${coordinator.purpose}, process ${coordinator.owner.pid}`);
	if (run.workflow.reason !== undefined) lines.push('', `Reason: ${run.workflow.reason}`);
	if (problems > 0) {
		lines.push('', `Invalid: ${problems} problems; ccc validate ${quoteWord(shown)} lists them`);
	}
	const next = nextCommand(shown, overview);
	if (next !== undefined) lines.push('', `Next: ${next}`);
	lines.push('', closingLines(shown, stageCompleted, run.workflow.nextAction));
	return lines.join('\n');
}

/** What the user can do; nothing while a command is at work or when the run is over. */
function nextCommand(shown: string, { step, driver, coordinator }: RunOverview): string | undefined {
	if (coordinator) return undefined;
	if (step.kind === 'decide') return decideAdvice(shown, step.review);
	if (step.kind !== 'stage' && step.kind !== 'override') return undefined;
	return driver ? `that session goes on; to take the run from it: ${resumeCommand(shown)}` : resumeCommand(shown);
}

const DRIVERS = {
	claude: 'a session of Claude Code',
	codex: 'a session of Codex',
	unknown: 'a session of an unknown kind',
};

function describe({ state, verdict, durationMs, idleMs }: StageOverview): string {
	const parts: string[] = [state];
	if (verdict !== undefined) parts.push(verdict);
	if (durationMs !== undefined) parts.push(formatDuration(durationMs));
	if (idleMs !== undefined) parts.push(`last output ${formatDuration(idleMs)} ago`);
	return parts.join(', ');
}
