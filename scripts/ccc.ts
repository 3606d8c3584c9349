/** The command `ccc`. Each subcommand lives in scripts/ccc/ and is loaded when it is called. */
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
// Read when the bundle is built: a copy of the pack need not have the file.
import manifest from '../package.json' with { type: 'json' };
import type { Invocation, Subcommand } from './ccc/invocation.ts';
import { printError } from './ccc/print.ts';
import { CccError, EXIT } from './lib/kit/errors.ts';
import { RUN_SYNTAX } from './lib/run/arguments.ts';

/** Root of the pack: the folder above scripts/, or above dist/ in a built copy. */
const pack = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '');

const program = new Command('ccc')
	.version(manifest.version)
	.configureHelp({
		subcommandTerm: (subcommand) => `${subcommand.name()} ${subcommand.usage()}`.replace(/ *\[--json\]$/, ''),
	})
	.description('One model plans, another codes, and each checks the other, with files you can read in between.')
	.helpCommand(false)
	.exitOverride()
	.configureOutput({ writeErr: () => {} });

/** Words are passed on as they are: the grammar of each command is the library's, not the option parser's. */
function command(
	usage: string,
	description: string,
	help: string,
	load: () => Promise<Subcommand>,
	own: Readonly<Record<string, string>> = {},
): void {
	const [name = '', ...words] = usage.split(' ');
	const subcommand = program.command(name);
	for (const [flags, meaning] of Object.entries(own)) subcommand.option(flags, meaning);
	subcommand
		.usage([...words, '[--json]'].join(' '))
		.description(description)
		.argument('[words...]')
		.option('--json', 'print one JSON value on stdout')
		.allowUnknownOption()
		.addHelpText('after', `\n${help}`)
		.exitOverride()
		.configureOutput({ writeErr: () => {} })
		.action(async (given: string[], { json, ...options }: { json?: boolean } & Record<string, string>) => {
			const run = await load();
			process.exitCode = await run({ ...place(given), json: json === true, options });
		});
}

const EXIT_HELP = `Exit codes: 0 done, still running, or waiting for approval; 1 invalid; 2 usage; 3 blocked;
4 another coordinator; 5 companion unavailable, not logged in, sandboxed, timed out, failed or
empty; 70 internal; 130 interrupted.`;

command(
	'run <folder> "<task>" .. | resume <folder> ..',
	'start or resume a run and drive it, every stage through its agent’s CLI',
	`Start:   ccc run <output_folder> "<task>" [pN-cM] [manual|normal|auto] [plan-code=<planner>-<coder>] [verify="<command>"]
Resume:  ccc run resume <output_folder> [manual|normal|auto] [plan-code=<planner>-<coder>] [verify="<command>"]

Defaults: p2-c2 normal plan-code=claude-codex.

pN-cM      further versions of the plan and of the code that reviews may ask for, 0 to 99
manual     stop after each stage; resume with manual again to go on
normal     stop when a human has to decide
auto       go on despite reviewers; hard failures still stop
plan-code  claude-codex, codex-claude, claude-claude or codex-codex
verify     run after each code stage, without a shell; its result goes to the reviewer

Settings by environment variables are in the README.

${EXIT_HELP}`,
	async () => (await import('./ccc/run.ts')).run,
);
command(
	'validate <folder>..',
	'check run folders against the protocol',
	EXIT_HELP,
	async () => (await import('./ccc/validate.ts')).validate,
);
command('status <folder>', 'show where a run stands', EXIT_HELP, async () => (await import('./ccc/status.ts')).status);
command(
	'list [dir]',
	'list the runs of a repository or below a folder',
	EXIT_HELP,
	async () => (await import('./ccc/list.ts')).list,
);
command(
	'diff <folder>',
	'show what changed since the run started, untracked files too',
	EXIT_HELP,
	async () => (await import('./ccc/diff.ts')).diff,
);
command(
	'cancel <folder> "<reason>"',
	'cancel a run; its files stay',
	EXIT_HELP,
	async () => (await import('./ccc/cancel.ts')).cancel,
);
command(
	'decide <folder> accept|revise "<reason>"',
	'decide about the last review: go on as it is, or ask for another version',
	`With - in place of decision and reason, both come on standard input.\n\n${EXIT_HELP}`,
	async () => (await import('./ccc/decide.ts')).decide,
);
command(
	'repair <folder> rerun|aside|adopt <stage>',
	'put a stage in order whose files do not fit together',
	`rerun: set everything of the stage aside, so that resume does it anew
aside: set only its artifact aside; resume uses the answer of its call
adopt: commit the artifact as it is, if it satisfies the protocol

${EXIT_HELP}`,
	async () => (await import('./ccc/repair.ts')).repair,
);
command(
	'render [--check|--remove] [dir]',
	'keep the block about ccc in a repository’s AGENTS.md and CLAUDE.md',
	`The repository is the one around dir, or around the current folder. Text outside the block stays as it
is, to the byte. A CLAUDE.md that is a link to AGENTS.md, or has a line @AGENTS.md, gets no block of its
own; a missing CLAUDE.md is created and imports AGENTS.md.

${EXIT_HELP}`,
	async () => (await import('./ccc/render.ts')).render,
	{
		'--check': 'write nothing; end with 1 and say what differs where something does',
		'--remove': 'take the block back, and the files that hold nothing else',
	},
);
command(
	'check-agent claude|codex',
	'check that an agent’s CLI can do what a run needs',
	EXIT_HELP,
	async () => (await import('./ccc/check-agent.ts')).checkAgent,
);
command(
	'detect-session',
	'say whose session this shell belongs to',
	EXIT_HELP,
	async () => (await import('./ccc/detect-session.ts')).detectSession,
);

