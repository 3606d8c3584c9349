// Writes schemas/: what each command prints with --json, and the files a run keeps. Their definitions are the zod schemas
// in the sources; with --check nothing is written, and a file that is not as it should be is an error.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

process.env.TSX_DISABLE_CACHE = '1';
const { tsImport } = await import('tsx/esm/api');
const { schemaFiles } = await tsImport('./schema-files.ts', import.meta.url);

const folder = fileURLToPath(new URL('../../schemas/', import.meta.url));
const check = process.argv.includes('--check');
const wanted = schemaFiles();

await mkdir(folder, { recursive: true });
const stale = [];
for (const [name, text] of wanted) {
	const present = await readFile(folder + name, 'utf8').catch(() => undefined);
	if (present === text) continue;
	stale.push(name);
	if (!check) await writeFile(folder + name, text);
}
for (const name of await readdir(folder)) {
	if (!/^ccc-.*\.schema\.json$/.test(name) || wanted.has(name)) continue;
	stale.push(name);
	if (!check) await rm(folder + name);
}
if (stale.length > 0) {
	process.stdout.write(`${check ? 'Not up to date' : 'Written'}: ${stale.sort().join(', ')}\n`);
	if (check) {
		process.stderr.write('schemas/ is not what the sources say. [stale-schemas]\n  next: npm run schemas\n');
		process.exitCode = 1;
	}
}
