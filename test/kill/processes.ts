/** Processes of a sandbox, found in /proc wherever they went. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Found {
	readonly pid: number;
	readonly command: string;
}

/** Every process with this text in its command line, environment or working directory; zombies have none of them. */
export function processesWith(text: string): Found[] {
	return readdirSync('/proc')
		.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
		.filter(
			(name) => ['cmdline', 'environ'].some((file) => read(name, file).includes(text)) || cwd(name).includes(text),
		)
		.map((name) => ({ pid: Number(name), command: commandOf(Number(name)) }));
}

/** The direct children of a process, from the kernel's own list: cheap enough to ask every few milliseconds. */
export function childrenOf(pid: number): Found[] {
	const pids = read(`${pid}/task/${pid}`, 'children').split(' ').filter(Boolean).map(Number);
	return pids.map((child) => ({ pid: child, command: commandOf(child) }));
}

/** A process of this program with all these words in its command line; nobody's child among others. */
export function processRunning(program: string, ...words: string[]): Found | undefined {
	return readdirSync('/proc')
		.filter((name) => /^\d+$/.test(name))
		.map((name) => ({ pid: Number(name), command: commandOf(Number(name)) }))
		.find(({ command }) => command.startsWith(`${program} `) && words.every((word) => command.includes(word)));
}

function commandOf(pid: number): string {
	return read(String(pid), 'cmdline').split('\0').join(' ').trim();
}

function read(folder: string, file: string): string {
	try {
		return readFileSync(`/proc/${folder}/${file}`, 'utf8');
	} catch {
		return '';
	}
}

function cwd(name: string): string {
	try {
		return readlinkSync(`/proc/${name}/cwd`);
	} catch {
		return '';
	}
}
