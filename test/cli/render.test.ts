import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { outputs } from '../../scripts/ccc/outputs.ts';
import { makeSandbox } from '../support/sandbox.ts';
import { snapshot } from '../support/snapshot.ts';

it('ccc render writes, --check tells, --remove takes back', async () => {
	const box = await makeSandbox();
	const { repository } = box;
	repository.write('AGENTS.md', 'Ours\r\n');
	repository.commit();
	mkdirSync(path.join(repository.root, 'deep/folder'), { recursive: true });

	expect(await box.ccc(['render', '--check'])).toEqual({
		code: 1,
		stdout: 'AGENTS.md: has no block\nCLAUDE.md: missing\nNext: ccc render\n',
		stderr: '',
	});
	expect(repository.git('status', '--short')).toBe('');
	const wrote = await box.ccc(['render'], { cwd: path.join(repository.root, 'deep/folder') });
	expect(wrote).toEqual({ code: 0, stdout: 'AGENTS.md: block added\nCLAUDE.md: created\n', stderr: '' });
	const before = snapshot(repository.root);
	const checked = await box.ccc(['render', '--check', '--json', repository.root], { cwd: box.home });
	expect(outputs.render.parse(JSON.parse(checked.stdout))).toEqual({
		root: repository.root,
		up_to_date: true,
		files: [
			{ file: 'AGENTS.md', action: 'none', line: 3 },
			{ file: 'CLAUDE.md', action: 'none', line: 1 },
		],
		exit_code: 0,
	});
	await box.ccc(['render']);
	expect(snapshot(repository.root)).toEqual(before);

	const edited = readFileSync(path.join(repository.root, 'AGENTS.md'), 'utf8').replace('## ccc', '## other');
	repository.write('AGENTS.md', edited);
	expect((await box.ccc(['render', '--check'])).stdout).toContain('AGENTS.md:3: the block is not the current one\n');
	const removed = await box.ccc(['render', '--remove', '.']);
	expect(removed.stdout).toBe('AGENTS.md: block removed\nCLAUDE.md: deleted, as it held nothing else\n');
	expect(repository.git('status', '--short')).toBe('');
});

it.each([
	[['--chek'], 'unknown-word', 2],
	[['a', 'b'], 'unknown-word', 2],
	[['--check', '--remove'], 'conflicting-options', 2],
	[['nowhere'], 'not-a-folder', 2],
	[['../home'], 'not-a-repository', 1],
])('ccc render %j: %s', async (words, code, exit) => {
	const box = await makeSandbox();
	const before = snapshot(box.repository.root);
	const ran = await box.ccc(['render', ...words, '--json']);
	const schema = z.fromJSONSchema(
		JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../schemas/ccc-render.schema.json'), 'utf8')),
	);
	const value = schema.parse(JSON.parse(ran.stdout));
	expect(value).toMatchObject({ error: { code }, exit_code: exit });
	expect(ran.code).toBe(exit);
	expect(snapshot(box.repository.root)).toEqual(before);
});

it('ccc render names file and line of a broken block', async () => {
	const box = await makeSandbox();
	box.repository.write('CLAUDE.md', 'a\n<!-- ccc:end -->\n');
	const { code, stderr } = await box.ccc(['render']);
	expect(code).toBe(1);
	expect(stderr).toMatch(/^CLAUDE\.md:2: .*\[broken-block\]\n/);
	expect(box.repository.git('status', '--short')).toBe('?? CLAUDE.md\n');
});
