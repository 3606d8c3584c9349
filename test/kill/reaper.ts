/** Kills the processes of sessions at random moments, and remembers what must still be there afterwards. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { atChange, atTime, type Random, seeded } from './moments.ts';
import { phaseOf } from './phase.ts';
import { childrenOf, processRunning } from './processes.ts';
import { type Command, type Ended, killPid } from './sandbox.ts';
import { committedIn } from './session.ts';

export const ROLES = ['start', 'resume', 'submit', 'call', 'coordinate', 'supervise'] as const;
export type Role = (typeof ROLES)[number];

/** At most so many kills in each of four rows of runs, and so many altogether. */
const QUOTA: Readonly<Record<Role, number>> = {
	start: 5,
	resume: 11,
	submit: 11,
	call: 9,
	coordinate: 9,
	supervise: 5,
};
const ENOUGH = 38;
/** Then the run is left alone, or no row would come to an end. */
const KILLS_PER_RUN = 18;
/** About as many changes on disk as one command makes. */
const CHANGES = 16;

/** The phases that were hit, by role. */
export const landed: Record<Role, string[]> = {
	start: [],
	resume: [],
	submit: [],
	call: [],
	coordinate: [],
	supervise: [],
};

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Kills what plays the roles of one row of runs, and remembers what must still be there afterwards. */
export class Reaper {
	readonly left: Record<Role, number> = { ...QUOTA };
	/** What such a process takes on this machine now, in milliseconds. */
	readonly typical: Record<Role, number> = {
		start: 400,
		resume: 400,
		submit: 400,
		call: 1500,
		coordinate: 1200,
		supervise: 400,
	};
	kills = 0;
	total = 0;
	readonly random: Random;
	#run = '';
	#drafts = new Map<string, string>();
	#committed = new Map<string, string>();
	/** A companion is asked twice when its supervisor was killed, and three times when that happened twice. */
	#supervised = new Set<string>();

	constructor(seed: number) {
		this.random = seeded(seed);
	}

	newRun(run: string): void {
		this.#run = run;
		this.kills = 0;
		this.#drafts = new Map();
		this.#committed = new Map();
		this.#supervised = new Set();
	}

	get enough(): boolean {
		return this.total >= ENOUGH;
	}

	/** Notes a draft that a session wrote. */
	wrote(stage: string, text: string): void {
		this.#drafts.set(stage, text);
	}

	draftOf(stage: string): string | undefined {
		return this.#drafts.get(stage);
	}

	/** Which of the roles to kill, if any. */
	choose(...roles: Role[]): Role | undefined {
		const open = roles.filter((role) => this.left[role] > 0);
		if (open.length === 0 || this.kills >= KILLS_PER_RUN || this.random() < 0.3) return undefined;
		return open[Math.floor(this.random() * open.length)];
	}

	/** Waits for the command, one process of which may be killed meanwhile. @returns whether one was */
	async watch(command: Command, plays: Role, victim: Role | undefined): Promise<{ ended: Ended; killed: boolean }> {
		const began = performance.now();
		let over = false;
		const end = command.ended.finally(() => {
			over = true;
		});
		let killed = false;
		const kill = (pid: number): void => {
			const phase = phaseOf(this.#run);
			if (over || !killPid(pid)) return;
			killed = true;
			this.kills += 1;
			this.total += 1;
			this.left[victim!] -= 1;
			landed[victim!].push(phase);
		};
		if (victim !== undefined) await this.#arrange(victim, command, () => over, kill);
		const ended = await end;
		const took = performance.now() - began;
		if (!killed) this.typical[plays] = 0.7 * this.typical[plays] + 0.3 * took;
		return { ended, killed };
	}

	async #arrange(victim: Role, command: Command, over: () => boolean, kill: (pid: number) => void): Promise<void> {
		const find = (): number | undefined => victimOf(victim, command.pid, this.#run);
		let pid = find();
		for (; pid === undefined && !over(); pid = find()) await sleep(10);
		if (victim === 'supervise') {
			const stage = phaseOf(this.#run).replace(/:.*/, '');
			if (this.#supervised.has(stage)) return;
			this.#supervised.add(stage);
			// Few in the middle of their start: a supervisor that never shows up is waited for, for 15 seconds.
			if (this.random() > 0.1) while (!over() && !/companion|answer/.test(phaseOf(this.#run))) await sleep(5);
		}
		// Half of the starts are left alone until there is a run to resume.
		if (victim === 'start' && this.random() < 0.5) while (!over() && !existsSync(this.#run)) await sleep(5);
		if (pid === undefined || over()) return;
		const found = pid;
		const byChange = existsSync(this.#run) && this.random() < 0.6;
		let callOff = (): void => {};
		const fired = new Promise<void>((resolve) => {
			const act = (): void => {
				kill(found);
				resolve();
			};
			callOff = byChange
				? atChange(this.random, CHANGES, this.#run, act)
				: atTime(this.random, this.typical[victim] * 1.1, act);
		});
		await Promise.race([fired, command.ended]);
		callOff();
	}

	/** What was committed or written before is lost or changed. */
	losses(): string[] {
		const losses: string[] = [];
		const now = committedIn(this.#run);
		for (const [stage, hash] of this.#committed) {
			if (now.get(stage) !== hash) losses.push(`${stage} was committed, and is ${now.get(stage) ?? 'not'} now`);
		}
		this.#committed = now;
		return losses;
	}

	/** The same for drafts, once a command has settled what a kill left. */
	lostDrafts(): string[] {
		const losses: string[] = [];
		for (const [stage, text] of this.#drafts) {
			const [draft, final] = stage.includes('review')
				? [`state/${stage}.review.raw.md.tmp`, `state/${stage}.review.raw.md`]
				: [`artifacts/${stage}.md.tmp`, `artifacts/${stage}.md`];
			const file = path.join(this.#run, this.#committed.has(stage) ? final : draft);
			const found = existsSync(file) ? readFileSync(file, 'utf8') : 'nothing';
			if (found.trim() !== text.trim()) losses.push(`${stage}: the draft became ${found}`);
		}
		return losses;
	}
}

function victimOf(role: Role, pid: number, run: string): number | undefined {
	if (role !== 'coordinate' && role !== 'supervise') return pid;
	const coordinator = processRunning(process.execPath, 'ccc.mjs coordinate', run)?.pid;
	if (role === 'coordinate' || coordinator === undefined) return coordinator;
	return childrenOf(coordinator).find(({ command }) => command.includes('ccc.mjs supervise'))?.pid;
}
