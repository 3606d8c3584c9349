import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeSandbox, type Sandbox } from '../support/sandbox.ts';
import { seedRun } from '../support/seeded-run.ts';

const PACK = path.resolve(import.meta.dirname, '../..');

/** A copy of the pack in a folder with a space in its name. */
function copyPack(box: Sandbox, parts: readonly string[]): string {
	const pack = path.join(box.root, 'the pack');
	mkdirSync(pack);
	for (const part of [...parts, 'scripts', 'protocol']) {
		cpSync(path.join(PACK, part), path.join(pack, part), { recursive: true });
	}
	return pack;
}

describe('the scripts of the protocol', () => {
	it.each([
		['ccc-detect-session.sh', [], 'unknown\n', 0],
		['ccc-check-agent-cli.sh', ['claude'], 'claude: ok\n', 0],
		['ccc-validate.sh', ['nowhere'], 'not-a-run-folder', 1],
	])('%s works through links, from anywhere', async (name, words, expected, exit) => {
		const box = await makeSandbox();
		const pack = copyPack(box, ['dist']);
		const links = path.join(box.root, 'some links');
		mkdirSync(links);
		symlinkSync(path.join(pack, 'scripts', name), path.join(links, 'first'));
		symlinkSync('first', path.join(links, 'second.sh'));
		symlinkSync(pack, path.join(links, 'pack'));
		for (const command of [path.join(links, 'second.sh'), path.join(links, 'pack', 'scripts', name)]) {
			const { code, stdout, stderr } = await box.ccc(words, { command: [command], cwd: box.home });
			expect(stdout, stderr).toContain(expected);
			expect(code).toBe(exit);
		}
	});
});

describe('the launcher', () => {
	it('runs the sources where nothing is built, with a TMPDIR that cannot be written', async () => {
		const box = await makeSandbox({ plan_v0_review: { answer: '- [major] No.\n\nREADY: no\n' } });
		const pack = copyPack(box, ['package.json']);
		symlinkSync(path.join(PACK, 'node_modules'), path.join(pack, 'node_modules'));
		const env = { TMPDIR: '/nonexistent/tmp' };
		const command = [process.execPath, path.join(pack, 'scripts', 'ccc.mjs')] as const;
		const { code, stderr } = await box.ccc(['run', box.run, 'Task', 'p0-c0'], { command, env });
		expect(stderr).not.toMatch(/^ {4}at /m);
		expect(code).toBe(3);
		expect(box.done()).toEqual(['plan_v0', 'plan_v0_review']);
	});

	it('runs the bundle without node_modules', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		const pack = copyPack(box, ['dist']);
		const command = [process.execPath, path.join(pack, 'scripts', 'ccc.mjs')] as const;
		const { code, stdout } = await box.ccc(['status', box.run], { command, env: { TMPDIR: '/nonexistent' } });
		expect(code).toBe(0);
		expect(stdout).toContain('plan_v0');
	});

	it('says what to do where there is neither a bundle nor packages', async () => {
		const box = await makeSandbox();
		const pack = copyPack(box, []);
		const command = [process.execPath, path.join(pack, 'scripts', 'ccc.mjs')] as const;
		const { code, stdout, stderr } = await box.ccc(['status', 'x'], { command });
		expect({ code, stdout }).toEqual({ code: 70, stdout: '' });
		expect(stderr).toContain('[not-set-up]');
		expect(stderr).toContain('npm ci');
	});
});
