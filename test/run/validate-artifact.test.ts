import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contractOf } from '../../scripts/lib/run/contracts.ts';
import { formatProblem } from '../../scripts/lib/run/problem.ts';
import { artifactPath, isReview, type Stage } from '../../scripts/lib/run/stages.ts';
import { type ArtifactInput, validateArtifact } from '../../scripts/lib/run/validate-artifact.ts';

const REF = 'a'.repeat(40);
const PLAN: Stage = { kind: 'plan', version: 0 };
const PLAN_1: Stage = { kind: 'plan', version: 1 };
const REVIEW: Stage = { kind: 'plan_review', version: 0 };
const CODE: Stage = { kind: 'code', version: 0 };
const CODE_REVIEW: Stage = { kind: 'review', version: 0 };

const BODIES: Record<string, string> = {
	Verdict: 'VERDICT: APPROVE',
	'Files Changed': '| File | Purpose |\n|---|---|\n| a.ts | b |',
	'Git Baseline': `run_start_ref: ${REF}\ncurrent_head: ${REF}`,
	'Diff Baseline': `run_start_ref: ${REF}`,
	'Changes Since Previous Plan Version': 'Initial plan.',
	'Changes Since Previous Code Version': 'Initial implementation.',
};

/** A valid artifact, with other bodies for some sections. */
function artifact(stage: Stage, bodies: Record<string, string> = {}): string {
	const { title, sections } = contractOf(stage);
	const all: Record<string, string> = { ...BODIES, ...bodies };
	return `# ${title}\n\n${sections.map((name) => `## ${name}\n\n${all[name] ?? 'Text.'}\n`).join('\n')}`;
}

function validate(stage: Stage, text: string, options: Partial<ArtifactInput> = {}) {
	const raw = isReview(stage) ? { raw: new TextEncoder().encode('READY: yes') } : {};
	const bytes = new TextEncoder().encode(text);
	return validateArtifact({ stage, path: artifactPath(stage), bytes, runStartRef: REF, ...raw, ...options });
}

const codes = (...input: Parameters<typeof validate>) =>
	validate(...input).problems.map(({ line, code }) => `${line} ${code}`);

describe('a valid artifact', () => {
	it.each([PLAN, REVIEW, CODE, CODE_REVIEW])('of $kind has no problem, in any spelling of line ends', (stage) => {
		const text = artifact(stage);
		for (const spelling of [text, text.replaceAll('\n', '\r\n'), text.replaceAll('\n', '\r'), `\uFEFF${text}`]) {
			expect(codes(stage, spelling)).toEqual([]);
		}
		expect(validate(stage, text).verdict).toBe(isReview(stage) ? 'APPROVE' : undefined);
	});

	it('may have further headings', () => {
		expect(codes(PLAN, `${artifact(PLAN)}\n# More\n\n## Notes\n\n### Detail\n`)).toEqual([]);
	});
});

describe('title and sections', () => {
	const text = artifact(PLAN);

	it.each([
		['no title', text.replace('# Plan v0', 'A plan'), ['29 missing-title']],
		['the title of another version', text.replace('# Plan v0', '# Plan v1'), ['29 missing-title']],
		[
			'the title after a section',
			text.replace('# Plan v0\n\n', '').replace('## Scope', '# Plan v0\n\n## Scope'),
			['1 section-order'],
		],
		['the title twice', `${text}\n# Plan v0\n`, ['31 duplicate-title']],
		['a section of another level', text.replace('## Scope', '### Scope'), ['7 missing-section']],
		['a section with emphasis', text.replace('## Scope', '## **Scope**'), ['7 missing-section']],
		['a section without a space', text.replace('## Scope', '##Scope'), ['7 missing-section']],
		['a section in bold', text.replace('## Scope', '**Scope**'), ['7 missing-section']],
		[
			'two sections swapped',
			text.replace('## Summary', '## X').replace('## Scope', '## Summary').replace('## X', '## Scope'),
			['3 section-order'],
		],
		['nothing', '', ['1 empty-file']],
		['space only', ' \n\t\n', ['1 empty-file']],
	])('are reported with their line: %s', (_, changed, expected) => {
		expect(codes(PLAN, changed)).toEqual(expected);
	});

	it('say where they are when an open fence hides them', () => {
		const { problems } = validate(PLAN, text.replace('## Risks', '```\n## Risks'));
		expect(problems.map(formatProblem)).toEqual([
			"artifacts/plan_v0.md:24:1: missing-section: found '## Risks and Questions' inside an unclosed code fence opened on line 23, expected '## Risks and Questions' as a heading of the document itself",
			"artifacts/plan_v0.md:28:1: missing-section: found '## Changes Since Previous Plan Version' inside an unclosed code fence opened on line 23, expected '## Changes Since Previous Plan Version' as a heading of the document itself",
		]);
	});

	it('say where they are when an open comment hides them', () => {
		const { problems } = validate(PLAN, text.replace('## Changes', '<!--\n## Changes'));
		expect(problems[0]?.found).toBe(
			"'## Changes Since Previous Plan Version' inside HTML or a comment that starts on line 27",
		);
	});

	it('are warned about when empty', () => {
		expect(validate(PLAN, artifact(PLAN, { Scope: '<!-- what -->', Summary: '' })).problems).toMatchObject([
			{ code: 'empty-section', level: 'warning', line: 3 },
			{ code: 'empty-section', level: 'warning', line: 7 },
		]);
	});
});

