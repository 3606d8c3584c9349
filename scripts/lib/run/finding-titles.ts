/** What a heading of a review says about the text below it. */

/**
 * - `findings`: all below it is objected to, prose too.
 * - `finding`: the heading is one itself, such as `Issue 2: rows get lost`.
 * - `summary`, `questions`, `tests`, `aside`: untagged text below it is no objection.
 * - `other`: list items below it are findings like anywhere, prose is not.
 */
export type TitleKind = 'findings' | 'finding' | 'summary' | 'questions' | 'tests' | 'aside' | 'other';

const MANY =
	'findings|issues|problems|concerns|defects|bugs|blockers|objections|nits|nitpicks|comments|suggestions|observations';
const ONE = 'finding|issue|problem|concern|defect|bug|blocker|objection';
const SEVERITY =
	'(?:major|minor|critical|high|medium|low|severe|blocking|non-blocking|trivial)(?: (?:severity|priority))?';
/** Such as `Findings`, `Major issues (3)`, `Required changes` or `Minor`. */
const FINDINGS = new RegExp(
	`^(?:(?:[\\p{L}-]+ +){0,3}(?:${MANY})(?: +[\\p{L}-]+){0,3}|(?:[\\p{L}-]+ +){0,1}(?:${ONE})|${SEVERITY}|(?:required|requested|suggested|necessary) changes|must[- ]fix)(?: *\\(.*\\))?$`,
	'iu',
);
const FINDING = new RegExp(`^(?:${ONE})\\b`, 'i');

/** Whole titles only: `Tests are missing` or `Fixed-size buffers overflow` excuse nothing. */
const NEUTRAL: readonly (readonly [TitleKind, RegExp])[] = [
	['summary', /^(?:(?:executive|overall|review|short|brief) )?(?:summary|overview)$/i],
	['questions', /^(?:open |further )?questions?$/i],
	['tests', /^(?:suggested |additional |further )?tests? to add$/i],
	['aside', /^(?:verdict|conclusion|strengths|positives|praise|checked)$/i],
	['aside', /^what (?:(?:i|we) (?:checked|read|reviewed)|works(?: well)?|is good)$/i],
	['aside', /^(?:resolved|fixed|addressed)(?: (?:findings|issues|problems|concerns|comments))?$/i],
];

/** @param title the plain text of the heading */
export function titleKind(title: string): TitleKind {
	const bare = title
		.replace(/[*_`]/g, '')
		.trim()
		.replace(/^\d+[.)] */, '')
		.replace(/:$/, '');
	const neutral = NEUTRAL.find(([, pattern]) => pattern.test(bare));
	if (neutral) return neutral[0];
	if (FINDINGS.test(bare)) return 'findings';
	return FINDING.test(bare) ? 'finding' : 'other';
}
