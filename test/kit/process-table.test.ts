import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ancestorCommands } from '../../scripts/lib/kit/process-table.ts';

describe.runIf(process.platform === 'linux')('ancestorCommands', () => {
	it('begins with the parent and goes up to pid 1', () => {
		const words = (pid: number): string[] => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
		const commands = ancestorCommands();
		expect(commands[0]).toEqual(words(process.ppid));
		expect(commands.at(-1)).toEqual(words(1));
		expect(commands).not.toContainEqual(words(process.pid));
	});
});
