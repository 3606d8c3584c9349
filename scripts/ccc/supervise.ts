/** The hidden subcommand that runs one companion call in a process of its own; `ccc run` starts it. */
import { superviseCall } from '../lib/agents/supervise.ts';
import { takePicture } from '../lib/git/guard.ts';
import { openRepository, readHead } from '../lib/git/repository.ts';
import { attemptOfCall } from '../lib/run/attempts.ts';

export async function supervise(callFolder: string, env: NodeJS.ProcessEnv): Promise<number> {
	await superviseCall(callFolder, {
		env,
		// Taken the moment the companion ends, so that what others change later is not laid at its door.
		onEnd: async () => {
			const attempt = await attemptOfCall(callFolder);
			const repository = await openRepository(attempt.root, { env });
			if (!attempt.stage.startsWith('code_')) return takePicture(repository, attempt.exclude);
			return { head: (await readHead(repository)) ?? null, headRef: null, entries: {} };
		},
	});
	return 0;
}
