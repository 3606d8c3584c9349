import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { killTree, listTree } from '../../scripts/lib/kit/process-tree.ts';
import { type RunProcessOptions, runProcess } from '../../scripts/lib/kit/run-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

const NODE = process.execPath;
const PATH = process.env.PATH ?? '';
const LEAVE_DAEMON = `
	const { spawn } = require('node:child_process');
	const start = (stdio) => spawn('sleep', ['993'], { detached: true, stdio }).unref();
`;

/** Runs a program under a marker of its own and says what of it still runs afterwards. */
async function run(argv: [string, ...string[]], options: Partial<RunProcessOptions> = {}) {
	const marker = `CCC_TEST_ID=${randomBytes(8).toString('hex')}`;
	onTestFinished(async () => {
		await killTree({ marker, graceMs: 0 });
	});
	const cwd = options.cwd ?? (await tempFolder());
	const result = await runProcess({ argv, cwd, env: { PATH }, timeoutMs: 20_000, marker, ...options });
	return { ...result, running: await listTree({ pid: 0, marker }) };
}

describe('what a program is given', () => {
	it('is its arguments, its folder and nothing but its environment', async () => {
		const cwd = await tempFolder();
		const show = 'console.log(JSON.stringify([process.argv.slice(1), process.cwd(), Object.keys(process.env)]))';
		const result = await run([NODE, '-e', show, 'a b', '$HOME;*', ''], { cwd, env: { ONLY: '1' } });
		expect(result).toMatchObject({ exitCode: 0, signal: undefined, timedOut: false, leftovers: 0, running: [] });
		expect(JSON.parse(result.stdout)).toEqual([['a b', '$HOME;*', ''], cwd, ['ONLY', 'CCC_TEST_ID']]);
	});

	it('is an empty input when there is none, whatever our own stdin is', async () => {
		const result = await run(['cat']);
		expect(result).toMatchObject({ exitCode: 0, stdout: '', timedOut: false });
		expect(result.durationMs).toBeLessThan(5000);
	});

	it('is 150 kB of text beyond ASCII, whole', async () => {
		const prompt = 'я'.repeat(75_000);
		const result = await run(['cat'], { stdin: prompt });
		expect(result).toMatchObject({ exitCode: 0, stdoutBytes: 150_000, stdoutTruncated: false });
		expect(result.stdout === prompt).toBe(true);
	});

	it('may be left unread: 5 MB to a program that ends at once', async () => {
		expect(await run(['true'], { stdin: Buffer.alloc(5_000_000, 'x') })).toMatchObject({ exitCode: 0, running: [] });
	});

	it('waits for onStarted before stdin is written', async () => {
		let recorded: number | undefined;
		const onStarted = async (pid: number) => {
			await delay(200);
			recorded = pid;
		};
		const script = 'process.stdin.on("data", () => console.log(process.pid)); ';
		const result = await run([NODE, '-e', script], { stdin: 'x', onStarted });
		expect(result.stdout).toBe(`${recorded}\n`);
		expect(result.durationMs).toBeGreaterThanOrEqual(195);
	});
});

