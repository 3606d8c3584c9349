import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
	describeVerifyResult,
	keepVerifyResult,
	readVerifyResult,
	reapVerifyCommand,
	runVerifyCommand,
	type VerifyResult,
} from '../../scripts/lib/run/verify-command.ts';
import { rejectionOf } from '../support/ccc-error.ts';
import { tempFolder } from '../support/temp-folder.ts';

const RESULT: VerifyResult = { command: 'npm test', exitCode: 0, timedOut: false, durationMs: 7, tail: 'ok 1' };
const CODE = { kind: 'code', version: 0 } as const;

async function runFolder(): Promise<string> {
	const folder = await tempFolder();
	await mkdir(path.join(folder, 'state'));
	return folder;
}

async function verify(script: string): Promise<VerifyResult> {
	const folder = await runFolder();
	const command = `'${process.execPath}' -e '${script}'`;
	const env = { PATH: process.env.PATH ?? '' };
	const { signal } = new AbortController();
	const result = await runVerifyCommand(folder, { command, root: folder, env, timeoutMs: 20_000, signal });
	expect(await readdir(path.join(folder, 'state'))).toEqual([]);
	return result;
}

describe('describeVerifyResult', () => {
	it.each<[Partial<VerifyResult>, string]>([
		[{}, 'command: npm test\nresult: exit code 0\nend of its output:\nok 1'],
		[{ exitCode: 2, tail: '' }, 'command: npm test\nresult: exit code 2\nend of its output:\n(no output)'],
		[{ exitCode: null }, 'command: npm test\nresult: exit code unknown\nend of its output:\nok 1'],
		[
			{ exitCode: null, timedOut: true },
			'command: npm test\nresult: it did not end in time and was stopped\nend of its output:\nok 1',
		],
	])('%j', (over, text) => {
		expect(describeVerifyResult({ ...RESULT, ...over })).toBe(text);
	});
});

describe('runVerifyCommand', () => {
	it('keeps the exit code, both outputs and no control characters', async () => {
		const script = 'console.error("\\u001b[31mred\\u001b[0m\\u0007"); console.log("out"); process.exitCode = 3';
		expect(await verify(script)).toMatchObject({ exitCode: 3, timedOut: false, tail: 'out\n\nred' });
	});

	it.each([
		['lines', 'for (let n = 0; n < 2000; n++) console.log("line " + n)', /^line \d+\n[\s\S]*line 1999$/],
		['one line with a newline', 'console.log("é".repeat(4001))', /^é{1999,2000}$/],
		['one line without', 'process.stdout.write("a" + "é".repeat(4001))', /^é{1999,2000}$/],
	])('keeps the end of much output: %s', async (_, script, tail) => {
		const result = await verify(script);
		expect(result.tail).toMatch(tail);
		expect(Buffer.byteLength(result.tail)).toBeLessThanOrEqual(4000);
		expect(Buffer.byteLength(result.tail)).toBeGreaterThan(3900);
	});

	it('keeps the end of more output than is kept of it while it runs', async () => {
		const script = 'for (let n = 0; n < 300000; n++) console.log("line " + n)';
		const result = await verify(script);
		expect(result).toMatchObject({ exitCode: 0, tail: expect.stringMatching(/^line \d+\n[\s\S]*line 299999$/) });
	});

	it.runIf(process.platform === 'linux')('writes to private files in the run folder, not to pipes', async () => {
		const script =
			'const fs = require("fs"); for (const fd of [1, 2]) console.log(fs.readlinkSync("/proc/self/fd/" + fd), (fs.fstatSync(fd).mode & 4095).toString(8))';
		expect((await verify(script)).tail).toMatch(/^\S.*\/state\/verify\.stdout 600\n.*\/state\/verify\.stderr 600$/);
	});

	it('leaves nothing after a crash: the next command removes what it wrote', async () => {
		const folder = await runFolder();
		const state = path.join(folder, 'state');
		await writeFile(path.join(state, 'verify.running'), `CCC_VERIFY_ID=${'0'.repeat(32)}\n`);
		for (const name of ['verify.stdout', 'verify.stderr']) await writeFile(path.join(state, name), 'half');
		await reapVerifyCommand(folder);
		expect(await readdir(state)).toEqual([]);
	});

	it('says so when the command cannot be started', async () => {
		const folder = await runFolder();
		const { signal } = new AbortController();
		const options = { command: './nowhere', root: folder, env: {}, timeoutMs: 5000, signal };
		const error = await rejectionOf(runVerifyCommand(folder, options));
		expect(error).toMatchObject({ code: 'verify-unavailable', exitCode: 3, facts: { at: './nowhere' } });
	});
});

describe('kept results', () => {
	it('come back with the surface they are of', async () => {
		const folder = await runFolder();
		await keepVerifyResult(folder, CODE, { ...RESULT, surfaceSha256: 'abc' });
		expect(await readVerifyResult(folder, CODE)).toEqual({ ...RESULT, surfaceSha256: 'abc' });
		expect(await readVerifyResult(folder, { ...CODE, version: 1 })).toBeUndefined();
	});

	it.each(['', '{', '[]', '{"command":"x"}', JSON.stringify(RESULT)])('a damaged one is none: %j', async (text) => {
		const folder = await runFolder();
		await writeFile(path.join(folder, 'state', 'code_v0.verify.json'), text);
		expect(await readVerifyResult(folder, CODE)).toBeUndefined();
	});
});
