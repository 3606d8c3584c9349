import { findSandbox } from '../agents/sandbox.ts';
import { CccError, EXIT } from '../kit/errors.ts';

/**
 * Companions reach their models over the network and outlive a command; a sandbox allows neither.
 * @throws CccError `companion-sandboxed` (exit 5)
 */
export async function refuseSandbox(env: Readonly<Record<string, string | undefined>>): Promise<void> {
	const sandbox = await findSandbox(env);
	if (!sandbox) return;
	throw new CccError('companion-sandboxed', 'Companions cannot be started inside a sandbox.', {
		at: sandbox.sign,
		found: `the sandbox of ${sandbox.name}`,
		next: 'run the same command outside the sandbox (with escalated permissions)',
		exitCode: EXIT.companion,
	});
}
