// Bundles each command into dist/, split so that a command loads only what it uses.
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const outdir = `${root}/dist`;
await rm(outdir, { recursive: true, force: true });
await build({
	absWorkingDir: root,
	entryPoints: ['scripts/ccc.ts'],
	outdir,
	bundle: true,
	splitting: true,
	format: 'esm',
	platform: 'node',
	target: 'node20.17',
	outExtension: { '.js': '.mjs' },
	chunkNames: 'chunks/[name]-[hash]',
	// CommonJS libraries in the bundle (gray-matter, commander) call require for Node's own modules.
	banner: {
		js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
	},
	legalComments: 'none',
	logLevel: 'warning',
});
