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
	const working = (event: Extract<ProgressEvent, { kind: 'stage-working' }>): void => {
		const now = Date.now();
		if (now - shownAt < (live ? LIVE_MS : PLAIN_MS)) return;
		shownAt = now;
		const idle = event.idleMs < 2000 ? '' : `, last output ${formatDuration(event.idleMs)} ago`;
		const text = `  ${event.stage}: ${owner} has worked for ${formatDuration(event.elapsedMs)}${idle}`;
		if (!live) {
			line(text);
			return;
		}
		stream.write(`\r\u001b[K${text.slice(0, Math.max(20, (stream.columns ?? 80) - 1))}`);
		lineShown = true;
	};
	return {
		warnings,
		report: (event) => {
			if (event.kind === 'stage-working') {
				working(event);
				return;
			}
			if (event.kind === 'stage-started') {
				owner = event.owner;
				shownAt = Date.now() - (live ? LIVE_MS : 0);
			}
			if (event.kind === 'warning') warnings.push(event.text);
			line(describe(event));
		},
		end: () => {
			clear();
			if (live) stream.write('\u0007');
		},
	};
}

function describe(event: Exclude<ProgressEvent, { kind: 'stage-working' }>): string {
	switch (event.kind) {
		case 'stage-started':
			return `${event.stage}: ${event.owner}${event.attached ? ' (found at work)' : ''}`;
		case 'stage-committed': {
			const verdict = event.verdict === undefined ? '' : `, ${event.verdict}${findingCount(event.findings)}`;
			return `  ${event.stage}: done in ${formatDuration(event.durationMs)}${verdict}`;
		}
		case 'correction':
			return [
				`  ${event.stage}: the answer has the wrong form, asking once more`,
				...event.problems.map((text) => `    ${text}`),
			].join('\n');
		case 'verified':
			return `  ${event.stage}: verify command ended with ${event.exitCode ?? 'a signal'} after ${formatDuration(event.durationMs)}`;
		case 'warning':
			return `warning: ${event.text}`;
		case 'note':
			return event.text;
	}
}

function findingCount(findings: { major: number; minor: number } | undefined): string {
	if (!findings || findings.major + findings.minor === 0) return '';
	return ` (${findings.major} major, ${findings.minor} minor)`;
}