describe('what comes back', () => {
	it('is the exit code and both streams', async () => {
		const result = await run(['sh', '-c', 'echo out; echo err >&2; exit 7']);
		expect(result).toMatchObject({ exitCode: 7, stdout: 'out\n', stderr: 'err\n', stdoutBytes: 4, stderrBytes: 4 });
	});

	it('is the signal that ended it', async () => {
		expect(await run(['sh', '-c', 'kill -9 $$'])).toMatchObject({ exitCode: undefined, signal: 'SIGKILL' });
	});

	it('is bounded in memory and in its file: 50 MB are drained, not stored', async () => {
		const cwd = await tempFolder();
		const stdoutFile = path.join(cwd, 'out.txt');
		let seen = 0;
		const onActivity = (bytes: number) => {
			seen += bytes;
		};
		const script = 'yes я | head -c 50000000';
		const result = await run(['sh', '-c', script], { cwd, stdoutFile, maxBytes: 1_000_000, onActivity });
		expect(result).toMatchObject({
			exitCode: 0,
			stdoutBytes: 50_000_000,
			stdoutTruncated: true,
			stderrTruncated: false,
		});
		expect(seen).toBe(50_000_000);
		// Each line is three bytes: the bound falls behind the first byte of a letter, which is left out.
		expect(Buffer.byteLength(result.stdout)).toBe(999_999);
		expect(result.stdout).not.toContain('\ufffd');
		expect((await readFile(stdoutFile)).length).toBe(1_000_000);
	});

	it('is in its file while the program runs', async () => {
		const cwd = await tempFolder();
		const stderrFile = path.join(cwd, 'err.txt');
		await writeFile(stderrFile, 'of an older call');
		const script = `until grep -q first err.txt; do sleep 0.05; done`;
		const result = await run(['sh', '-c', `echo first >&2; ${script}`], { cwd, stderrFile });
		expect(result).toMatchObject({ exitCode: 0, timedOut: false });
		expect(await readFile(stderrFile, 'utf8')).toBe('first\n');
	});

	it('is replaced where it is no UTF-8', async () => {
		expect((await run(['printf', '\\377a'])).stdout).toBe('\ufffda');
	});
});

describe('a program that does not start', () => {
	it.each([
		['is missing', './missing', 'ENOENT'],
		['is not on the PATH', 'no-such-program-here', 'ENOENT'],
		['is not executable', './plain', 'EACCES'],
		['is a folder', './', 'EACCES'],
	])('because it %s', async (_why, file, code) => {
		const cwd = await tempFolder();
		await writeFile(path.join(cwd, 'plain'), '#!/bin/sh\n');
		await chmod(path.join(cwd, 'plain'), 0o644);
		expect(await run([file], { cwd, stdin: 'x' })).toMatchObject({ spawnError: code, exitCode: undefined, stdout: '' });
	});

	it('because its folder is missing or none', async () => {
		const cwd = await tempFolder();
		await writeFile(path.join(cwd, 'file'), '');
		expect(await run(['true'], { cwd: path.join(cwd, 'missing') })).toMatchObject({ spawnError: 'ENOTDIR' });
		expect(await run(['true'], { cwd: path.join(cwd, 'file') })).toMatchObject({ spawnError: 'ENOTDIR' });
	});

	it('because an argument is too long or holds a NUL byte', async () => {
		expect(await run(['true', 'x'.repeat(4_000_000)])).toMatchObject({ spawnError: 'E2BIG' });
		expect((await run(['true', 'a\0b'])).spawnError).toEqual(expect.any(String));
	});

	it('because it was cancelled before', async () => {
		expect(await run(['true'], { signal: AbortSignal.abort() })).toMatchObject({
			cancelled: true,
			exitCode: undefined,
		});
	});
});

describe('a deadline', () => {
	it('ends the program and a grandchild in a session of its own', async () => {
		const script = `${LEAVE_DAEMON} start('inherit'); setInterval(() => {}, 1000)`;
		const result = await run([NODE, '-e', script], { timeoutMs: 1000 });
		expect(result).toMatchObject({ timedOut: true, cancelled: false, running: [] });
		expect(result.durationMs).toBeLessThan(4000);
	});

	it('decides, also when the program answers SIGTERM with exit code 0', async () => {
		const script = `trap 'exit 0' TERM; echo part; while :; do sleep 0.05; done`;
		const result = await run(['sh', '-c', script], { timeoutMs: 700 });
		expect(result).toMatchObject({ timedOut: true, exitCode: 0, stdout: 'part\n', running: [] });
	});

	it('ends a program that ignores SIGTERM, after the grace', async () => {
		const script = `trap '' TERM; while :; do sleep 1; done`;
		const result = await run(['sh', '-c', script], { timeoutMs: 700 });
		expect(result).toMatchObject({ timedOut: true, signal: 'SIGKILL', running: [] });
	});

	it('ends a stopped program', async () => {
		expect(await run(['sh', '-c', 'kill -STOP $$'], { timeoutMs: 300 })).toMatchObject({ timedOut: true, running: [] });
	});

	it('is the same when a signal aborts', async () => {
		const script = `${LEAVE_DAEMON} start('ignore'); setInterval(() => {}, 1000)`;
		const result = await run([NODE, '-e', script], { signal: AbortSignal.timeout(500) });
		expect(result).toMatchObject({ cancelled: true, timedOut: false, running: [] });
	});
});

