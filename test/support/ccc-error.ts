import { CccError } from '../../scripts/lib/kit/errors.ts';

/** The CccError that `run` throws. Anything else it throws, or nothing, fails the test. */
export function errorOf(run: () => unknown): CccError {
	try {
		run();
	} catch (error) {
		if (error instanceof CccError) return error;
		throw error;
	}
	throw new Error('nothing was thrown');
}

/** The CccError a promise is rejected with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<CccError> {
	const error = await promise.then(
		() => new Error('nothing was thrown'),
		(reason: unknown) => reason,
	);
	if (error instanceof CccError) return error;
	throw error;
}