command(
	'begin [--session claude|codex] [--stage <kind>] [words..]',
	'start, resume or cancel a run from inside a session; prints what to do first',
	`Without words the arguments come on standard input, as the user typed them after /ccc:
${RUN_SYNTAX.map((syntax) => `  ${syntax}`).join('\n')}
The session's own agent does its stages in the session; the other one is called.

${EXIT_HELP}`,
	async () => (await import('./ccc/begin.ts')).begin,
	{
		'--session <agent>': 'whose session this is: claude or codex; from the environment where it is left out',
		'--stage <kind>': 'only for a stage of this kind: plan, plan-review, code or code-review',
	},
);
command(
	'next <folder>',
	'print again what to do; changes nothing',
	EXIT_HELP,
	async () => (await import('./ccc/next.ts')).next,
);
command(
	'submit <folder> <stage>',
	'commit what the session wrote for its stage; prints what to do next',
	EXIT_HELP,
	async () => (await import('./ccc/submit.ts')).submit,
);
command(
	'call <folder> [--wait <seconds>]',
	'have the other agent do its stage; prints what to do next',
	EXIT_HELP,
	async () => (await import('./ccc/call.ts')).call,
	{ '--wait <seconds>': 'how long to wait at most; 540 in Claude Code, 90 elsewhere' },
);
for (const stream of [process.stdout, process.stderr]) {
	stream.on('error', (error: NodeJS.ErrnoException) => {
		// Whoever read our output has enough of it; a run goes on all the same.
		if (error.code !== 'EPIPE') throw error;
	});
}

function place(words: readonly string[]): Invocation {
	return { words, json: false, options: {}, pack, cwd: process.cwd(), env: process.env };
}

async function main(argv: readonly string[]): Promise<number> {
	const json = argv.includes('--json');
	try {
		if (argv[0] === 'supervise')
			return await (await import('./ccc/supervise.ts')).supervise(argv[1] ?? '', process.env);
		if (argv[0] === 'coordinate') return await (await import('./ccc/coordinate.ts')).coordinate(place(argv.slice(1)));
		await program.parseAsync([...argv], { from: 'user' });
		return Number(process.exitCode ?? 0);
	} catch (error) {
		if (error instanceof CommanderError) return commanderExit(error, json);
		if (process.env.CCC_DEBUG) process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
		return printError(error, json);
	}
}

/** Help is not an error; everything else the option parser says is one of usage. */
function commanderExit(error: CommanderError, json: boolean): number {
	if (error.exitCode === 0) return EXIT.ok;
	const words = error.message.replace(/^error: /, '');
	return printError(
		new CccError('usage', words === '(outputHelp)' ? 'A subcommand is missing.' : words, {
			next: 'ccc --help shows the commands',
			exitCode: EXIT.usage,
		}),
		json,
	);
}

process.exitCode = await main(process.argv.slice(2));
