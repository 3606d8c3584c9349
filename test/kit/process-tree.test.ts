import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identityOf } from '../../scripts/lib/kit/process-identity.ts';
import { killTree, listTree } from '../../scripts/lib/kit/process-tree.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** A process in a session of its own whose first line is read: the pids it prints. */
async function started(argv: [string, ...string[]], env: Record<string, string> = {}, cwd = '/') {
	const [file, ...args] = argv;
	const child: ChildProcess = spawn(file, args, {
		detached: true,
		cwd,
		env: { PATH: process.env.PATH ?? '', ...env },
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	const pid = child.pid!;
	onTestFinished(async () => {
		await killTree({ pid, graceMs: 0 });
		child.stdout?.destroy();
	});
	const [line] = await once(child.stdout!, 'data');
	return { pid, printed: String(line).trim().split(' ').map(Number), child };
}

const pidsOf = (entries: { pid: number }[]) => entries.map(({ pid }) => pid).sort((a, b) => a - b);

describe('listTree', () => {
	it('finds the root, its descendants, and orphans of its group', async () => {
		const script = 'sleep 991 & a=$!; (sleep 992 & echo $a $!) ; wait';
		const { pid, printed } = await started(['sh', '-c', script]);
		// The subshell that printed ends a moment later.
		await expect
			.poll(async () => pidsOf(await listTree({ pid })), { timeout: 5000 })
			.toEqual([pid, ...printed].sort((a, b) => a - b));
	});

	it('finds the group of a root that has ended', async () => {
		const { pid, printed, child } = await started(['sh', '-c', 'sleep 991 & echo $!']);
		if (child.exitCode === null) await once(child, 'exit');
		expect(pidsOf(await listTree({ pid }))).toEqual(printed);
	});

	it('finds a marker only as a whole entry of an environment', async () => {
		const marker = `CCC_TEST_ID=${randomBytes(8).toString('hex')}`;
		const [name = '', value = ''] = marker.split('=');
		const first = await started(['sh', '-c', 'echo; exec sleep 991'], { [name]: value, Z: '1' });
		await started(['sh', '-c', 'echo; exec sleep 991'], { [name]: `${value}9`, [`X${name}`]: value });
		expect(pidsOf(await listTree({ pid: 0, marker }))).toEqual([first.pid]);
	});

	it('leaves alone a pid that belongs to another process now', async () => {
		const { pid } = await started(['sh', '-c', 'echo; exec sleep 991']);
		expect(await listTree({ pid }, [{ pid, ppid: 1, startTime: 'earlier' }])).toEqual([]);
		expect(await killTree({ pid, remembered: [{ pid, ppid: 1, startTime: 'earlier' }] })).toEqual({
			killed: [],
			survivors: [],
		});
		expect(await identityOf(pid)).toBeDefined();
	});

	it('has nobody in it for no root', async () => {
		expect(await listTree({ pid: 0 })).toEqual([]);
		expect(await killTree({})).toEqual({ killed: [], survivors: [] });
	});
});

describe('killTree', () => {
	it('ends all of it and says whom', async () => {
		const { pid, printed } = await started(['sh', '-c', 'sleep 991 & sleep 992 & echo $!; wait']);
		const before = pidsOf(await listTree({ pid }));
		expect(before).toContain(printed[0]);
		const { killed, survivors } = await killTree({ pid });
		expect({ killed: [...killed].sort((a, b) => a - b), survivors }).toEqual({ killed: before, survivors: [] });
		expect(await listTree({ pid })).toEqual([]);
	});

	it('gives SIGTERM its grace, then SIGKILL', async () => {
		const stubborn = `trap '' TERM; echo; while :; do sleep 0.1; done`;
		const { pid, child } = await started(['sh', '-c', stubborn]);
		const began = performance.now();
		const ended = once(child, 'exit');
		expect((await killTree({ pid, graceMs: 400 })).survivors).toEqual([]);
		expect(await ended).toEqual([null, 'SIGKILL']);
		expect(performance.now() - began).toBeGreaterThanOrEqual(390);
	});

	it('ends children that are born while it works', async () => {
		const breeder = `trap 'sleep 994 & sleep 995 & exit 0' TERM; echo; while :; do sleep 0.05; done`;
		const { pid } = await started(['sh', '-c', breeder]);
		expect((await killTree({ pid, graceMs: 1000 })).survivors).toEqual([]);
		expect(await listTree({ pid })).toEqual([]);
	});

	it('never hits this process or an ancestor, and says that they live on', async () => {
		const folder = await tempFolder();
		const entry = path.resolve(import.meta.dirname, '../../scripts/lib/kit/process-tree.ts');
		const outfile = path.join(folder, 'tree.mjs');
		await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm' });
		// A shell with two children: one of them is to end the whole tree, itself in it.
		const script = `import(process.argv[1]).then(async ({ killTree }) => {
			const result = await killTree({ pid: process.ppid, graceMs: 0 });
			console.log(JSON.stringify({ ...result, own: [process.ppid, process.pid] }));
		})`;
		const shell = 'echo $$; sleep 991 & echo $! > sleeping; "$0" -e "$1" "$2" > result; wait';
		const { child } = await started(['sh', '-c', shell, process.execPath, script, outfile], {}, folder);
		expect(await once(child, 'exit')).toEqual([0, null]);
		const { own, killed, survivors } = JSON.parse(await readFile(path.join(folder, 'result'), 'utf8'));
		expect(killed).toEqual([Number(await readFile(path.join(folder, 'sleeping'), 'utf8'))]);
		expect(survivors.toSorted()).toEqual(own.toSorted());
	});
});
