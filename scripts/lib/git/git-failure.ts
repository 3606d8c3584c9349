/** What git's complaint on stderr means to the person who has to do something about it. */
import { CccError, type ErrorFacts, EXIT } from '../kit/errors.ts';

interface Place {
	readonly cwd: string;
	readonly indexFile?: string;
}

const KINDS: readonly {
	readonly pattern: RegExp;
	readonly code: string;
	readonly message: string;
	readonly facts: (place: Place, match: RegExpExecArray) => ErrorFacts;
}[] = [
	{
		pattern: /not a git repository/,
		code: 'not-a-repository',
		message: 'This folder is not in a git repository.',
		facts: ({ cwd }) => ({ at: cwd, next: 'git init here, or cd to a git repository', exitCode: EXIT.invalid }),
	},
	{
		pattern: /must be run in a work tree/,
		code: 'no-work-tree',
		message: 'This folder is not in the work tree of a git repository.',
		facts: ({ cwd }) => ({ at: cwd, next: 'cd to the work tree of the repository', exitCode: EXIT.invalid }),
	},
	{
		pattern: /dubious ownership/,
		code: 'repository-not-trusted',
		message: 'git refuses this repository, because it belongs to another user.',
		facts: ({ cwd }) => ({
			at: cwd,
			next: `if you trust it: git config --global --add safe.directory '${cwd}'`,
			exitCode: EXIT.invalid,
		}),
	},
	{
		pattern: /index file (?:corrupt|smaller than expected|open failed)|bad (?:index file|signature)|index version/i,
		code: 'corrupt-index',
		message: 'The index of this git repository is damaged.',
		facts: ({ cwd, indexFile }) => ({
			at: indexFile ?? cwd,
			next: 'move the file aside and run git reset, which builds it anew from HEAD',
		}),
	},
	{
		pattern: /(?:open|read|stat|opendir|cannot hash|directory)[^\n]*?["'(]([^\n"')]+)["')][^\n]*Permission denied/,
		code: 'unreadable-file',
		message: 'A file of the repository cannot be read.',
		facts: ({ cwd }, match) => ({
			at: match[1] ?? cwd,
			next: 'make it readable, or ignore it with .gitignore if it is not tracked',
		}),
	},
	{
		pattern:
			/(?:unable to (?:read|find|access|unpack)|bad object|missing (?:blob|tree|commit|object)|could not (?:read|get)|object file|loose object|packed object)[^\n]*?([0-9a-f]{40,64}|[0-9a-f]{2}\/[0-9a-f]{38,62})/,
		code: 'missing-object',
		message: 'An object of this git repository is missing or damaged.',
		facts: ({ cwd }, match) => ({
			at: cwd,
			found: `object ${match[1]?.replace('/', '')}`,
			next: 'git fsck names what is broken; fetch or restore it',
		}),
	},
];

/** The typed error for a failed call. `complaint` is git's stderr in the C locale. */
export function gitFailure(command: string, exitCode: number, complaint: string, place: Place): CccError {
	for (const kind of KINDS) {
		const match = kind.pattern.exec(complaint);
		if (match !== null) {
			const facts = kind.facts(place, match);
			return new CccError(kind.code, kind.message, {
				exitCode: EXIT.blocked,
				found: lastLines(complaint),
				...facts,
			});
		}
	}
	return new CccError('git-failed', `${command} failed with exit code ${exitCode}.`, {
		at: place.cwd,
		found: lastLines(complaint),
		next: 'run the same command by hand and repair what it names',
		exitCode: EXIT.blocked,
	});
}

function lastLines(complaint: string): string {
	const lines = complaint.split('\n').filter((line) => line.trim() !== '');
	return lines.slice(-2).join(' / ').slice(-400) || 'no message';
}
