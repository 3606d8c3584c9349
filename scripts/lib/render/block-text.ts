/** What the managed block says. Plain ASCII: it goes into files of any encoding that extends it. */

/** Raised with every change of the text, so that an older ccc does not put its own text over a newer one. */
export const BLOCK_VERSION = 1;

const BEGIN = `<!-- ccc:begin v${BLOCK_VERSION} (written by ccc render; edits up to ccc:end are lost) -->`;
const END = '<!-- ccc:end -->';

/** The lines for an agent that works in a repository where runs take place. */
export const NOTES: readonly string[] = [
	BEGIN,
	'## ccc',
	'',
	'Changes to this repository may be made in runs of ccc: one agent plans, the other codes, and each reviews the other.',
	'',
	'- Start a run when the user asks for one: `/ccc` in Claude Code, `$ccc` in Codex, `ccc run` in a shell. `ccc list` shows the runs, `ccc status <folder>` where one stands.',
	'- Folders under `.ccc/` are the records of runs. Do not edit, move, delete or commit them. Write there only a file that a ccc command has told you to write.',
	'- While a run is active, do not commit, stash, reset or switch branches: reviews compare the working tree with the commit the run started from. The user commits when the run has ended.',
	END,
];

/** The lines of a CLAUDE.md that we create: Claude Code then reads AGENTS.md, and the notes in it. */
export const IMPORT: readonly string[] = [BEGIN, '@AGENTS.md', END];
