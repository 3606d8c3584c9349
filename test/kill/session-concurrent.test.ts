import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/agent-bench.ts';
import { type Ended, makeKillSandbox } from './sandbox.ts';
import {
	asked,
	committedIn,
	endOf,
	newSession,
	type Packet,
	packetOf,
	type Session,
	type SessionScene,
	sessionFaults,
	work,
} from './session.ts';

const COUNT = 20;

let scene: SessionScene;
let session: Session;
let first: Packet;

beforeEach(async () => {
	const sandbox = await makeKillSandbox();
	scene = { sandbox, run: sandbox.runAt('x'), agent: 'claude', planCode: 'claude-codex' };
	session = newSession(scene);
	first = packetOf(await session.begin().ended);
});
afterEach(() => scene.sandbox.dispose());

function atOnce<T>(act: (number: number) => Promise<T>): Promise<T[]> {
	return Promise.all(Array.from({ length: COUNT }, (_, number) => act(number)));
}

/** How often each end came. */
function count(ends: readonly Ended[]): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const end of ends.map(endOf)) counts[end] = (counts[end] ?? 0) + 1;
	return counts;
}

/** Does the session's own stages up to the first that is not, and returns its packet. */
async function untilCall(packet: Packet): Promise<Packet> {
	if (packet.owner !== scene.agent) return packet;
	work(packet, scene);
	return untilCall(packetOf(await session.run(packet.next!).ended));
}

/** What is wrong with a run that has not come to its end. */
async function faultsSoFar(): Promise<string[]> {
	const { code, stdout } = await scene.sandbox.execute(['validate', scene.run, '--json']);
	const left = scene.sandbox.running().map(({ command }) => command);
	return code === 0 && /"problems":\s*\[\]/.test(stdout) ? left : [stdout, ...left];
}

async function finish(by: Session): Promise<string[]> {
	let packet = packetOf(await by.command('next', scene.run).ended);
	while (packet.owner !== 'user') {
		if (packet.owner === scene.agent) work(packet, scene);
		packet = packetOf(await by.run(packet.next!).ended);
	}
	return sessionFaults(scene, 1);
}

const has = (name: string): boolean => existsSync(path.join(scene.run, name));
const sessionIn = (name: string): string =>
	(JSON.parse(readFileSync(path.join(scene.run, name), 'utf8')) as { sessionId: string }).sessionId;

/** The sessions that may go on, asked all at once. */
async function drivers(sessions: readonly Session[]): Promise<string[]> {
	const ends = await Promise.all(sessions.map(({ command }) => command('next', scene.run).ended));
	const ids = sessions.filter((_, number) => ends[number]?.code === 0).map(({ id }) => id);
	expect(count(ends)).toEqual({ '0': ids.length, '4 other-coordinator': sessions.length - ids.length });
	return ids;
}

describe('twenty commands at once', () => {
	it('submit a stage once; the others say locked or not due', async () => {
		work(first, scene);
		const counts = count(await atOnce(() => session.run(first.next!).ended));
		const { '0': won, '4 locked': locked = 0, '2 not-due': late = 0 } = counts;
		expect({ won, others: locked + late }, JSON.stringify(counts)).toEqual({ won: 1, others: COUNT - 1 });
		expect([...committedIn(scene.run).keys()]).toEqual(['plan_v0']);
		expect(await faultsSoFar()).toEqual([]);
	});

	it.each([
		['a companion that takes its time', '3000'],
		['a companion that answers at once', '0'],
	])('wait for %s, which is asked once, and get one packet', async (_, hangs) => {
		const packet = await untilCall(first);
		const slow = newSession({ ...scene, env: { FAKE_HANG_AT: packet.stage, FAKE_HANG_MS: hangs } }, session.id);
		const ends = await atOnce(() => slow.run(packet.next!).ended);
		expect(count(ends)).toEqual({ '0': COUNT });
		expect(new Set(ends.map(({ stdout }) => stdout)).size).toBe(1);
		expect(packetOf(ends[0]!)).toMatchObject({ stage: 'plan_v1', owner: 'claude' });
		expect([...asked(scene.run)]).toEqual([['plan_v0_review', 1]]);
		expect(await faultsSoFar()).toEqual([]);
	});

	it('of twenty sessions that resume, leave the run to the last that was recorded', async () => {
		const sessions = Array.from({ length: COUNT }, () => newSession(scene));
		const ends = await Promise.all(sessions.map((each) => each.begin().ended));
		const { '0': won = 0, '4 locked': locked = 0, ...other } = count(ends);
		expect(other).toEqual({});
		expect(won).toBeGreaterThan(0);
		expect(won + locked).toBe(COUNT);
		const recorded = sessionIn('state/driver.json');
		const ids = await drivers([session, ...sessions]);
		expect(ids.map((id) => `claude:${id}`)).toEqual([recorded]);
		expect(await faultsSoFar()).toEqual([]);
	});

	it('of twenty sessions that resume while a companion works, leave it to the last that was recorded', async () => {
		const packet = await untilCall(first);
		const slow = newSession({ ...scene, env: { FAKE_HANG_AT: packet.stage, FAKE_HANG_MS: '8000' } }, session.id);
		const call = slow.run(packet.next!);
		await eventually(async () => asked(scene.run).has(packet.stage), 30_000);
		const sessions = Array.from({ length: COUNT }, () => newSession(scene));
		const ends = await Promise.all(sessions.map((each) => each.begin().ended));
		const { '0': joined = 0, '4 other-coordinator': overtaken = 0, ...other } = count(ends);
		expect(other).toEqual({});
		expect(joined).toBeGreaterThan(0);
		expect(joined + overtaken).toBe(COUNT);
		expect(has(`state/${packet.stage}.done`), 'the companion still works').toBe(false);
		const recorded = sessionIn('state/takeover.json');
		const ids = await drivers([session, ...sessions]);
		expect(ids.map((id) => `claude:${id}`)).toEqual([recorded]);
		expect(endOf(await call.ended)).toBe('4 other-coordinator');
		expect(await finish(sessions.find(({ id }) => id === ids[0])!)).toEqual([]);
	});
});
