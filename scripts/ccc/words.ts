import { CccError, EXIT } from '../lib/kit/errors.ts';
import { parseStage, type Stage } from '../lib/run/stages.ts';

/**
 * The words of a command that takes a fixed number of them.
 * @throws CccError `missing-argument` or `unknown-word` (exit 2)
 */
export function takeWords(words: readonly string[], names: readonly string[]): string[] {
	const expected = names.join(' ');
	const missing = names.findIndex((_, index) => (words[index] ?? '').trim() === '');
	if (missing !== -1) {
		throw new CccError('missing-argument', `${names[missing]} is missing.`, {
			expected,
			found: words.length === 0 ? '(nothing)' : words.join(' '),
			exitCode: EXIT.usage,
		});
	}
	const extra = words[names.length];
	if (extra !== undefined) {
		throw new CccError('unknown-word', 'One word too many.', { expected, found: extra, exitCode: EXIT.usage });
	}
	return [...words];
}

/** @throws CccError `unknown-word` (exit 2) when the word is none of these */
export function oneOf<T extends string>(word: string | undefined, allowed: readonly T[]): T {
	const found = allowed.find((candidate) => candidate === word);
	if (found !== undefined) return found;
	throw new CccError('unknown-word', 'Unknown word.', {
		expected: allowed.join(' or '),
		found: word ?? '(nothing)',
		exitCode: EXIT.usage,
	});
}

/** @throws CccError `unknown-stage` (exit 2) */
export function takeStage(name: string): Stage {
	const stage = parseStage(name);
	if (stage) return stage;
	throw new CccError('unknown-stage', 'This is not a stage.', {
		expected: 'plan_v0, plan_v0_review, code_v0, review_v0 or a later version',
		found: name,
		exitCode: EXIT.usage,
	});
}
