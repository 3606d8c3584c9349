import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { sha256 } from '../../scripts/lib/kit/sha256.ts';

/** Everything below a folder that a command could have changed: kinds, contents, modes and times. */
export function snapshot(folder: string): Record<string, string> {
	const names = ['', ...(readdirSync(folder, { recursive: true }) as string[])].sort();
	return Object.fromEntries(
		names.map((name) => {
			const file = path.join(folder, name);
			const info = lstatSync(file);
			const content = info.isSymbolicLink() ? readlinkSync(file) : info.isFile() ? sha256(readFileSync(file)) : '';
			return [name, `${info.mode.toString(8)} ${info.mtimeMs} ${info.ino} ${content}`];
		}),
	);
}