describe('the verdict', () => {
	it.each([
		['none', 'Fine.', ['15 missing-verdict']],
		['two', 'VERDICT: APPROVE\nVERDICT: APPROVE', ['18 duplicate-verdict']],
		['two with text between', 'VERDICT: APPROVE\n\nand\n\nVERDICT: BLOCKER', ['21 duplicate-verdict']],
		['another word', 'VERDICT: APPROVED', ['17 bad-verdict']],
		['a word in other case', 'VERDICT: approve', ['17 bad-verdict']],
		['the key in other case', 'Verdict: APPROVE', ['17 bad-verdict']],
		['no space', 'VERDICT:APPROVE', ['17 bad-verdict']],
		['more on the line', 'VERDICT: APPROVE.', ['17 bad-verdict']],
		['an indented one', '  VERDICT: APPROVE', ['17 bad-verdict']],
		['a bold one', '**VERDICT: APPROVE**', ['17 bad-verdict']],
		['a Cyrillic one', 'VERDICT: АPPROVE', ['17 bad-verdict']],
		['a look-alike beside it', 'VERDICT: APPROVE\nVЕRDICT: BLOCKER', ['18 duplicate-verdict']],
		['one in a list', '- VERDICT: APPROVE', ['17 missing-verdict']],
		['one in a quote', '> VERDICT: APPROVE', ['17 missing-verdict']],
		['one in code', '```\nVERDICT: APPROVE\n```', ['18 missing-verdict']],
		['one that is a heading', 'VERDICT: APPROVE\n---', ['15 empty-section', '17 missing-verdict']],
	])('is refused: %s', (_, body, expected) => {
		const text = artifact(REVIEW, { Verdict: body });
		expect(codes(REVIEW, text)).toEqual(expected);
		expect(validate(REVIEW, text).verdict).toBeUndefined();
	});

	it('stands in no other section', () => {
		expect(codes(REVIEW, artifact(REVIEW, { Summary: 'VERDICT: APPROVE' }))).toEqual(['5 stray-verdict']);
		expect(codes(REVIEW, `VERDICT: APPROVE\n\n${artifact(REVIEW)}`)).toEqual(['1 stray-verdict']);
		expect(
			codes(
				REVIEW,
				artifact(REVIEW, { Findings: '> VERDICT: BLOCKER\n\n```\nVERDICT: BLOCKER\n```\n\n- VERDICT: BLOCKER' }),
			),
		).toEqual([]);
	});

	it('may have spaces after it', () => {
		expect(validate(REVIEW, artifact(REVIEW, { Verdict: 'So:\nVERDICT: BLOCKER  \t' }))).toMatchObject({
			verdict: 'BLOCKER',
			problems: [],
		});
	});

	it('names the letter that is not what it looks like', () => {
		const { problems } = validate(REVIEW, artifact(REVIEW, { Verdict: 'VERDICT: АPPROVE' }));
		expect(problems[0]?.found).toContain('U+0410');
	});
});

