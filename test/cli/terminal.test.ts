import { describe, expect, it } from 'vitest';
import { LAUNCHER, makeSandbox, type Sandbox } from '../support/sandbox.ts';
import { MAJOR, seedRun } from '../support/seeded-run.ts';

/** Everything that steers a terminal, C1 controls too. */
const HOSTILE = '\u001b]0;owned\u0007\u001b[2J\u009b31m\rover\u0008';
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** Runs a shell line in which `ccc` is the command. */
async function shell(box: Sandbox, line: string, env: Record<string, string> = {}) {
	const script = `ccc() { "${process.execPath}" "${LAUNCHER}" "$@"; }\n${line}`;
	return box.ccc([], { command: ['bash', '-c', script], env: { RUN: box.run, ...env } });
}

describe('text of models and repositories', () => {
	it('never reaches the terminal raw', async () => {
		const box = await makeSandbox({
			plan_v0_review: [{ answer: `- [major] Bad ${HOSTILE} line.\n\nREADY: no\n` }],
		});
		await seedRun(box, ['plan_v0'], { task: `Task ${HOSTILE}` });
		const outputs = [
			await box.ccc(['run', 'resume', box.run]),
			await box.ccc(['status', box.run]),
			await box.ccc(['list']),
			await box.ccc(['validate', box.run]),
			await box.ccc(['decide', box.run, 'accept', `because ${HOSTILE}`]),
			await box.ccc(['run', 'resume', box.run]),
			await box.ccc(['cancel', box.run, `enough ${HOSTILE}`]),
			await box.ccc(['run', 'resume', box.run]),
			await box.ccc(['status', `nowhere ${HOSTILE}`]),
			await box.ccc([`frob${HOSTILE}`]),
		];
		for (const { stdout, stderr } of outputs) {
			expect(stdout).not.toMatch(RAW);
			expect(stderr).not.toMatch(RAW);
		}
		expect(outputs[1]?.stdout).toContain('Bad');
	});

	it('of a companion that fails is shown on one line', async () => {
		const box = await makeSandbox({ plan_v0: { exit: 1, stderr: `first\nlast ${HOSTILE} words\n` } });
		await seedRun(box, []);
		const { code, stdout, stderr } = await box.ccc(['run', 'resume', box.run]);
		expect(code).toBe(5);
		expect(stdout).toContain('words');
		expect(stdout + stderr).not.toMatch(RAW);
		expect(box.read('run.md')).not.toMatch(RAW);
	});
});

describe('the closing lines', () => {
	it.each([
		['run', ['run', 'resume'], []],
		['status', ['status'], []],
		['decide', ['decide'], ['accept', 'fine']],
		['repair', ['repair'], ['rerun', 'plan_v0_review']],
		['cancel', ['cancel'], ['why']],
	])('end %s', async (_, before, after) => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0', ['plan_v0_review', MAJOR]]);
		const { stdout } = await box.ccc([...before, '.ccc/runs/x', ...after]);
		expect(stdout).toMatch(/(^|\n)CCC run: \.ccc\/runs\/x\nStage completed: \w+\nNext action: \w+\n$/);
	});
});

describe('an output that is closed early', () => {
	it('of a list is no error', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		box.repository.write('a.txt', 'line\n'.repeat(200_000));
		const { code, stdout, stderr } = await shell(box, 'set -o pipefail; ccc diff "$RUN" | head -n 1');
		expect(stdout).toBe('diff --git a/a.txt b/a.txt\n');
		expect(stderr).toBe('');
		expect(code).toBe(0);
	});

	it('of a run, progress and all, does not stop the run', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0', 'plan_v0_review']);
		const { code } = await shell(box, 'set -o pipefail; ccc run resume "$RUN" 2>&1 | true');
		expect(code).toBe(0);
		expect(box.status()).toBe('complete');
	});

	it('that was never open is no error either', async () => {
		const box = await makeSandbox();
		await seedRun(box, ['plan_v0']);
		expect((await shell(box, 'ccc status "$RUN" >&- 2>&-')).code).toBe(0);
	});
});

describe('standard input', () => {
	it('that is an open pipe without an end holds nothing up', async () => {
		const box = await makeSandbox({ plan_v0_review: { answer: MAJOR } });
		await seedRun(box, ['plan_v0']);
		const { code } = await shell(box, 'mkfifo pipe; exec 3<>pipe; ccc run resume "$RUN" <&3');
		expect(code).toBe(3);
	});
});
