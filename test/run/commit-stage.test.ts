import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireLock } from '../../scripts/lib/kit/lock.ts';
import { sha256 } from '../../scripts/lib/kit/sha256.ts';
import { type CommitInput, commitStage, recoverCommit } from '../../scripts/lib/run/commit-stage.ts';
import { writeIntent } from '../../scripts/lib/run/intent.ts';
import { lockFolder } from '../../scripts/lib/run/locked-run.ts';
import { parseStage, type Stage } from '../../scripts/lib/run/stages.ts';
import { planDocument } from '../fakes/documents.mjs';
import { tempFolder } from '../support/temp-folder.ts';

const REF = 'a'.repeat(40);
const NOW = new Date('2026-01-02T03:04:05.000Z');
const RAW = 'Fine.\n\nREADY: yes\n';
const REVIEW = `# Plan v0 Review

## Summary

Fine.

## Findings

None.

## Questions

None.

## Verdict

VERDICT: APPROVE
`;

async function bench() {
	const folder = await tempFolder();
	for (const name of ['artifacts', 'state']) mkdirSync(path.join(folder, name));
	const lock = await acquireLock(lockFolder(folder), { purpose: 'test' });
	const input = (stage: string, over: Partial<CommitInput> = {}): CommitInput => ({
		folder,
		lock,
		stage: parseStage(stage) as Stage,
		artifact: stage.endsWith('_review') ? REVIEW : planDocument(0),
		...(stage.endsWith('_review') ? { raw: RAW } : {}),
		runStartRef: REF,
		openFindings: [],
		evidence: { owner: 'codex', durationMs: 7 },
		now: NOW,
		...over,
	});
	const at = (name: string): string => path.join(folder, name);
	return {
		folder,
		lock,
		input,
		at,
		write: (name: string, text: string): void => writeFileSync(at(name), text),
		read: (name: string): string | undefined => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : undefined),
		files: (): string[] =>
			['artifacts', 'state']
				.flatMap((name) => readdirSync(at(name)).map((file) => `${name}/${file}`))
				.filter((name) => name !== 'state/lock')
				.sort(),
		ledger: (): Record<string, unknown>[] =>
			(existsSync(at('state/ledger.jsonl')) ? readFileSync(at('state/ledger.jsonl'), 'utf8').trimEnd().split('\n') : [])
				.filter((line) => line !== '')
				.map((line) => JSON.parse(line)),
	};
}

describe('commitStage', () => {
	it('leaves the artifact, the transcript, the .done file to the letter and one line of evidence', async () => {
		const { input, read, files, ledger } = await bench();
		await commitStage(input('plan_v0_review'));
		expect(files()).toEqual([
			'artifacts/plan_v0_review.md',
			'state/ledger.jsonl',
			'state/plan_v0_review.done',
			'state/plan_v0_review.review.raw.md',
		]);
		expect(read('state/plan_v0_review.done')).toBe(
			'---\nstage: plan_v0_review\nartifact: artifacts/plan_v0_review.md\nstatus: complete\n---\nCompleted by CCC coordinator after artifact validation.\n',
		);
		expect(ledger()).toEqual([
			{
				time: NOW.toISOString(),
				event: 'commit',
				stage: 'plan_v0_review',
				owner: 'codex',
				durationMs: 7,
				bytes: { artifact: Buffer.byteLength(REVIEW), transcript: Buffer.byteLength(RAW) },
				sha256: { artifact: sha256(REVIEW), transcript: sha256(RAW) },
			},
		]);
	});

	it.each([
		['no verdict', { artifact: REVIEW.replace('VERDICT: APPROVE', 'Fine.') }],
		['an empty transcript', { raw: ' \n' }],
		['no transcript', {}],
	])('refuses a review with %s and leaves nothing', async (what, over) => {
		const { input, files } = await bench();
		const { raw, ...bare } = input('plan_v0_review', over);
		await expect(commitStage(what === 'no transcript' ? bare : { ...bare, ...(raw ? { raw } : {}) })).rejects.toThrow(
			expect.objectContaining({ code: 'invalid-run', exitCode: 1 }),
		);
		expect(files()).toEqual([]);
	});

	it('commits a stage once', async () => {
		const { input, read } = await bench();
		await commitStage(input('plan_v0'));
		const before = read('artifacts/plan_v0.md');
		await expect(commitStage(input('plan_v0', { artifact: planDocument(0).replace('more', 'less') }))).rejects.toThrow(
			expect.objectContaining({ code: 'already-committed', exitCode: 1 }),
		);
		expect(read('artifacts/plan_v0.md')).toBe(before);
	});

	it('does nothing without the lock', async () => {
		const { input, lock, files } = await bench();
		await lock.release();
		await expect(commitStage(input('plan_v0'))).rejects.toThrow(expect.objectContaining({ exitCode: 4 }));
		expect(files()).toEqual([]);
	});
});