describe('the AUTO OVERRIDE line', () => {
	const override = { Verdict: 'VERDICT: APPROVE_AUTO_OVERRIDE' };

	it.each([
		[{ ...override, Summary: 'AUTO OVERRIDE: P1 is open' }, []],
		[{ ...override, Summary: 'Text.' }, ['3 missing-override']],
		[{ ...override, Summary: '- AUTO OVERRIDE: x' }, ['3 missing-override']],
		[{ ...override, Questions: 'AUTO OVERRIDE: x' }, ['3 missing-override']],
		[{ ...override, Summary: 'AUTO OVERRIDE: x\nAUTO OVERRIDE: y' }, ['6 duplicate-override']],
		[{ Summary: 'AUTO OVERRIDE: x' }, ['5 stray-override']],
		[{ Questions: 'AUTO OVERRIDE: x' }, ['13 stray-override']],
		[{ Questions: '> AUTO OVERRIDE: x' }, []],
	])('%j', (bodies, expected) => {
		expect(codes(REVIEW, artifact(REVIEW, bodies))).toEqual(expected);
	});
});

describe('the raw transcript', () => {
	it.each([
		['missing', 'missing-transcript'],
		['not-a-file', 'not-a-file'],
		['outside', 'outside-run-folder'],
		[{ size: 20, limit: 10 }, 'too-large'],
		['unreadable', 'unreadable'],
		[new TextEncoder().encode(' \n\t\r\n'), 'empty-transcript'],
		[new Uint8Array(), 'empty-transcript'],
	] as const)('%j is one problem of its own file', (raw, code) => {
		expect(validate(REVIEW, artifact(REVIEW), { raw }).problems).toMatchObject([
			{ file: 'state/plan_v0_review.review.raw.md', code },
		]);
	});

	it('may be any bytes', () => {
		expect(codes(REVIEW, artifact(REVIEW), { raw: Uint8Array.of(0xff, 0x00) })).toEqual([]);
	});
});

describe('baseline, table and first version', () => {
	it.each([
		[CODE, { 'Git Baseline': `run_start_ref: ${REF}` }, ['21 missing-key']],
		[CODE, { 'Git Baseline': `run_start_ref: ${REF}\ncurrent_head: none` }, []],
		[CODE, { 'Git Baseline': `run_start_ref: none\ncurrent_head: none` }, ['23 bad-value']],
		[CODE, { 'Git Baseline': `run_start_ref: ${'b'.repeat(40)}\ncurrent_head: none` }, ['23 wrong-baseline']],
		[
			CODE,
			{ 'Git Baseline': `run_start_ref: ${REF}\nrun_start_ref: ${REF}\ncurrent_head: none` },
			['24 duplicate-key'],
		],
		[CODE, { 'Git Baseline': `- run_start_ref: ${REF}\n- current_head: none` }, ['21 missing-key', '21 missing-key']],
		[CODE_REVIEW, { 'Diff Baseline': 'run_start_ref: abc' }, ['9 bad-value']],
		[CODE_REVIEW, { 'Diff Baseline': '' }, ['7 empty-section', '7 missing-key']],
		[CODE, { 'Files Changed': '' }, ['15 empty-section']],
		[CODE, { 'Files Changed': 'a.ts' }, ['15 missing-table']],
		[CODE, { 'Files Changed': '| File | Purpose |\n| a | b |' }, ['18 missing-table']],
		[CODE, { 'Files Changed': 'File|Purpose\n :-- | --:\na|b' }, []],
		[CODE, { 'Files Changed': '```\n| File | Purpose |\n|---|---|\n```' }, ['15 missing-table']],
		[CODE, { 'Changes Since Previous Code Version': 'Initial implementation' }, ['40 initial-text']],
		[CODE, { 'Changes Since Previous Code Version': 'Initial implementation.\n\nAnd more.' }, ['40 initial-text']],
		[PLAN, { 'Changes Since Previous Plan Version': '<!-- v0 -->\nInitial plan.' }, []],
		[PLAN, { 'Changes Since Previous Plan Version': '' }, ['27 empty-section', '27 initial-text']],
	])('%j with %j', (stage, bodies, expected) => {
		expect(codes(stage, artifact(stage, bodies))).toEqual(expected);
	});
});

