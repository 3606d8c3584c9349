/** What a subcommand gets from the command line, and what it gives back: an exit code. */
export interface Invocation {
	readonly words: readonly string[];
	readonly json: boolean;
	/** Values of the command's own options, as they were given. */
	readonly options: Readonly<Record<string, string | undefined>>;
	/** Root of the pack. */
	readonly pack: string;
	readonly cwd: string;
	readonly env: NodeJS.ProcessEnv;
}

export type Subcommand = (invocation: Invocation) => Promise<number>;
