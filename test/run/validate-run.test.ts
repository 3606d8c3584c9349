import { execFileSync } from 'node:child_process';
import {
	appendFileSync,
	cpSync,
	mkdirSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../scripts/lib/kit/sha256.ts';
import { renderDone } from '../../scripts/lib/run/done-file.ts';
import { parseStage } from '../../scripts/lib/run/stages.ts';
import { validateRun } from '../../scripts/lib/run/validate-run.ts';
import { makeFifo } from '../support/git-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

const TRICKY = path.resolve(import.meta.dirname, '../fixtures/tricky-runs');

/** The table of EXPECTED.md: folder, what was changed, and the verdict of a careful person. */
const EXPECTED = readFileSync(path.join(TRICKY, 'EXPECTED.md'), 'utf8')
	.split('\n')
	.map((row) => /^\| (\d\d-\S+) \| (.*) \| (valid|invalid) \|$/.exec(row))
	.filter((match) => match !== null)
	.map(([, folder, change, expected]) => ({ folder: folder!, change: change!, expected: expected! }));

/** Where each invalid one is at fault. */
const FAULTS: Record<string, string> = {
	'01-heading-only-in-fence': 'artifacts/plan_v0.md:8 missing-section',
	'11-indented-code-heading': 'artifacts/plan_v0.md:7 missing-section',
	'14-verdict-in-blockquote-only': 'artifacts/plan_v0_review.md:17 missing-verdict',
	'16-duplicate-section': 'artifacts/review_v0.md:15 duplicate-section',
	'17-heading-in-list': 'artifacts/plan_v0.md:7 missing-section',
	'18-heading-in-blockquote': 'artifacts/plan_v0.md:7 missing-section',
	'19-nbsp-in-heading': 'artifacts/plan_v0.md:19 missing-section',
	'21-cyrillic-verdict': 'artifacts/plan_v0_review.md:17 bad-verdict',
	'22-nul-byte': 'artifacts/plan_v0.md:5 nul-byte',
	'24-lone-surrogate-bytes': 'artifacts/plan_v0.md:30 not-utf8',
	'30-sections-out-of-order': 'artifacts/plan_v0.md:3 section-order',
	'35-verdict-mismatch-runmd': 'run.md:36 run-md-behind',
	'37-artifact-symlink-dir': 'state/review_v0.review.raw.md:1 not-a-file',
	'38-raw-whitespace-only': 'state/review_v0.review.raw.md:1 empty-transcript',
};

const WARNINGS: Record<string, string> = {
	'25-empty-section': 'artifacts/plan_v0.md:7 empty-section',
	'26-comment-only-section': 'artifacts/plan_v0.md:7 empty-section',
};

async function problemsOf(folder: string): Promise<string[]> {
	const { problems, valid } = await validateRun(folder);
	expect(valid).toBe(problems.every(({ level }) => level === 'warning'));
	return problems.map(({ file, line, code }) => `${file}:${line} ${code}`);
}

/** A copy of the unchanged run that the test may spoil. */
async function copyOfRun(): Promise<string> {
	const folder = path.join(await tempFolder(), 'run');
	cpSync(path.join(TRICKY, '00-baseline'), folder, { recursive: true });
	return folder;
}

function edit(folder: string, file: string, from: string | RegExp, to: string): void {
	const text = readFileSync(path.join(folder, file), 'utf8');
	const changed = text.replace(from, to);
	expect(changed).not.toBe(text);
	writeFileSync(path.join(folder, file), changed);
}

/** Takes stages back from the end, as if they had not happened yet. */
function without(folder: string, ...stages: string[]): void {
	for (const stage of stages) {
		for (const file of [`artifacts/${stage}.md`, `state/${stage}.done`, `state/${stage}.review.raw.md`]) {
			rmSync(path.join(folder, file), { force: true });
		}
	}
}

function workflow(
	folder: string,
	stage: string,
	artifact: string,
	verdict: string,
	next: string,
	status: string,
): void {
	const state = `current_stage: ${stage}\nlatest_artifact: ${artifact}\nlatest_verdict: ${verdict}\nnext_action: ${next}`;
	edit(folder, 'run.md', /current_stage[\s\S]*$/, `${state}\n\n## Status\n\n${status}\n`);
}

describe('the tricky runs', () => {
	it('are all here', () => {
		expect(EXPECTED).toHaveLength(28);
	});

	it.each(EXPECTED)('$folder: $change', async ({ folder, expected }) => {
		const { valid } = await validateRun(path.join(TRICKY, folder));
		expect(valid ? 'valid' : 'invalid').toBe(expected);
		const fault = FAULTS[folder] ?? WARNINGS[folder];
		expect(await problemsOf(path.join(TRICKY, folder))).toEqual(fault === undefined ? [] : [fault]);
	});

	it('say the same in every spelling of line ends', async () => {
		for (const { folder } of EXPECTED) {
			if (folder === '24-lone-surrogate-bytes') continue;
			const copy = path.join(await tempFolder(), 'run');
			cpSync(path.join(TRICKY, folder), copy, { recursive: true });
			const files = execFileSync('find', [copy, '-type', 'f', '(', '-name', '*.md', '-o', '-name', '*.done', ')'], {
				encoding: 'utf8',
			})
				.trim()
				.split('\n');
			const texts = new Map(
				files.map((file) => [
					file,
					readFileSync(file, 'utf8')
						.replace(/^\uFEFF/, '')
						.replace(/\r\n?/g, '\n'),
				]),
			);
			const expected = await problemsOf(path.join(TRICKY, folder));
			for (const spell of [
				(text: string) => text,
				(text: string) => text.replaceAll('\n', '\r\n'),
				(text: string) => text.replaceAll('\n', '\r'),
				(text: string) => `\uFEFF${text}`,
			]) {
				for (const [file, text] of texts) writeFileSync(file, spell(text));
				expect(await problemsOf(copy), folder).toEqual(expected);
			}
		}
	});
});

describe('a run folder', () => {
	it('that is none is one problem', async () => {
		const folder = await tempFolder();
		writeFileSync(path.join(folder, 'file'), '');
		expect(await problemsOf(path.join(folder, 'gone'))).toEqual(['.:1 not-a-run-folder']);
		expect(await problemsOf(path.join(folder, 'file'))).toEqual(['.:1 not-a-run-folder']);
		expect(await problemsOf(folder)).toEqual([
			'run.md:1 missing-file',
			'task.md:1 missing-file',
			'artifacts:1 missing-folder',
			'state:1 missing-folder',
		]);
	});

	it.each<[string, (folder: string) => void, string[]]>([
		[
			'an artifact without .done',
			(f) => rmSync(path.join(f, 'state/review_v0.done')),
			['artifacts/review_v0.md:1 uncommitted-artifact', 'run.md:35 run-md-behind'],
		],
		[
			'a .done without artifact',
			(f) => rmSync(path.join(f, 'artifacts/code_v0.md')),
			['artifacts/code_v0.md:1 missing-file'],
		],
		[
			'a .done of no stage',
			(f) => writeFileSync(path.join(f, 'state/plan_v01.done'), ''),
			['state/plan_v01.done:1 unknown-stage'],
		],
		[
			'a .done with other content',
			(f) => edit(f, 'state/code_v0.done', 'complete', 'done'),
			['state/code_v0.done:4 wrong-status'],
		],
		[
			'another file among the artifacts',
			(f) => writeFileSync(path.join(f, 'artifacts/notes.txt'), ''),
			['artifacts/notes.txt:1 unknown-file'],
		],
		[
			'a missing baseline file',
			(f) => rmSync(path.join(f, 'state/run_start.diff')),
			['state/run_start.diff:1 missing-file'],
		],
		[
			'a missing transcript',
			(f) => rmSync(path.join(f, 'state/review_v0.review.raw.md')),
			['state/review_v0.review.raw.md:1 missing-transcript'],
		],
		[
			'another baseline in code',
			(f) => edit(f, 'artifacts/code_v0.md', 'run_start_ref: 3', 'run_start_ref: 4'),
			['artifacts/code_v0.md:23 wrong-baseline'],
		],
		[
			'another baseline in a review',
			(f) => edit(f, 'artifacts/review_v0.md', 'run_start_ref: 3', 'run_start_ref: 4'),
			['artifacts/review_v0.md:9 wrong-baseline'],
		],
		['an empty task', (f) => writeFileSync(path.join(f, 'task.md'), ' \n'), ['task.md:1 empty-file']],
	])('reports %s', async (_, spoil, expected) => {
		const folder = await copyOfRun();
		spoil(folder);
		expect((await problemsOf(folder)).slice(0, expected.length)).toEqual(expected);
	});

	it('opens nothing that is no file of its own', async () => {
		const folder = await copyOfRun();
		const outside = path.join(path.dirname(folder), 'outside.md');
		renameSync(path.join(folder, 'artifacts/plan_v0.md'), outside);
		symlinkSync(outside, path.join(folder, 'artifacts/plan_v0.md'));
		rmSync(path.join(folder, 'artifacts/code_v0.md'));
		makeFifo(path.join(folder, 'artifacts/code_v0.md'));
		rmSync(path.join(folder, 'state/review_v0.done'));
		mkdirSync(path.join(folder, 'state/review_v0.done'));
		rmSync(path.join(folder, 'state/run_start.diff'));
		symlinkSync('run_start.diff', path.join(folder, 'state/run_start.diff'));
		renameSync(path.join(folder, 'state/run_start.status'), path.join(folder, 'state/moved'));
		symlinkSync('moved', path.join(folder, 'state/run_start.status'));
		expect(await problemsOf(folder)).toEqual([
			'state/run_start.diff:1 unreadable',
			'artifacts/plan_v0.md:1 outside-run-folder',
			'artifacts/code_v0.md:1 not-a-file',
			'state/review_v0.done:1 not-a-file',
		]);
	});

	it('answers 10 MB of brackets at once', async () => {
		const folder = await copyOfRun();
		writeFileSync(path.join(folder, 'artifacts/plan_v0.md'), '['.repeat(10_000_000));
		expect(await problemsOf(folder)).toEqual(['artifacts/plan_v0.md:1 too-large']);
		const { problems } = await validateRun(folder);
		expect(problems[0]).toMatchObject({
			found: '10000000 bytes',
			expected: expect.stringContaining('at most 2097152 bytes'),
		});
	});
});

describe('run.md and the stages', () => {
	it.each<[string, [string, string, string, string, string], string[]]>([
		['active with the next stage', ['code_v0', 'artifacts/code_v0.md', 'APPROVE', 'review_v0', 'active'], []],
		['active in the next stage', ['review_v0', 'artifacts/code_v0.md', 'APPROVE', 'review_v0', 'active'], []],
		['blocked', ['none', 'artifacts/code_v0.md', 'APPROVE', 'blocked', 'blocked'], []],
		['canceled', ['code_v0', 'artifacts/code_v0.md', 'APPROVE', 'canceled', 'canceled'], []],
		['complete at the last version', ['code_v0', 'artifacts/code_v0.md', 'APPROVE', 'complete', 'complete'], []],
		[
			'a stage too early',
			['code_v0', 'artifacts/code_v0.md', 'APPROVE', 'code_v0', 'active'],
			['run.md:37 run-md-behind'],
		],
		[
			'an older artifact',
			['code_v0', 'artifacts/plan_v0.md', 'APPROVE', 'review_v0', 'active'],
			['run.md:35 run-md-behind'],
		],
		[
			'an older verdict',
			['code_v0', 'artifacts/code_v0.md', 'none', 'review_v0', 'active'],
			['run.md:36 run-md-behind'],
		],
		[
			'an older stage',
			['plan_v0', 'artifacts/code_v0.md', 'APPROVE', 'review_v0', 'active'],
			['run.md:34 run-md-behind'],
		],
		[
			'blocked with another action',
			['code_v0', 'artifacts/code_v0.md', 'APPROVE', 'review_v0', 'blocked'],
			['run.md:37 run-md-behind'],
		],
	])('%s', async (_, [stage, artifact, verdict, next, status], expected) => {
		const folder = await copyOfRun();
		without(folder, 'review_v0');
		workflow(folder, stage, artifact, verdict, next, status);
		expect(await problemsOf(folder)).toEqual(expected);
	});

	it('may be called complete only at the end', async () => {
		const folder = await copyOfRun();
		without(folder, 'code_v0', 'review_v0');
		workflow(folder, 'plan_v0_review', 'artifacts/plan_v0_review.md', 'APPROVE', 'complete', 'complete');
		expect(await problemsOf(folder)).toEqual(['run.md:41 run-md-behind']);
		workflow(folder, 'none', 'artifacts/plan_v0_review.md', 'APPROVE', 'code_v0', 'active');
		expect(await problemsOf(folder)).toEqual([]);
	});

	it('may not be active any more when the chain is at its end', async () => {
		const folder = await copyOfRun();
		workflow(folder, 'review_v0', 'artifacts/review_v0.md', 'APPROVE', 'review_v0', 'active');
		expect(await problemsOf(folder)).toEqual(['run.md:41 run-md-behind']);
	});

	it('report a stage out of sequence at its .done file', async () => {
		const folder = await copyOfRun();
		edit(folder, 'artifacts/plan_v0_review.md', 'VERDICT: APPROVE', 'VERDICT: NEEDS_CHANGES');
		expect(await problemsOf(folder)).toEqual(['state/code_v0.done:1 not-approved']);
		appendFileSync(
			path.join(folder, 'state/decisions.jsonl'),
			'{"decision":"accept","stage":"plan_v0_review","reason":"r","time":"t"}\n',
		);
		expect(await problemsOf(folder)).toEqual([]);
	});

	it('hold a version that answers what the review before it found', async () => {
		const folder = await copyOfRun();
		edit(folder, 'run.md', 'plan_rounds: 0', 'plan_rounds: 1');
		edit(folder, 'artifacts/plan_v0_review.md', 'None.', '- P1 [major] Wrong.\n- P2 [minor] Odd.');
		for (const [from, to] of [
			['plan_v0', 'plan_v1'],
			['plan_v0_review', 'plan_v1_review'],
		] as const) {
			cpSync(path.join(folder, `artifacts/${from}.md`), path.join(folder, `artifacts/${to}.md`));
			edit(folder, `artifacts/${to}.md`, '# Plan v0', '# Plan v1');
			writeFileSync(path.join(folder, `state/${to}.done`), renderDone(parseStage(to)!));
		}
		writeFileSync(path.join(folder, 'state/plan_v1_review.review.raw.md'), 'READY: yes');
		edit(folder, 'artifacts/plan_v0_review.md', 'VERDICT: APPROVE', 'VERDICT: NEEDS_CHANGES');
		edit(folder, 'artifacts/plan_v1.md', 'Initial plan.', '- P1: fixed');
		expect(await problemsOf(folder)).toEqual(['artifacts/plan_v1.md:27 unanswered-finding']);
		edit(folder, 'artifacts/plan_v1.md', '- P1: fixed', '- P1: fixed\n- P2: rejected, it is meant so');
		expect(await problemsOf(folder)).toEqual([]);
	});
});

describe('the records', () => {
	const commit = (folder: string, stage: string, changes: Record<string, string> = {}) => {
		const hash = (file: string) => sha256(readFileSync(path.join(folder, file)));
		const transcript = stage.includes('review') ? { transcript: hash(`state/${stage}.review.raw.md`) } : {};
		return `${JSON.stringify({ time: 't', event: 'commit', stage, sha256: { artifact: hash(`artifacts/${stage}.md`), ...transcript, ...changes } })}\n`;
	};
	const stages = ['plan_v0', 'plan_v0_review', 'code_v0', 'review_v0'];

	it('agree with the files', async () => {
		const folder = await copyOfRun();
		const lines = [
			'{"event":"start"}\n',
			commit(folder, 'plan_v0', { artifact: 'old' }),
			...stages.map((stage) => commit(folder, stage)),
		];
		writeFileSync(path.join(folder, 'state/ledger.jsonl'), lines.join(''));
		expect(await problemsOf(folder)).toEqual([]);
		appendFileSync(path.join(folder, 'artifacts/plan_v0.md'), '\n');
		appendFileSync(path.join(folder, 'state/review_v0.review.raw.md'), '\n');
		expect(await problemsOf(folder)).toEqual([
			'artifacts/plan_v0.md:1 changed-after-commit',
			'state/review_v0.review.raw.md:1 changed-after-commit',
		]);
	});

	it('are JSON lines', async () => {
		const folder = await copyOfRun();
		const lines = stages.map((stage) => commit(folder, stage));
		writeFileSync(path.join(folder, 'state/ledger.jsonl'), `${lines.join('')}{"event":\n[]\n`);
		writeFileSync(
			path.join(folder, 'state/decisions.jsonl'),
			'{"decision":"cancel","reason":"r"}\n\n{"decision":"maybe","stage":"plan_v0_review"}\nx\n{"decision":"accept","stage":"plan_v0"}\n',
		);
		expect(await problemsOf(folder)).toEqual([
			'state/decisions.jsonl:4 bad-decision',
			'state/decisions.jsonl:3 bad-decision',
			'state/decisions.jsonl:5 bad-decision',
			'state/ledger.jsonl:5 bad-ledger-line',
			'state/ledger.jsonl:6 bad-ledger-line',
		]);
	});

	it('name each commit', async () => {
		const folder = await copyOfRun();
		writeFileSync(
			path.join(folder, 'state/ledger.jsonl'),
			stages
				.slice(1)
				.map((stage) => commit(folder, stage))
				.join(''),
		);
		expect(await validateRun(folder)).toMatchObject({
			valid: true,
			problems: [{ code: 'not-in-ledger', level: 'warning' }],
		});
	});
});
