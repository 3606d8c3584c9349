import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureBaseline } from '../../scripts/lib/git/baseline.ts';
import { openRepository } from '../../scripts/lib/git/repository.ts';
import { readReviewSurface } from '../../scripts/lib/git/review-surface.ts';
import { addClone, GIT_TEST_ENV, makeRepository, type TestRepository } from '../support/git-repository.ts';

/** The lines of the surface's sections about hidden files, without heading and fence. */
async function hiddenLines(test: TestRepository, exclude: string[] = []): Promise<string[]> {
	const { text } = await surfaceOf(test, exclude);
	return text
		.split('\n### ')
		.filter((section) => /^[^\n]*iles hidden by ignore rules/.test(section))
		.flatMap((section) => section.split('\n').filter((line) => /^ {2}|ignored itself|hides/.test(line)));
}

async function surfaceOf(test: TestRepository, exclude: string[] = []) {
	const repository = await openRepository(test.root, { env: GIT_TEST_ENV });
	const { baseline } = await captureBaseline(repository, exclude);
	return readReviewSurface(repository, baseline, { exclude, budgetBytes: 60_000 });
}

async function project(): Promise<TestRepository> {
	const test = await makeRepository();
	test.write('.gitignore', 'node_modules/\n*.pyc\n');
	test.write('pkg/.gitignore', 'out/\n');
	test.write('a.ts', 'a\n');
	test.commit();
	for (const name of ['node_modules/x/index.js', 'pkg/out/x', 'a.pyc']) test.write(name, 'x');
	return test;
}

describe('hidden files', () => {
	it('are none where only tracked rules hide', async () => {
		const test = await project();
		test.write('new/.gitignore', 'shown\n');
		test.write('new/shown', 'x');
		const { text } = await surfaceOf(test);
		expect(text).not.toContain('hidden by');
		expect(text).not.toContain('index.js');
		expect(text).toContain('+++ b/new/.gitignore');
	});

	it('are named behind a .gitignore that hides itself, in folders of any depth, with odd names', async () => {
		const test = await project();
		test.write('h/.gitignore', '*\n');
		for (const name of ['evil.js', 'deep/er/evil.js', 'new\nline', 'x.pyc', 'node_modules/y.js'])
			test.write(`h/${name}`, 'x');
		expect(await hiddenLines(test)).toEqual([
			'h/.gitignore is ignored itself, and hides 3 more that no tracked rule hides:',
			'  h/deep/er/evil.js',
			'  h/evil.js',
			'  "h/new\\nline"',
		]);
		expect((await surfaceOf(test)).changedPaths).toEqual([]);
	});

	it('are named beside tracked and shown files, and in the root', async () => {
		const test = await project();
		test.write('pkg/sub/.gitignore', '.gitignore\nevil.js\nfolder/\n');
		for (const name of ['seen.js', 'evil.js', 'folder/evil.js']) test.write(`pkg/sub/${name}`, 'x');
		test.write('only/.gitignore', '.gitignore\n');
		expect(await hiddenLines(test)).toEqual([
			'only/.gitignore is ignored itself, and hides nothing else',
			'pkg/sub/.gitignore is ignored itself, and hides 2 more that no tracked rule hides:',
			'  pkg/sub/evil.js',
			'  pkg/sub/folder/evil.js',
		]);
		const bare = await makeRepository();
		bare.write('.gitignore', '*\n');
		bare.write('evil.js', 'x');
		expect(await hiddenLines(bare)).toEqual([
			'.gitignore is ignored itself, and hides 1 more that no tracked rule hides:',
			'  evil.js',
		]);
	});

	it('are counted, not named, behind .git/info/exclude', async () => {
		const test = await project();
		test.write('.git/info/exclude', 'secret.txt\nprivate/\n');
		for (const name of ['secret.txt', 'private/a', 'private/b']) test.write(name, 'PERSONAL');
		expect(await hiddenLines(test)).toEqual(['.git/info/exclude hides 2 files or folders, not named here']);
		const { text } = await surfaceOf(test);
		expect(text).not.toMatch(/PERSONAL|secret|private/);
	});

	it('are not the records of runs, but what lies beside those of another one', async () => {
		const test = await project();
		for (const folder of ['runs/ours', 'runs/other']) {
			test.write(`${folder}/.gitignore`, '*\n');
			for (const name of ['run.md', 'task.md', 'artifacts/a.md', 'state/x'])
				test.write(`${folder}/${name}`, '# CCC Run\n');
		}
		expect(await hiddenLines(test, ['runs/ours'])).toEqual([]);
		test.write('runs/other/evil.js', 'x');
		expect(await hiddenLines(test, ['runs/ours'])).toEqual([
			'runs/other/.gitignore is ignored itself, and hides 1 more that no tracked rule hides:',
			'  runs/other/evil.js',
		]);
	});

	it('are found in submodules', async () => {
		const inner = await makeRepository();
		inner.write('f', 'f\n');
		inner.commit();
		const outer = await makeRepository();
		const submodule = addClone(outer, inner, 'sub');
		outer.commit();
		submodule.write('h/.gitignore', '*\n');
		submodule.write('h/evil.js', 'x');
		expect(await hiddenLines(outer)).toEqual([
			'sub/h/.gitignore is ignored itself, and hides 1 more that no tracked rule hides:',
			'  sub/h/evil.js',
		]);
	});

	it('are named up to 50, then counted, and 20,000 of them take a moment', async () => {
		const test = await project();
		test.write('env/.gitignore', '*\n');
		for (let folder = 0; folder < 200; folder += 1) {
			mkdirSync(path.join(test.root, `env/d${folder}`));
			for (let file = 0; file < 100; file += 1) writeFileSync(path.join(test.root, `env/d${folder}/f${file}`), '');
		}
		const start = performance.now();
		const lines = await hiddenLines(test);
		// Far above what it takes, because the machine that tests may be busy.
		expect(performance.now() - start).toBeLessThan(6000);
		expect(lines).toHaveLength(52);
		expect(lines[0]).toContain('hides 20000 more');
		expect(lines.at(-1)).toBe('  (and 19950 that are not named here)');
	});
});
