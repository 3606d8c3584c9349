/** Shows the progress of `ccc run` on stderr: one live line on a terminal, plain lines otherwise. */
import { formatDuration } from '../lib/kit/duration.ts';
import type { ProgressEvent, Report } from '../lib/run/progress.ts';
import { printable } from './print.ts';

export interface ProgressView {
	readonly report: Report;
	/** Clears the live line and, on a terminal, rings the bell. */
	readonly end: () => void;
	/** Warnings seen, for --json. */
	readonly warnings: string[];
}

const LIVE_MS = 500;
const PLAIN_MS = 60_000;
const PLAIN_WIDTH = 110;
/** Wide enough for `plan_v10_review`, so that what follows stands in columns. */
const STAGE_WIDTH = 15;
const OWNER_WIDTH = 6;

export function progressView(stream: NodeJS.WriteStream): ProgressView {
	const live = stream.isTTY === true && process.env.TERM !== 'dumb';
	const warnings: string[] = [];
	let owner = '';
	let shownAt = 0;
	let lineShown = false;
	const clear = (): void => {
		if (lineShown) stream.write('\r\u001b[K');
		lineShown = false;
	};
	const line = (text: string): void => {
		clear();
		stream.write(`${printable(text)}\n`);
	};
	const show = (text: string): void => {
		if (!live) {
			line(text);
			return;
		}
		stream.write(`\r\u001b[K${printable(text).slice(0, Math.max(20, (stream.columns ?? 80) - 1))}`);
		lineShown = true;
	};
	const working = (event: Extract<ProgressEvent, { kind: 'stage-working' }>): void => {
		const now = Date.now();
		if (now - shownAt < (live ? LIVE_MS : PLAIN_MS)) return;
		shownAt = now;
		const idle = event.idleMs < 2000 ? '' : `, last output ${formatDuration(event.idleMs)} ago`;
		show(`${columns(event.stage, owner)}at work for ${formatDuration(event.elapsedMs)}${idle}`);
	};
	const started = (event: Extract<ProgressEvent, { kind: 'stage-started' }>): void => {
		owner = event.owner;
		shownAt = Date.now();
		show(`${columns(event.stage, owner)}${event.attached ? 'found at work' : 'at work'}`);
	};
	return {
		warnings,
		report: (event) => {
			if (event.kind === 'stage-working') working(event);
			else if (event.kind === 'stage-started') started(event);
			else line(describe(event, live ? (stream.columns ?? 80) : PLAIN_WIDTH));
			if (event.kind === 'warning') warnings.push(event.text);
		},
		end: () => {
			clear();
			if (live) stream.write('\u0007');
		},
	};
}

const columns = (stage: string, owner: string): string => `${stage.padEnd(STAGE_WIDTH)} ${owner.padEnd(OWNER_WIDTH)} `;

function describe(event: Exclude<ProgressEvent, { kind: 'stage-working' | 'stage-started' }>, width: number): string {
	switch (event.kind) {
		case 'stage-committed': {
			const { verdict = 'done', findings } = event;
			const text = `${columns(event.stage, event.owner)}${verdict}${countOf(findings)}, ${formatDuration(event.durationMs)}`;
			return [text, ...findings.map((finding) => findingLine(finding, width))].join('\n');
		}
		case 'correction':
			return [`  the answer has the wrong form, asking once more`, ...event.problems.map((text) => `    ${text}`)].join(
				'\n',
			);
		case 'verified':
			return `  verify: ${event.command}: ${verifyResult(event)}, ${formatDuration(event.durationMs)}`;
		case 'warning':
			return `warning: ${event.text}`;
		case 'note':
			return event.text;
	}
}

function verifyResult({ exitCode, timedOut }: Extract<ProgressEvent, { kind: 'verified' }>): string {
	if (timedOut) return 'stopped at its deadline';
	if (exitCode === 0) return 'passed';
	return exitCode === null ? 'ended by a signal' : `failed (exit ${exitCode})`;
}

type Findings = Extract<ProgressEvent, { kind: 'stage-committed' }>['findings'];

/** The start of each finding; the whole text is in the artifact. */
function findingLine({ id, severity, text }: Findings[number], width: number): string {
	const line = `  ${id} [${severity}] ${text.split('\n')[0] ?? ''}`;
	return line.length < width ? line : `${line.slice(0, Math.max(20, width - 2))}…`;
}

function countOf(findings: Findings): string {
	const parts = (['major', 'minor'] as const)
		.map((severity) => ({ severity, count: findings.filter((finding) => finding.severity === severity).length }))
		.filter(({ count }) => count > 0)
		.map(({ severity, count }) => `${count} ${severity}`);
	return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
