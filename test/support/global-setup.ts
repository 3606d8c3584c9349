import { execFileSync } from 'node:child_process';
import path from 'node:path';

/** Tests drive the commands as installed copies run them: from the bundle, built anew from this source. */
export function setup(): void {
	execFileSync(process.execPath, [path.resolve(import.meta.dirname, '../../scripts/dev/build.mjs')], {
		stdio: 'inherit',
	});
}
