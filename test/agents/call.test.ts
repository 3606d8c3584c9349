import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callState, startCall, waitForCall } from '../../scripts/lib/agents/call.ts';
import { agentBench, COORDINATOR, eventually } from '../support/agent-bench.ts';

let bench: Awaited<ReturnType<typeof agentBench>>;
beforeEach(async () => {
	bench = await agentBench();
});
afterEach(() => bench.cleanup());

describe('a call', () => {
	it('is started once and waited for', async () => {
		await bench.fake('claude', `prompt(); setTimeout(() => console.log('answer'), 700);`);
		const options = bench.options({ env: { ...bench.env, TEST_AFTER: '{"head":"abc"}' } });
		expect(await callState(options.folder)).toEqual({ state: 'none' });
		await startCall(options);
		await expect(startCall(options)).rejects.toMatchObject({ code: 'call-exists' });
		const state = await callState(options.folder);
		expect(state.state).toBe('running');
		const seen: number[] = [];
		const result = await waitForCall(options.folder, { onActivity: ({ startedAt }) => seen.push(startedAt) });
		expect(result).toMatchObject({ outcome: { kind: 'answered', answer: 'answer\n' }, after: { head: 'abc' } });
		expect(seen.length).toBeGreaterThan(0);
		expect(await callState(options.folder)).toEqual({ state: 'ended', result });
		expect(await eventually(async () => (await bench.running()).length === 0)).toBe(true);
	});

	it('is waited for no longer than asked', async () => {
		const folder = await bench.hang();
		expect(await waitForCall(folder, { deadlineMs: 50 })).toBe('still-running');
		const controller = new AbortController();
		setTimeout(() => controller.abort(), 50);
		expect(await waitForCall(folder, { signal: controller.signal })).toBe('still-running');
		expect(await callState(folder)).toMatchObject({ state: 'running' });
		const { startedAt, lastActivityAt } = (await callState(folder)) as { startedAt: number; lastActivityAt: number };
		expect(lastActivityAt).toBeGreaterThan(startedAt);
		await expect(waitForCall(bench.repo)).rejects.toMatchObject({ code: 'no-call' });
	});

	it('outlives its coordinator, and the next one finds the answer', async () => {
		await bench.fake('claude', `log('up'); prompt(); setTimeout(() => console.log('late answer'), 1500);`);
		const { env, ...rest } = bench.options();
		const coordinator = spawn(process.execPath, [COORDINATOR, JSON.stringify(rest)], { env, detached: true });
		await once(coordinator.stdout, 'data');
		process.kill(-(coordinator.pid ?? 0), 'SIGKILL');
		await once(coordinator, 'close');
		expect(await waitForCall(rest.folder)).toMatchObject({ outcome: { kind: 'answered', answer: 'late answer\n' } });
		expect(await bench.logged('claude')).toEqual(['up']);
	});

	it('that cannot be supervised is an error of its own', async () => {
		const options = bench.options({ supervisorArgv: ['/nonexistent/node'] });
		await expect(startCall(options)).rejects.toMatchObject({ code: 'supervisor-not-started', exitCode: 5 });
	});
});
