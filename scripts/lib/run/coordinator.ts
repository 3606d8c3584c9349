import type { AgentConfig } from '../agents/config.ts';
import { companionEnvironment } from '../agents/environment.ts';
import type { Lock } from '../kit/lock.ts';
import type { Mode } from './modes.ts';
import type { Report } from './progress.ts';
import type { PromptTemplates } from './prompt.ts';
import type { RunPlace } from './run-folder.ts';
import type { RunSettings } from './settings.ts';

/** All a coordinator works with: where the run is, what it may do, and its edges to the outside. */
export interface Coordinator {
	readonly place: RunPlace;
	/** Held for as long as the coordinator works. */
	readonly lock: Lock;
	readonly mode: Mode;
	readonly agents: AgentConfig;
	readonly promptMaxBytes: number;
	readonly diffBudget: number;
	readonly templates: PromptTemplates;
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Starts the supervisor of a companion call; the call folder is appended. */
	readonly supervisorArgv: readonly [string, ...string[]];
	readonly now: () => Date;
	readonly report: Report;
	/** Aborted when the user interrupts or cancels. */
	readonly signal: AbortSignal;
}

/** What a command gives the library to coordinate with. */
export interface Surroundings {
	readonly cwd: string;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly settings: RunSettings;
	/** Root of the pack this code belongs to. */
	readonly pack: string;
	readonly supervisorArgv: readonly [string, ...string[]];
	readonly now: () => Date;
	readonly report: Report;
	/** Aborted by the user (Ctrl-C); its reason is thrown once the companion is gone. */
	readonly signal: AbortSignal;
}

export function coordinatorOf(
	run: Pick<Coordinator, 'place' | 'lock' | 'mode' | 'templates'>,
	{ settings, env, supervisorArgv, now, report, signal }: Surroundings,
): Coordinator {
	const { agents, promptMaxBytes, diffBudget } = settings;
	return {
		...run,
		agents,
		promptMaxBytes,
		diffBudget,
		env: companionEnvironment(env, {}),
		supervisorArgv,
		now,
		report,
		signal,
	};
}
