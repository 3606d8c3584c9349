import { afterAll, describe, expect, it } from 'vitest';
import { faultsOf } from './faults.ts';
import { atRandom, type Pace, STAGES, seeded, stagesDone } from './moments.ts';
import { phaseOf, tally } from './phase.ts';
import { childrenOf, type Found } from './processes.ts';
import { type Command, type Ended, type KillSandbox, killPid, makeKillSandbox } from './sandbox.ts';

const SEED = Number(process.env.KILL_SEED ?? 1);
const KILLS = Number(process.env.KILL_COUNT ?? 200);
const OTHER_KILLS = Number(process.env.KILL_OTHER_COUNT ?? 40);
/** Then the run is left alone, or the end of runs would be hit more than anything else. */
const KILLS_PER_RUN = 8;

const phases: Record<string, string[]> = { coordinator: [], supervisor: [], agent: [] };

interface Scene extends Pace {
	readonly sandbox: KillSandbox;
}

/** One run after another until `enough`, the first of them left alone; each is looked over at its end. */
async function runs(seed: number, enough: () => boolean, drive: (scene: Scene) => Promise<void>): Promise<void> {
	const sandbox = await makeKillSandbox();
	const random = seeded(seed);
	try {
		const git = sandbox.gitState();
		let stageMs = 0;
		for (let number = 0; number === 0 || !enough(); number++) {
			const run = sandbox.runAt(`r${number}`);
			sandbox.restore();
			const began = performance.now();
			if (number > 0) await drive({ sandbox, run, random, stageMs });
			else expect(await sandbox.execute(sandbox.wordsFor(run))).toMatchObject({ code: 0 });
			if (number === 0) stageMs = (performance.now() - began) / STAGES;
			expect((await faultsOf(sandbox, run)).join('\n'), `seed ${seed}, run ${number}`).toBe('');
			expect(sandbox.gitState() === git, 'something below .git changed').toBe(true);
		}
	} finally {
		sandbox.dispose();
	}
}

describe('a coordinator that is killed', () => {
	it.concurrent.each([1, 2])('is resumed to a whole run, at every moment (%i)', async (part) => {
		const half = Math.ceil(KILLS / 2);
		let landed = 0;
		await runs(
			SEED * 10 + part,
			() => landed >= half,
			async (scene) => {
				const { sandbox, run } = scene;
				for (let kills = 0; ; kills++) {
					const before = phaseOf(run);
					const command = sandbox.start(sandbox.wordsFor(run));
					const ending = stagesDone(run) === STAGES && scene.random() < 0.7;
					const wanted = kills < KILLS_PER_RUN && landed < half && !ending;
					const callOff = wanted ? atRandom(scene, () => command.kill()) : () => {};
					const ended = await command.ended;
					callOff();
					if (ended.signal !== 'SIGKILL') {
						expect(ended, `after a kill at ${before}`).toMatchObject({ code: 0, signal: null });
						return;
					}
					landed += 1;
					phases.coordinator!.push(phaseOf(run));
				}
			},
		);
	});
});

type Role = 'supervisor' | 'agent';

/** Kills while one command works; one agent that is killed ends it. */
const MOST: Record<Role, number> = { supervisor: 5, agent: 1 };

const ROLES: Record<Role, (coordinator: number) => Found | undefined> = {
	supervisor: supervisorOf,
	agent: (coordinator) => {
		const supervisor = supervisorOf(coordinator);
		return supervisor && childrenOf(supervisor.pid).find(({ command }) => command.includes('quick-companion'));
	},
};

function supervisorOf(coordinator: number): Found | undefined {
	return childrenOf(coordinator).find(({ command }) => command.includes('ccc.mjs supervise'));
}

/**
 * Kills processes of this role at random moments until the command ends, at most `most` and one in each stage: the
 * second call of a stage that is lost is a good reason to stop. Returns how many.
 */
async function killSome(role: Role, command: Command, most: number, { run, random, stageMs }: Pace): Promise<number> {
	const hit = new Set<string>();
	let over = false;
	const ended = command.ended.finally(() => {
		over = true;
	});
	const find = (): Found | undefined => (over ? undefined : ROLES[role](command.pid));
	while (!over && hit.size < most) {
		await Promise.race([ended, sleep(random() * 3 * stageMs)]);
		// Few in the middle of their start: a supervisor that never shows up is waited for, for 15 seconds.
		const atWork = random() < 0.15 ? /./ : /companion|answer/;
		while (!over && !(find() !== undefined && atWork.test(phaseOf(run)))) await sleep(5);
		await sleep(random() * 100);
		const victim = find();
		const phase = phaseOf(run);
		const stage = phase.replace(/:.*/, '');
		if (victim === undefined || hit.has(stage) || !killPid(victim.pid)) continue;
		hit.add(stage);
		phases[role]!.push(phase);
	}
	return hit.size;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(['supervisor', 'agent'] as const)('a run whose %s is killed', (role) => {
	it.concurrent.each([1, 2])('ends whole, at once or when resumed (%i)', async (part) => {
		const half = Math.ceil(OTHER_KILLS / 2);
		let landed = 0;
		await runs(
			SEED * 100 + part,
			() => landed >= half,
			async (scene) => {
				for (;;) {
					const command = scene.sandbox.start(scene.sandbox.wordsFor(scene.run));
					const killed = await killSome(role, command, Math.min(MOST[role], half - landed), scene);
					landed += killed;
					const ended = await command.ended;
					if (ended.code === 0) return;
					// An agent that is killed has not answered: the one good reason to stop.
					expect(role === 'agent' && killed > 0, describeEnd(ended)).toBe(true);
					expect(ended.code, describeEnd(ended)).toBe(5);
					expect(ended.stdout).toContain('companion-failed');
				}
			},
		);
	});
});

const describeEnd = ({ code, stdout, stderr }: Ended): string => `exit ${code}\n${stdout}\n${stderr}`;

afterAll(() => {
	for (const [role, hit] of Object.entries(phases)) console.log(`${role}: ${hit.length} kills landed\n${tally(hit)}`);
});