describe('answers to open findings', () => {
	const answered = (body: string, ...openFindings: string[]) =>
		validate(PLAN_1, artifact(PLAN_1, { 'Changes Since Previous Plan Version': body }), { openFindings }).problems.map(
			({ code, found }) => `${code} ${/[PC]\d+/.exec(found)?.[0]}`,
		);

	it.each([
		'P1: fixed',
		'- P1: Fixed by a test.',
		'* **P1** — fixed',
		'1. `P1` deferred to a later change',
		'- P1 [major]: rejected, because it is by design',
		'| P1 | fixed | in a.ts |',
		'- [P1] rejected:\n  it cannot happen',
		'P1, P2: fixed',
		'- P2 and P1: fixed',
		'- P1: fixed, by a test',
		'P1 - fixed by a test',
		'**P1**: Fixed by a test',
		'**P1: fixed**',
		'P1 (fixed): by a test',
		'P1 and P2: fixed',
		'P1 & C2 – deferred',
		'- P1:\n  fixed',
		'- P1: rejected\n\n  It cannot happen.',
		'- P1: rejected\n  - it cannot happen',
		'- Answers:\n  - P1: fixed',
		'As follows.\nP1: fixed\nP2: deferred',
	])('%j answers P1', (body) => {
		expect(answered(body, 'P1')).toEqual([]);
	});

	it.each([
		'Everything fixed.',
		'P10: fixed',
		'xP1: fixed',
		'P1: see above',
		'P1: not fixed',
		'P1: rejected',
		'P1: rejected.',
		'Fixed P1.',
		'P1\n\nfixed',
		'- P1:\n- P2: fixed',
		'<!-- P1: fixed -->',
		'Text <!--\nP1: fixed\n-->',
		'P1: not fixed at first, now fixed',
		'P1: not yet fixed',
		'P1: still to be fixed',
		'P1: could not be fixed',
		'P1: neither fixed nor deferred',
		'P1: fixed? no',
		'P1: (fixed?)',
		'P1? fixed',
		'P1: fixed-size arrays are as before',
		'P1: fixedly',
		'P1: un-fixed',
		'P1: was fixed',
		'P1 to P3: fixed',
		'P1: rejected\n\nIt cannot happen.',
		'- P1: rejected\n- P2: fixed',
		'P1\nP2: fixed',
		'```\nP1: fixed\n```',
		'- a\n  ```\n  P1: fixed\n  ```',
		'    P1: fixed',
		'> P1: fixed',
		'- > P1: fixed',
		'<div>\nP1: fixed\n</div>',
		'### P1: fixed',
		'- [ ] P1: fixed',
	])('%j does not', (body) => {
		expect(answered(body, 'P1')).toContain('unanswered-finding P1');
	});

	it('are asked for each id, and only where there are open ones', () => {
		expect(answered('- P1: fixed', 'P1', 'P2', 'P3')).toEqual(['unanswered-finding P2', 'unanswered-finding P3']);
		expect(answered('Whatever.')).toEqual([]);
	});
});

describe('an artifact that cannot be read', () => {
	it.each([
		['not-utf8', Uint8Array.of(0xed, 0xa0, 0x80)],
		['nul-byte', Uint8Array.of(0x61, 0)],
		['too-large', new Uint8Array(10_000_000).fill(0x5b)],
		['too-nested', new TextEncoder().encode('>'.repeat(50_000))],
	])('is one problem: %s', (code, bytes) => {
		expect(validateArtifact({ stage: PLAN, path: 'p', bytes }).problems).toMatchObject([{ code }]);
	});
});

describe('any text', () => {
	it('is answered, with places that the file has', () => {
		const lines = fc.array(
			fc.oneof(
				fc.constantFrom(
					'# Plan v0 Review',
					'## Summary',
					'> ## Findings',
					'- ## Questions',
					'##Verdict',
					'## Verdict',
					'VERDICT: APPROVE',
					'```',
					'<!--',
					'-->',
					'> <!--',
					'> ```',
					'- ```',
					'',
					'    ## Summary',
					'AUTO OVERRIDE: x',
					'---',
					'**Summary**',
				),
				fc.string({ unit: fc.constantFrom(...'-*+>#`~= \t[]():<!&\\1.aV'), maxLength: 10 }),
			),
			{ maxLength: 20 },
		);
		fc.assert(
			fc.property(lines, (text) => {
				for (const { line, column } of validate(REVIEW, text.join('\n')).problems) {
					expect(line).toBeGreaterThanOrEqual(1);
					expect(line).toBeLessThanOrEqual(Math.max(text.length, 1));
					expect(column).toBeGreaterThanOrEqual(1);
				}
			}),
			{ numRuns: 500 },
		);
	});
});
