/** What every git call is told, whoever's configuration surrounds it. */

/**
 * The environment of a git child. Every `GIT_*` variable of the caller goes (they can move the index, the work tree,
 * the configuration or the diff program), global and system files are out, and no transport may be used, so that a
 * partial clone fails with a missing object and does not fetch one.
 */
export function gitEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	const kept = Object.entries(env).filter(([name]) => !/^(GIT_|LC_|LANG|COLUMNS$|PAGER$)/i.test(name));
	return {
		...Object.fromEntries(kept),
		LC_ALL: 'C',
		GIT_CONFIG_GLOBAL: '/dev/null',
		GIT_CONFIG_NOSYSTEM: '1',
		GIT_ATTR_NOSYSTEM: '1',
		GIT_OPTIONAL_LOCKS: '0',
		GIT_TERMINAL_PROMPT: '0',
		GIT_NO_REPLACE_OBJECTS: '1',
		GIT_NO_LAZY_FETCH: '1',
		GIT_ALLOW_PROTOCOL: '',
	};
}

/** The environment in which the user's own configuration is read: only the variables that say where it is survive. */
export function userConfigEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	const kept = Object.entries(env).filter(([name]) => !name.startsWith('GIT_') || name.startsWith('GIT_CONFIG'));
	return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

const SAFE_SETTINGS = [
	'core.fsmonitor=false',
	'core.quotePath=false',
	'core.hooksPath=/dev/null',
	// Unset, git would look for both in the user's home.
	'core.excludesFile=/dev/null',
	'core.attributesFile=/dev/null',
	// A cache of untracked names in the index could be stale, or forged.
	'core.untrackedCache=false',
	'core.pager=cat',
	'core.abbrev=auto',
	'core.bigFileThreshold=512m',
	// Only names that git would refuse anywhere are to be refused here.
	'core.protectNTFS=false',
	'core.protectHFS=false',
	'color.ui=false',
	'diff.autoRefreshIndex=true',
	'status.showUntrackedFiles=normal',
	'status.relativePaths=false',
	'status.branch=false',
	'status.showStash=false',
	'status.submoduleSummary=false',
	'column.ui=never',
	'submodule.recurse=false',
	'protocol.allow=never',
	'gc.auto=0',
	'maintenance.auto=false',
];

/** `-c` pairs that go with every call. */
export const SAFE_CONFIG: readonly string[] = SAFE_SETTINGS.flatMap((setting) => ['-c', setting]);
