/** Diffs with every option forced that a configuration, or another version of git, could choose differently. */
import { pathspecs } from './listing.ts';
import type { View } from './view.ts';

/**
 * Submodules are shown as the commits they stand at: git would look into them with their own configuration, which may
 * run programs. Their content is read apart, through a view of its own (`submodules.ts`).
 */
const OPTIONS = [
	'--no-color',
	'--no-ext-diff',
	'--no-textconv',
	'--no-relative',
	'--no-color-moved',
	'--diff-algorithm=myers',
	'--indent-heuristic',
	'--find-renames',
	'-l1000',
	'--unified=3',
	'--inter-hunk-context=0',
	'--ws-error-highlight=none',
	'--submodule=short',
	'--ignore-submodules=dirty',
	'-O/dev/null',
];

export interface DiffCall {
	/** What is compared, as git's arguments: `[]` is index and work tree, `['--cached']` HEAD and index. */
	readonly compare: readonly string[];
	readonly exclude: readonly string[];
	readonly stat?: boolean;
	/** Binary changes are whole, for `git apply`, instead of one line that says they differ. */
	readonly binary?: boolean;
	/** Folder, with its slash, that goes before every path: for a repository inside another one. */
	readonly prefix?: string;
	/** Another index of the view. */
	readonly index?: string;
}

/** The exact output of `git diff`, without the run folders in `exclude`. */
export async function readDiff(view: View, call: DiffCall): Promise<Buffer> {
	const prefix = call.prefix ?? '';
	const form = call.stat ? ['--stat=160,120'] : ['--patch', '--full-index', ...(call.binary ? ['--binary'] : [])];
	const sides = [`--src-prefix=a/${prefix}`, `--dst-prefix=b/${prefix}`];
	return view.run(
		['diff', ...OPTIONS, ...sides, ...form, ...call.compare, '--', ...pathspecs(call.exclude)],
		call.index === undefined ? {} : { index: call.index },
	);
}
