import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/agent-bench.ts';
import { tally } from './phase.ts';
import { landed, Reaper, ROLES } from './reaper.ts';
import { type Ended, makeKillSandbox } from './sandbox.ts';
import {
	type Agent,
	asked,
	committedIn,
	describeEnd,
	endOf,
	newSession,
	type Packet,
	type PlanCode,
	packetOf,
	type SessionScene,
	sessionFaults,
	work,
} from './session.ts';

const SEED = Number(process.env.KILL_SEED ?? 1);

const COMBINATIONS: readonly (readonly [Agent, PlanCode])[] = [
	['claude', 'claude-codex'],
	['claude', 'codex-claude'],
	['codex', 'claude-codex'],
	['codex', 'codex-claude'],
];

/** A sandbox for the test alone, gone at its end. */
async function inSandbox(
	[agent, planCode]: readonly [Agent, PlanCode],
	act: (scene: SessionScene) => Promise<void>,
	env: Record<string, string> = {},
): Promise<void> {
	const sandbox = await makeKillSandbox();
	try {
		await act({ sandbox, run: sandbox.runAt('x'), agent, planCode, env });
	} finally {
		sandbox.dispose();
	}
}

const begun = async (scene: SessionScene): Promise<{ session: ReturnType<typeof newSession>; packet: Packet }> => {
	const session = newSession(scene);
	return { session, packet: packetOf(await session.begin().ended) };
};

describe.each(COMBINATIONS)('a session of %s with %s that ends', (agent, planCode) => {
	it.concurrent('between every two commands, is taken over by a new one each time', () =>
		inSandbox([agent, planCode], async (scene) => {
			let commands = 0;
			for (;;) {
				const { session, packet } = await begun(scene);
				commands += 1;
				if (packet.status === 'complete') break;
				if (packet.owner === agent) work(packet, scene);
				packetOf(await session.run(packet.next!).ended);
				commands += 1;
			}
			expect(commands).toBe(17);
			expect((await sessionFaults(scene, 1)).join('\n')).toBe('');
		}));
});

describe.each([COMBINATIONS[0]!, COMBINATIONS[2]!])('a session of %s with %s that ends', (agent, planCode) => {
	it.concurrent('while its call waits, with its shell, leaves the companion to the next one', () => {
		const act = async (scene: SessionScene): Promise<void> => {
			const { run } = scene;
			for (;;) {
				const { session, packet } = await begun(scene);
				if (packet.status === 'complete') break;
				if (packet.owner === agent) {
					work(packet, scene);
					packetOf(await session.run(packet.next!).ended);
					continue;
				}
				const call = session.runBelowShell(packet.next!, { FAKE_HANG_AT: packet.stage, FAKE_HANG_MS: '1500' });
				await eventually(async () => asked(run).has(packet.stage), 30_000);
				expect(call.kill()).toBe(true);
				await call.ended;
				const later = await begun(scene);
				expect(later.packet).toMatchObject({ stage: packet.stage, owner: packet.owner });
				expect(endOf(await session.command('next', run).ended)).toBe('4 other-coordinator');
				expect(committedIn(run).has(packet.stage), `${packet.stage} is under way`).toBe(false);
				packetOf(await later.session.run(later.packet.next!).ended);
				expect(committedIn(run).has(packet.stage)).toBe(true);
			}
			expect((await sessionFaults(scene, 1)).join('\n')).toBe('');
		};
		return inSandbox([agent, planCode], act);
	});
});

describe('a draft', () => {
	it('is kept when a session of the other agent takes over, and has a companion do the stage', () =>
		inSandbox(['claude', 'claude-codex'], async (scene) => {
			const { packet } = await begun(scene);
			const text = work(packet, scene);
			const other = { ...scene, agent: 'codex' } as const;
			const { session, packet: theirs } = await begun(other);
			expect(theirs).toMatchObject({ stage: 'plan_v0', owner: 'claude' });
			packetOf(await session.run(theirs.next!).ended);
			expect(readFileSync(path.join(scene.run, 'state/aside/plan_v0.1/plan_v0.md.tmp'), 'utf8')).toBe(text);
		}));
});

/** Ends of a command that nobody killed, but may have met what is left of one. */
const MET = /^(?:0|4 locked|4 other-coordinator|5 coordinator-not-started)$/;

/** Sessions bring one run to its end; most of them are killed, or lose a process that works for them. */
async function play(scene: SessionScene, reaper: Reaper): Promise<void> {
	const { run, agent } = scene;
	const confirm = (ended: Ended, settled: boolean): void => {
		expect(reaper.losses(), describeEnd(ended)).toEqual([]);
		if (settled) expect(reaper.lostDrafts(), describeEnd(ended)).toEqual([]);
	};
	for (let number = 0; number < 200; number++) {
		const session = newSession(scene);
		const plays = existsSync(run) ? 'resume' : 'start';
		const { ended, killed } = await reaper.watch(session.begin(), plays, reaper.choose(plays));
		confirm(ended, !killed && ended.code === 0);
		if (killed) continue;
		expect(endOf(ended)).toMatch(/^(?:0|4 locked)$/);
		let packet = ended.code === 0 ? packetOf(ended) : undefined;
		while (packet) {
			if (packet.status === 'complete') return;
			// Not so while what the stage is to read is being prepared.
			const own = packet.owner === agent && packet.write !== undefined;
			if (own && reaper.draftOf(packet.stage) === undefined) reaper.wrote(packet.stage, work(packet, scene));
			// The session ends with its stage written, but not submitted, or its companion not called.
			if (reaper.random() < 0.2) break;
			const victim = own ? reaper.choose('submit') : reaper.choose('call', 'coordinate', 'supervise');
			const after = await reaper.watch(session.run(packet.next!), own ? 'submit' : 'call', victim);
			confirm(after.ended, !after.killed && after.ended.code === 0);
			if (!(after.killed && victim === (own ? 'submit' : 'call'))) {
				expect(endOf(after.ended)).toMatch(after.killed ? MET : /^(?:0|4 locked)$/);
			}
			packet = after.killed || after.ended.code !== 0 ? undefined : packetOf(after.ended);
		}
	}
	throw new Error('the run does not come to its end');
}

describe('sessions that are killed at any moment', () => {
	it.concurrent.each(COMBINATIONS)('are followed to a whole run (%s, %s)', async (agent, planCode) => {
		const seed = SEED * 1000 + COMBINATIONS.findIndex(([a, p]) => a === agent && p === planCode);
		await inSandbox([agent, planCode], async (scene) => {
			const { sandbox } = scene;
			const reaper = new Reaper(seed);
			const git = sandbox.gitState();
			for (let number = 0; !reaper.enough; number++) {
				const run = sandbox.runAt(`r${number}`);
				sandbox.restore();
				reaper.newRun(run);
				const where = `KILL_SEED=${SEED}, ${agent} ${planCode}, run ${number}`;
				await play({ ...scene, run }, reaper).catch((error: unknown) => {
					throw new Error(`${where}: ${error instanceof Error ? error.message : error}`, { cause: error });
				});
				expect((await sessionFaults({ ...scene, run }, 2)).join('\n'), where).toBe('');
				expect(sandbox.gitState() === git, `${where}: something below .git changed`).toBe(true);
			}
		});
	});
});

afterAll(() => {
	for (const role of ROLES) console.log(`${role}: ${landed[role].length} kills landed\n${tally(landed[role])}`);
});
