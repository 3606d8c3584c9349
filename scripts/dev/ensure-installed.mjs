// Runs `npm ci` when the packages of package-lock.json are not installed yet, so that one command is enough in a fresh clone.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Versions by package path, without what npm adds for other platforms. */
function versions(file) {
	try {
		const { packages } = JSON.parse(readFileSync(`${root}/${file}`, 'utf8'));
		return new Map(Object.entries(packages).map(([name, entry]) => [name, entry]));
	} catch {
		return undefined;
	}
}

const wanted = versions('package-lock.json');
const installed = versions('node_modules/.package-lock.json');
const complete =
	installed !== undefined &&
	[...wanted].every(([name, entry]) => name === '' || entry.optional || installed.get(name)?.version === entry.version);
if (!complete) {
	process.stderr.write('Installing packages (npm ci) ...\n');
	const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
		cwd: root,
		stdio: ['ignore', 2, 2],
	});
	if (npm.status !== 0) {
		process.stderr.write('npm ci failed; its words are above. [install-failed]\n');
		process.exit(npm.status ?? 1);
	}
}
