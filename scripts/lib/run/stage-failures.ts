/** The hard failures of a stage: the run is blocked, and can be resumed (protocol: Modes). */
import type { CallResult } from '../agents/call-folder.ts';
import { CccError, EXIT } from '../kit/errors.ts';
import type { Attempt } from './attempts.ts';
import { type Stage, stageName } from './stages.ts';

/** A companion that destroys the records of its own call is a hard failure like any other. */
export function asHardFailure(error: unknown, attempt: Attempt): unknown {
	if (!(error instanceof CccError) || !['no-call', 'bad-call-record'].includes(error.code)) return error;
	return new CccError('records-changed', 'The records of the companion call are gone or damaged.', {
		at: attempt.stage,
		found: error.facts.at ?? error.message,
		next: 'look at what the companion did, then resume',
		exitCode: EXIT.blocked,
		cause: error,
	});
}

export function companionFailure(attempt: Attempt, { outcome }: CallResult): CccError {
	return new CccError(`companion-${outcome.kind}`, `The companion for ${attempt.stage} did not answer.`, {
		at: attempt.stage,
		expected: 'an answer',
		found: outcome.lastWords === '' ? outcome.kind : `${outcome.kind}: ${outcome.lastWords}`,
		next: outcome.nextStep,
		exitCode: EXIT.companion,
	});
}

export function lostCall(stage: Stage): CccError {
	return new CccError('companion-failed', 'The supervisor of the companion call was killed, twice.', {
		at: stageName(stage),
		next: 'find out what ends processes on this machine, then resume',
		exitCode: EXIT.companion,
	});
}

export function unreadable(stage: Stage, problems: readonly string[]): CccError {
	return new CccError('companion-unreadable', 'The answer could not be used, nor its correction.', {
		at: stageName(stage),
		found: problems.join('; '),
		next: 'resume to ask again, or look at the answers in state/calls/',
		exitCode: EXIT.blocked,
	});
}
