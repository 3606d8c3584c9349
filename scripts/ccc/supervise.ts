/** The hidden subcommand that runs one companion call in a process of its own; `ccc run` starts it. */
import path from 'node:path';
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
			// The folder is `state/calls/<attempt>` of a run.
			const scratch = path.resolve(callFolder, '../..');
			const repository = await openRepository(attempt.root, { env, scratch });
			if (!attempt.stage.startsWith('code_')) return takePicture(repository, attempt.exclude);
			return { head: (await readHead(repository)) ?? null, headRef: null, entries: {} };
		},
	});
	return 0;
}
