/** `state/decisions.jsonl`: what a human decided, one JSON object a line (design: Where we knowingly differ). */
import path from 'node:path';
import { z } from 'zod';
import { readIfExists } from '../kit/atomic-file.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import { appendLine } from '../kit/json-lines.ts';
import { isReview, parseStage, type Stage, stageName } from './stages.ts';

export type Decision =
	| { readonly decision: 'accept' | 'revise'; readonly stage: Stage; readonly reason: string; readonly time: string }
	| { readonly decision: 'cancel'; readonly reason: string; readonly time: string };

const line = z.discriminatedUnion('decision', [
	z.object({
		decision: z.enum(['accept', 'revise']),
		stage: z.string().refine((name) => {
			const stage = parseStage(name);
			return stage !== undefined && isReview(stage);
		}, 'a review stage such as plan_v0_review'),
		reason: z.string(),
		time: z.string(),
	}),
	z.object({ decision: z.literal('cancel'), reason: z.string(), time: z.string() }),
]);

const decisionsFile = (folder: string): string => path.join(folder, 'state', 'decisions.jsonl');

/** All decisions in order. @throws CccError `bad-decisions` with the line at fault. */
export async function readDecisions(folder: string): Promise<Decision[]> {
	const file = decisionsFile(folder);
	const text = (await readIfExists(file))?.toString('utf8') ?? '';
	return text
		.split('\n')
		.map((source, index) => ({ source, number: index + 1 }))
		.filter(({ source }) => source.trim() !== '')
		.map(({ source, number }) => parseDecision(source, file, number));
}

function parseDecision(source: string, file: string, number: number): Decision {
	let value: unknown;
	try {
		value = JSON.parse(source);
	} catch {
		value = undefined;
	}
	const parsed = line.safeParse(value);
	if (!parsed.success) {
		throw new CccError('bad-decisions', 'This line is not a decision.', {
			at: file,
			line: number,
			expected: '{"decision":"accept|revise|cancel","stage":"<review stage>","reason":"...","time":"..."}',
			found: source.slice(0, 120),
			next: 'restore the file, or remove the line if nobody decided that',
			exitCode: EXIT.invalid,
		});
	}
	const { data } = parsed;
	if (data.decision === 'cancel') return data;
	return { ...data, stage: parseStage(data.stage) as Stage };
}

/** Appends one decision; it is on disk when this returns. */
export async function recordDecision(folder: string, decision: Decision): Promise<void> {
	const entry = decision.decision === 'cancel' ? decision : { ...decision, stage: stageName(decision.stage) };
	await appendLine(decisionsFile(folder), entry);
}
