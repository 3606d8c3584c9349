import { chmodSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { makeRepository, runTestGit } from '../support/git-repository.ts';
import { makeSandbox } from '../support/sandbox.ts';
import { seedRun } from '../support/seeded-run.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** Text that is not UTF-8, which git does not take for binary. */
const LATIN1 = Buffer.from('caf\xe9\nna\xefve\n', 'latin1');

it('ccc diff is a patch that makes the same tree from a fresh checkout of the baseline', async () => {
	const box = await makeSandbox();
	const { repository } = box;
	repository.write('gone.txt', 'gone\n');
	repository.write('moved.txt', 'one\ntwo\nthree\nfour\n');
	repository.write('latin1.txt', Buffer.concat([LATIN1, LATIN1]));
	repository.write('crlf.txt', 'a\r\nb\r\n');
	repository.write('bytes.bin', Uint8Array.of(0, 1, 2, 255));
	repository.commit();
	await seedRun(box, ['plan_v0', 'plan_v0_review', 'code_v0']);
	repository.write('staged.txt', 'staged\n');
	repository.git('add', 'staged.txt');
	repository.write('new dir/b é.txt', 'no newline at the end');
	repository.write('tab\there.txt', 'tab\n');
	repository.write('latin1.txt', LATIN1);
	repository.write('new-latin1.txt', LATIN1);
	repository.write('crlf.txt', 'a\r\nc\r\n');
	repository.write('bytes.bin', Uint8Array.of(0, 1, 2, 3, 255));
	repository.write('new.bin', Uint8Array.of(0, 9, 254));
	repository.write('.gitignore', 'ignored\n');
	repository.write('ignored', 'ignored\n');
	rmSync(path.join(repository.root, 'gone.txt'));
	repository.git('mv', 'moved.txt', 'moved away.txt');
	chmodSync(path.join(repository.root, 'tool.sh'), 0o755);
	symlinkSync('a.txt', path.join(repository.root, 'link'));

	const patch = path.join(box.root, 'patch');
	const shell = `"${process.execPath}" "$LAUNCHER" diff "$RUN" > "$PATCH"`;
	const { LAUNCHER } = await import('../support/sandbox.ts');
	const ran = await box.ccc([], { command: ['sh', '-c', shell], env: { LAUNCHER, RUN: box.run, PATCH: patch } });
	expect(ran).toEqual({ code: 0, stdout: '', stderr: '' });
	expect(readFileSync(patch, 'latin1')).not.toContain('.ccc');

	const fresh = path.join(await tempFolder(), 'fresh');
	runTestGit(box.root, 'clone', '-q', repository.root, fresh);
	runTestGit(fresh, 'apply', patch);
	for (const folder of [fresh, repository.root]) runTestGit(folder, 'add', '-A');
	expect(runTestGit(fresh, 'write-tree')).toBe(runTestGit(repository.root, 'write-tree'));
});

it('ccc diff of a run in a repository without commits holds every file', async () => {
	const repository = await makeRepository();
	repository.write('a.txt', 'one\n');
	const box = await makeSandbox({}, { repository });
	await seedRun(box, ['plan_v0']);
	writeFileSync(path.join(repository.root, 'b.txt'), 'two\n');
	const { stdout } = await box.ccc(['diff', '.ccc/runs/x']);
	expect(stdout.match(/^\+\w+$/gm)).toEqual(['+one', '+two']);
	expect((await box.ccc(['diff', '.'], { cwd: box.run })).stdout).toBe(stdout);
});