/** The files after each write of a commit, in the order of the protocol, as a process killed there leaves them. */
const INTENT = {
	version: 1,
	stage: 'plan_v0_review',
	artifactSha256: sha256(REVIEW),
	rawSha256: sha256(RAW),
	evidence: { event: 'commit', stage: 'plan_v0_review', owner: 'codex', sha256: { artifact: sha256(REVIEW) } },
} as const;
type Bench = Awaited<ReturnType<typeof bench>>;
const WRITES: readonly [string, (b: Bench) => void][] = [
	['half a transcript', (b) => b.write('state/plan_v0_review.review.raw.md.tmp', RAW.slice(0, 4))],
	['the transcript', (b) => b.write('state/plan_v0_review.review.raw.md', RAW)],
	['half an artifact', (b) => b.write('artifacts/plan_v0_review.md.tmp', REVIEW.slice(0, 40))],
	['the artifact before its rename', (b) => b.write('artifacts/plan_v0_review.md.tmp', REVIEW)],
	[
		'the artifact',
		(b) => {
			rmSync(b.at('artifacts/plan_v0_review.md.tmp'));
			b.write('artifacts/plan_v0_review.md', REVIEW);
		},
	],
	['half a .done', (b) => b.write('state/plan_v0_review.done.tmp', '---\nsta')],
];

describe('recoverCommit', () => {
	it.each(WRITES.map(([name], index) => [name, index] as const))('after %s', async (_, last) => {
		const b = await bench();
		await writeIntent(b.folder, INTENT);
		for (const [, write] of WRITES.slice(0, last + 1)) write(b);
		const whole = last >= 4;
		expect(await recoverCommit(b.folder, b.lock, NOW)).toBe(whole ? 'plan_v0_review' : undefined);
		// Temporary files are swept by whoever holds the lock next; they are nobody's commit.
		const left = b.files().filter((name) => !name.endsWith('.tmp'));
		expect(left).toEqual(
			whole
				? [
						'artifacts/plan_v0_review.md',
						'state/ledger.jsonl',
						'state/plan_v0_review.done',
						'state/plan_v0_review.review.raw.md',
					]
				: [],
		);
		await commitStage(b.input('plan_v0_review', { replace: true }));
		expect(b.read('artifacts/plan_v0_review.md')).toBe(REVIEW);
	});

	it('does not write the line of evidence again when only clearing the intent was cut', async () => {
		const b = await bench();
		await commitStage(b.input('plan_v0_review'));
		await writeIntent(b.folder, INTENT);
		await recoverCommit(b.folder, b.lock, NOW);
		expect(b.ledger()).toHaveLength(1);
		expect(b.read('state/intent.json')).toBeUndefined();
	});

	it('leaves an artifact that is not the intended one alone, with its transcript', async () => {
		const b = await bench();
		await writeIntent(b.folder, INTENT);
		b.write('state/plan_v0_review.review.raw.md', 'somebody else’s\n');
		b.write('artifacts/plan_v0_review.md', 'somebody else’s\n');
		expect(await recoverCommit(b.folder, b.lock, NOW)).toBeUndefined();
		expect(b.read('state/plan_v0_review.review.raw.md')).toBe('somebody else’s\n');
		expect(b.read('artifacts/plan_v0_review.md')).toBe('somebody else’s\n');
		expect(b.read('state/plan_v0_review.done')).toBeUndefined();
	});

	it('of a second attestation cut before its artifact keeps the first', async () => {
		const b = await bench();
		await commitStage(b.input('plan_v0_review'));
		await writeIntent(b.folder, { ...INTENT, artifactSha256: sha256('another attestation') });
		b.write('artifacts/plan_v0_review.md.tmp', 'another attestation');
		expect(await recoverCommit(b.folder, b.lock, NOW)).toBeUndefined();
		expect(b.read('artifacts/plan_v0_review.md')).toBe(REVIEW);
		expect(b.read('state/plan_v0_review.review.raw.md')).toBe(RAW);
		expect(b.read('artifacts/plan_v0_review.md.tmp')).toBeUndefined();
	});

	it.each(['not json', '{"version":2}', '{"version":1,"stage":"../x","artifactSha256":""}', ''])(
		'an intent that says nothing (%s) is dropped',
		async (text) => {
			const b = await bench();
			b.write('state/intent.json', text);
			expect(await recoverCommit(b.folder, b.lock, NOW)).toBeUndefined();
			expect(b.files()).toEqual([]);
		},
	);

	it('survives a copy of the folder under another name', async () => {
		const b = await bench();
		await writeIntent(b.folder, INTENT);
		for (const [, write] of WRITES.slice(0, 5)) write(b);
		const copy = path.join(await tempFolder(), 'copy');
		cpSync(b.folder, copy, { recursive: true });
		rmSync(path.join(copy, 'state', 'lock'), { recursive: true });
		const lock = await acquireLock(lockFolder(copy), { purpose: 'test' });
		expect(await recoverCommit(copy, lock, NOW)).toBe('plan_v0_review');
	});
});
