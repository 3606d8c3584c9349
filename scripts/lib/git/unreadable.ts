import { CccError, EXIT, systemCode } from '../kit/errors.ts';
import { showPath } from './paths.ts';

/** The error for a file or folder of the work tree that cannot be read: what cannot be read cannot be vouched for. */
export function unreadable(path: string, error: unknown): CccError {
	return new CccError('unreadable-file', 'A file of the repository cannot be read.', {
		at: showPath(path),
		found: systemCode(error) ?? String(error),
		next: 'make it readable, or ignore it with .gitignore if it is not tracked',
		exitCode: EXIT.blocked,
		cause: error,
	});
}