describe('what an ended program leaves behind', () => {
	it('is killed, in whatever session, and does not hold the result back by an open pipe', async () => {
		const result = await run([NODE, '-e', `${LEAVE_DAEMON} start('inherit'); start('ignore'); console.log('done')`]);
		expect(result).toMatchObject({ exitCode: 0, timedOut: false, stdout: 'done\n', leftovers: 2, running: [] });
		expect(result.durationMs).toBeLessThan(4000);
	});

	it('is killed after a double fork', async () => {
		const inner = `${LEAVE_DAEMON} start('inherit')`;
		const script = `require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: 'inherit' })`;
		expect(await run([NODE, '-e', script])).toMatchObject({ exitCode: 0, leftovers: 1, running: [] });
	});

	it('is killed without a marker while it stays in the group', async () => {
		const result = await runProcess({
			argv: ['sh', '-c', 'sleep 993 & echo $!'],
			cwd: await tempFolder(),
			env: { PATH },
			timeoutMs: 10_000,
		});
		expect(result).toMatchObject({ exitCode: 0, leftovers: 1 });
		expect(await listTree({ pid: Number(result.stdout) })).toEqual([]);
	});

	it('is killed though it has dropped the marker, once it was seen', async () => {
		// The daemon is started with an empty environment and outlives its parent's parent by a second.
		const script = `require('node:child_process')
			.spawn('sleep', ['993'], { detached: true, stdio: 'ignore', env: {} })
			.on('spawn', function () { console.log(this.pid); setTimeout(() => process.exit(), 1000) })`;
		const result = await run([NODE, '-e', script]);
		expect(result).toMatchObject({ exitCode: 0, leftovers: 1 });
		expect(await listTree({ pid: Number(result.stdout) })).toEqual([]);
	});
});

describe('what leaves the tree at once', () => {
	// Again on a machine so busy that a look takes long: the pause after it is then longer than that moment.
	it('is killed though its parent lives for a moment only', { retry: 2 }, async () => {
		const cwd = await tempFolder();
		const leave = `env -i PATH="$PATH" setsid sh -c 'echo $$ > pid; exec sleep 993' </dev/null >/dev/null 2>&1 &`;
		const result = await run(['sh', '-c', `sleep 0.1; ${leave} sleep 0.15`], { cwd });
		const pid = Number(await readFile(path.join(cwd, 'pid'), 'utf8'));
		onTestFinished(async () => {
			await killTree({ pid, graceMs: 0 });
		});
		expect(result).toMatchObject({ exitCode: 0, leftovers: 1 });
		expect(await listTree({ pid })).toEqual([]);
	});
});

