import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitPatch } from '../../scripts/lib/git/patch.ts';
import { decodePath } from '../../scripts/lib/git/paths.ts';
import { makeRepository } from '../support/git-repository.ts';

const OPTIONS = [
	'-c',
	'core.quotePath=false',
	'diff',
	'--find-renames',
	'--full-index',
	'--src-prefix=a/',
	'--dst-prefix=b/',
];

describe('splitPatch', () => {
	it('finds the name of each change, however odd', async () => {
		const repository = await makeRepository();
		const names = ['plain.txt', 'a b.md', 'café ünï.txt', 'new\nline.txt', 'quo"te', '-dash', 'x b/x', 'tab\tname'];
		for (const name of names) repository.write(name, 'one\n');
		repository.commit();
		for (const name of names) repository.write(name, 'two\nthree\n');
		const parts = splitPatch(Buffer.from(repository.git(...OPTIONS)).toString('latin1'));
		expect(parts.map((part) => part.path).sort()).toEqual([...names].sort());
		expect(parts.every((part) => part.added === 2 && part.removed === 1)).toBe(true);
	});

	it('reads renames, modes, binaries, empty and deleted files', async () => {
		const repository = await makeRepository();
		repository.write('old name.txt', 'a\nb\nc\nd\ne\n');
		repository.write('mode.sh', 'x\n');
		repository.write('gone.txt', 'x\n');
		repository.write('pic.bin', Buffer.of(0, 1, 2));
		repository.commit();
		repository.git('mv', 'old name.txt', 'new "name.txt');
		repository.git('update-index', '--chmod=+x', 'mode.sh');
		repository.git('rm', '-q', 'gone.txt');
		repository.write('pic.bin', Buffer.of(0, 1, 3));
		repository.write('empty file', '');
		repository.git('add', '.', ':!mode.sh');
		const parts = splitPatch(repository.git(...OPTIONS, '--cached'));
		const byPath = new Map(parts.map((part) => [part.path, part]));
		expect([...byPath.keys()].sort()).toEqual(['empty file', 'gone.txt', 'mode.sh', 'new "name.txt', 'pic.bin']);
		expect(byPath.get('new "name.txt')?.oldPath).toBe('old name.txt');
		expect(byPath.get('pic.bin')?.isBinary).toBe(true);
		expect(byPath.get('gone.txt')?.removed).toBe(1);
	});

	it('names conflicts', async () => {
		const repository = await makeRepository();
		repository.write('c.txt', 'base\n');
		repository.commit();
		repository.git('checkout', '-q', '-b', 'side');
		repository.write('c.txt', 'side\n');
		repository.commit();
		repository.git('checkout', '-q', 'main');
		repository.write('c.txt', 'main\n');
		repository.commit();
		expect(() => repository.git('merge', '-q', 'side')).toThrow();
		expect(splitPatch(repository.git(...OPTIONS)).map((part) => part.path)).toEqual(['c.txt']);
		expect(splitPatch(repository.git(...OPTIONS, '--cached')).map((part) => part.path)).toEqual(['c.txt']);
	});

	it('is never misled by what a file contains, and loses nothing', async () => {
		const repository = await makeRepository();
		repository.write('f', '');
		repository.commit();
		const line = fc.constantFrom(
			'diff --git a/x b/x',
			'+++ b/x',
			'--- a/x',
			'@@ -1 +1 @@',
			'* Unmerged path x',
			'\rdiff --git a/x b/x',
			'x',
		);
		fc.assert(
			fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), (lines) => {
				repository.write('f', `${lines.join('\n')}\n`);
				const patch = repository.git(...OPTIONS);
				const parts = splitPatch(patch);
				expect(parts.map((part) => part.path)).toEqual(['f']);
				expect(parts[0]?.added).toBe(lines.length);
				expect(parts.map((part) => part.text).join('')).toBe(patch);
			}),
			{ numRuns: 25 },
		);
	});

	it('keeps a name that is not UTF-8', () => {
		const name = '"b/\\377x"';
		const [part] = splitPatch(`diff --git "a/\\377x" ${name}\n--- /dev/null\n+++ ${name}\n@@ -0,0 +1 @@\n+x\n`);
		expect(part?.path).toBe(decodePath(Buffer.from([0xff, 0x78])));
	});
});
