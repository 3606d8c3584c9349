import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { captureBaseline, confirmBaseline } from '../../scripts/lib/git/baseline.ts';
import { openRepository } from '../../scripts/lib/git/repository.ts';
import { GIT_TEST_ENV, makeRepository } from '../support/git-repository.ts';

const env = GIT_TEST_ENV;

describe('captureBaseline', () => {
	it('records a clean repository with commits', async () => {
		const test = await makeRepository();
		test.write('a', 'a\n');
		const ref = test.commit();
		const capture = await captureBaseline(await openRepository(test.root, { env }), []);
		expect(capture.baseline).toEqual({ ref, kind: 'head' });
		expect(capture.dirty).toBe(false);
		expect([capture.status, capture.stagedDiff, capture.unstagedDiff].map((part) => part.length)).toEqual([0, 0, 0]);
	});

	it.each([false, true])('records a repository without commits (sha256: %s)', async (sha256) => {
		const test = await makeRepository({ sha256 });
		test.write('a', 'a\n');
		const repository = await openRepository(test.root, { env });
		const capture = await captureBaseline(repository, []);
		expect(capture.baseline).toEqual({ ref: repository.emptyTree, kind: 'empty_tree' });
		expect(capture.dirty).toBe(true);
		await confirmBaseline(repository, capture.baseline);
	});

	it('keeps the diffs of a dirty tree to the byte', async () => {
		const test = await makeRepository();
		test.write('a b.md', 'a\n');
		test.write('latin', Buffer.of(0xe9, 0x0a));
		test.commit();
		test.write('a b.md', 'staged\n');
		test.git('add', '.');
		test.write('a b.md', 'unstaged\n');
		test.write('latin', Buffer.of(0xe8, 0x0a));
		const capture = await captureBaseline(await openRepository(test.root, { env }), []);
		expect(capture.stagedDiff.toString()).toBe(test.git('diff', '--full-index', '--cached'));
		expect(capture.unstagedDiff.toString('latin1')).toContain('-\xe9\n+\xe8\n');
		expect(capture.unstagedDiff.toString()).toContain('+unstaged');
	});

	it('shows no difference for a file that was only touched, and sees one with equal size and time', async () => {
		const test = await makeRepository();
		// git compares times in whole seconds, so file, index and change must share one, and the look at them must not.
		await setTimeout(1000 - (Date.now() % 1000));
		test.write('same', 'same\n');
		test.write('racy', 'one\n');
		test.git('add', '.');
		test.write('same', 'same\n');
		test.write('racy', 'two\n');
		await setTimeout(1000);
		const capture = await captureBaseline(await openRepository(test.root, { env }), []);
		expect(capture.status.toString()).toBe('AM racy\nA  same\n');
		expect(capture.unstagedDiff.toString()).not.toContain('same');
	});
});

describe('confirmBaseline', () => {
	it('names both commits when HEAD has moved', async () => {
		const test = await makeRepository();
		test.write('a', 'a\n');
		const first = test.commit();
		const repository = await openRepository(test.root, { env });
		await confirmBaseline(repository, { ref: first, kind: 'head' });
		test.write('a', 'b\n');
		const second = test.commit();
		const error = await confirmBaseline(repository, { ref: first, kind: 'head' }).catch((thrown: unknown) => thrown);
		expect(error).toMatchObject({ code: 'head-moved', exitCode: 3 });
		expect((error as Error).message).toContain(first);
		expect((error as Error).message).toContain(second);
	});

	it.each([
		['zeros', '0'.repeat(40)],
		['an option', '--output=/tmp/x'],
		['a name', 'HEAD'],
		['nothing', ''],
	])('refuses %s as a commit', async (_, ref) => {
		const test = await makeRepository();
		test.write('a', 'a\n');
		test.commit();
		const repository = await openRepository(test.root, { env });
		await expect(confirmBaseline(repository, { ref, kind: 'head' })).rejects.toMatchObject({
			code: 'invalid-baseline',
			exitCode: 3,
		});
	});

	it('refuses a tree as a commit, and a foreign empty tree', async () => {
		const test = await makeRepository({ sha256: true });
		test.write('a', 'a\n');
		test.commit();
		const tree = test.git('rev-parse', 'HEAD^{tree}').trim();
		const repository = await openRepository(test.root, { env });
		await expect(confirmBaseline(repository, { ref: tree, kind: 'head' })).rejects.toMatchObject({
			code: 'invalid-baseline',
		});
		const foreign = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
		await expect(confirmBaseline(repository, { ref: foreign, kind: 'empty_tree' })).rejects.toMatchObject({
			code: 'invalid-baseline',
		});
	});
});