describe('output into files', () => {
	async function runIntoFiles(script: string, options: Partial<RunProcessOptions> = {}) {
		const cwd = await tempFolder();
		const outputFiles = { stdout: path.join(cwd, 'out'), stderr: path.join(cwd, 'err') };
		return { ...(await run(['sh', '-c', script], { cwd, outputFiles, ...options })), outputFiles };
	}

	it('is regular files of the owner for the program, and both streams for the caller', async () => {
		let seen = 0;
		const onActivity = (bytes: number) => {
			seen += bytes;
		};
		const kinds = `test -f /dev/stdout && test -f /dev/stderr && echo files; stat -c %a out; echo bad >&2; sleep 0.1; exit 3`;
		const result = await runIntoFiles(kinds, { onActivity });
		expect(result).toMatchObject({
			exitCode: 3,
			stdout: 'files\n600\n',
			stderr: 'bad\n',
			stdoutBytes: 10,
			stderrBytes: 4,
		});
		expect(result).toMatchObject({ stdoutTruncated: false, leftovers: 0, running: [] });
		expect(seen).toBe(14);
		expect(await readFile(result.outputFiles.stdout, 'utf8')).toBe('files\n600\n');
	});

	it('does not follow what lies in their place', async () => {
		const cwd = await tempFolder();
		const outputFiles = { stdout: path.join(cwd, 'out'), stderr: path.join(cwd, 'err') };
		await writeFile(path.join(cwd, 'precious'), 'kept');
		await symlink('precious', outputFiles.stdout);
		await mkdir(path.join(outputFiles.stderr, 'deep'), { recursive: true });
		expect(await run(['echo', 'x'], { cwd, outputFiles })).toMatchObject({ exitCode: 0, stdout: 'x\n' });
		expect(await readFile(path.join(cwd, 'precious'), 'utf8')).toBe('kept');
	});

	it('is the end of it where there is more than the bound, and a program that writes on is not ended for it', async () => {
		const script = `yes я | head -c 30000000; sleep 0.2; echo; echo over`;
		const result = await runIntoFiles(script, { maxBytes: 1_000_000 });
		expect(result).toMatchObject({ exitCode: 0, stdoutTruncated: true, stderrTruncated: false, running: [] });
		expect(result.stdout.endsWith('я\n\nover\n')).toBe(true);
		expect(Buffer.byteLength(result.stdout)).toBeGreaterThan(999_990);
		expect(Buffer.byteLength(result.stdout)).toBeLessThanOrEqual(1_000_000);
		// The bound falls somewhere in a line of three bytes.
		expect(result.stdout).not.toContain('\ufffd');
		// How much is left of it depends on when it was last emptied.
		expect((await stat(result.outputFiles.stdout)).size).toBeLessThanOrEqual(1_000_000);
	});

	it('does not fill the disk when there is no end to it', async () => {
		const sizes: number[] = [];
		const cwd = await tempFolder();
		const outputFiles = { stdout: path.join(cwd, 'out'), stderr: path.join(cwd, 'err') };
		const onActivity = () => {
			const { size, blocks } = statSync(outputFiles.stdout);
			sizes.push(size, blocks * 512);
		};
		const result = await run(['yes'], { cwd, outputFiles, maxBytes: 1_000_000, timeoutMs: 1500, onActivity });
		expect(result).toMatchObject({ timedOut: true, stdoutTruncated: true, running: [] });
		expect(result.stdoutBytes).toBeGreaterThan(100_000_000);
		expect(Math.max(...sizes)).toBeLessThan(result.stdoutBytes / 2);
		expect(result.stdout.endsWith('y\n')).toBe(true);
	});

	it('is no reason to wait for what an ended program left behind, which is killed', async () => {
		const result = await runIntoFiles('sleep 993 & echo done');
		expect(result).toMatchObject({ exitCode: 0, stdout: 'done\n', leftovers: 1, running: [] });
	});

	it('is named when it cannot be made', async () => {
		const folder = path.join(await tempFolder(), 'missing');
		const outputFiles = { stdout: path.join(folder, 'out'), stderr: path.join(folder, 'err') };
		await expect(run(['true'], { outputFiles })).rejects.toMatchObject({ code: 'output-file' });
	});
});

describe('a callback or a file that fails', () => {
	it('ends the program, then is thrown', async () => {
		const failing = () => {
			throw new Error('full');
		};
		await expect(run(['sh', '-c', 'echo; sleep 993'], { onActivity: failing })).rejects.toThrow('full');
		await expect(run(['sleep', '993'], { onStarted: () => Promise.reject(new Error('no')) })).rejects.toThrow('no');
	});

	it('is named when the output cannot be kept', async () => {
		const stdoutFile = path.join(await tempFolder(), 'missing', 'out.txt');
		await expect(run(['true'], { stdoutFile })).rejects.toMatchObject({
			code: 'output-file',
			facts: { at: stdoutFile },
		});
	});
});
