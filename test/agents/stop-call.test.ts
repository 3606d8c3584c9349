import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callState, reapCall, startCall, stopCall, waitForCall } from '../../scripts/lib/agents/call.ts';
import { callFiles, readSupervisor } from '../../scripts/lib/agents/call-folder.ts';
import { superviseCall } from '../../scripts/lib/agents/supervise.ts';
import { agentBench, eventually } from '../support/agent-bench.ts';

let bench: Awaited<ReturnType<typeof agentBench>>;
beforeEach(async () => {
	bench = await agentBench();
});
afterEach(() => bench.cleanup());

const IDLE = { supervisorArgv: [process.execPath, '-e', ''] as const };

async function killSupervisor(folder: string): Promise<void> {
	const supervisor = await eventually(() => readSupervisor(folder));
	process.kill(supervisor.identity.pid, 'SIGKILL');
}

describe('reapCall', () => {
	it('leaves nothing of a call whose supervisor was killed', async () => {
		const folder = await bench.hang();
		await killSupervisor(folder);
		expect(await waitForCall(folder)).toBe('lost');
		expect(await bench.running()).not.toEqual([]);
		expect(await reapCall(folder)).toBeGreaterThanOrEqual(2);
		expect(await bench.running()).toEqual([]);
		expect(await reapCall(folder)).toBe(0);
		expect(await callState(folder)).toEqual({ state: 'lost' });
	});

	it('keeps a supervisor that comes later from starting the companion', async () => {
		await bench.fake('claude', `log('ran');`);
		const { folder, ...rest } = bench.options(IDLE);
		await startCall({ folder, ...rest });
		expect(await reapCall(folder)).toBe(0);
		await superviseCall(folder, { env: bench.env });
		expect(await callState(folder)).toMatchObject({ state: 'ended', result: { outcome: { lastWords: 'stopped' } } });
	});
});

describe('stopCall', () => {
	it.each([
		['a companion', ''],
		['a companion that ignores SIGTERM', `process.on('SIGTERM', () => {});`],
	])('ends %s and its tree, and the record says stopped', async (_name, before) => {
		const folder = await bench.hang(before);
		await stopCall(folder);
		expect(await bench.running()).toEqual([]);
		const state = await callState(folder);
		expect(state).toMatchObject({ state: 'ended', result: { outcome: { kind: 'failed', lastWords: 'stopped' } } });
		await stopCall(folder);
		expect(await callState(folder)).toEqual(state);
	});

	it('needs no supervisor', async () => {
		const options = bench.options(IDLE);
		await startCall(options);
		await stopCall(options.folder);
		expect(await callState(options.folder)).toMatchObject({ state: 'ended', result: { exitCode: null } });
		await expect(superviseCall(options.folder, { env: bench.env })).rejects.toMatchObject({ code: 'call-supervised' });
		await stopCall(bench.repo);
	});

	it('reaches a supervisor through the stop file alone, and through SIGINT', async () => {
		const byFile = await bench.hang();
		await writeFile(callFiles(byFile).stop, '');
		expect(await waitForCall(byFile)).toMatchObject({ outcome: { lastWords: 'stopped' } });
		const bySignal = await bench.hang();
		process.kill((await eventually(() => readSupervisor(bySignal))).identity.pid, 'SIGINT');
		expect(await waitForCall(bySignal)).toMatchObject({ outcome: { lastWords: 'stopped' } });
	});

	it('reaches a supervisor at any moment of its start', async () => {
		await bench.fake('claude', `prompt(); daemon(); hang();`);
		for (const delay of [0, 150, 300]) {
			const options = bench.options();
			await startCall(options);
			if (delay === 0) await eventually(() => readSupervisor(options.folder).catch(() => undefined));
			else await sleep(delay);
			await stopCall(options.folder);
			expect(await waitForCall(options.folder)).toMatchObject({ outcome: { lastWords: 'stopped' } });
			// A supervisor that comes only now finds the end recorded and goes.
			await eventually(async () => (await bench.running()).length === 0);
			expect(await waitForCall(options.folder)).toMatchObject({ outcome: { lastWords: 'stopped' } });
		}
	});

	it('keeps the result of a call that has ended', async () => {
		await bench.fake('claude', `prompt(); console.log('answer');`);
		const options = bench.options();
		await startCall(options);
		const result = await waitForCall(options.folder);
		await stopCall(options.folder);
		expect(result).toMatchObject({ outcome: { answer: 'answer\n' } });
		expect(await callState(options.folder)).toEqual({ state: 'ended', result });
	});
});
