import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callFiles, newCallId, writeRequest } from '../../scripts/lib/agents/call-folder.ts';
import { callState } from '../../scripts/lib/agents/call-state.ts';
import { ownIdentity } from '../../scripts/lib/kit/process-identity.ts';
import { sha256 } from '../../scripts/lib/kit/sha256.ts';
import { agentBench } from '../support/agent-bench.ts';

let bench: Awaited<ReturnType<typeof agentBench>>;
beforeEach(async () => {
	bench = await agentBench();
});
afterEach(() => bench.cleanup());

/** A request made `ageMs` ago by a coordinator that died before it started a supervisor. */
async function orphanRequest(ageMs: number): Promise<string> {
	const { folder } = bench.options();
	await mkdir(folder);
	const startedAt = new Date(Date.now() - ageMs).toISOString();
	const argv: [string, ...string[]] = ['true'];
	const request = { version: 1, id: newCallId(), agent: 'claude', stage: 'plan_v0', access: 'plan', argv } as const;
	const rest = { cwd: bench.repo, timeoutMs: 1000, promptSha256: sha256('p'), startedAt };
	await writeRequest(folder, { ...request, argv, ...rest }, 'p');
	return folder;
}

describe('a lost call', () => {
	it('is one whose supervisor does not appear within 15 s', async () => {
		expect(await callState(await orphanRequest(14_000))).toMatchObject({ state: 'running' });
		expect(await callState(await orphanRequest(16_000))).toEqual({ state: 'lost' });
		expect(await callState(await orphanRequest(-3_600_000))).toEqual({ state: 'lost' });
	});

	it.each([
		['fresh', 0, 'running'],
		['old', 31_000, 'lost'],
		['from the future', -31_000, 'lost'],
	])('in another pid namespace its heartbeat decides: %s', async (_name, ageMs, state) => {
		const folder = await orphanRequest(60_000);
		const foreign = { ...(await ownIdentity()), pidNamespace: 'pid:[1]' };
		await writeFile(callFiles(folder).supervisor, JSON.stringify(foreign));
		const beat = new Date(Date.now() - ageMs);
		await utimes(callFiles(folder).supervisor, beat, beat);
		expect((await callState(folder)).state).toBe(state);
	});
});
