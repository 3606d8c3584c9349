// Starts a command: the built bundle where there is one, otherwise the TypeScript source through tsx's API.
// Never the tsx command line: it opens a unix socket, which agents' sandboxes refuse, and it looks tsx up from the user's folder.
import { existsSync } from 'node:fs';

/** @param {string} command name of the command, as in scripts/<command>.ts and dist/<command>.mjs */
export async function launch(command) {
	const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
	if (major < 20 || (major === 20 && minor < 17)) {
		process.stderr.write(
			`${command} needs Node 20.17 or newer; this is Node ${process.versions.node}. [node-too-old]\n`,
		);
		process.exit(70);
	}
	const bundle = new URL(`../dist/${command}.mjs`, import.meta.url);
	if (existsSync(bundle)) {
		await import(bundle.href);
		return;
	}
	// tsx caches transformed files in TMPDIR and fails, or hangs, where that cannot be written.
	process.env.TSX_DISABLE_CACHE = '1';
	let api;
	try {
		api = await import('tsx/esm/api');
	} catch {
		process.stderr.write(
			`${command} is neither built nor set up here. [not-set-up]\n  next: run npm ci in the folder of the pack\n`,
		);
		process.exit(70);
	}
	await api.tsImport(`./${command}.ts`, import.meta.url);
}
