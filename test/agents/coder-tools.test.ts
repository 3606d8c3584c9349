import { describe, expect, it } from 'vitest';
import { coderTools } from '../../scripts/lib/agents/coder-tools.ts';

describe('coderTools', () => {
	it.each([
		['Edit,Write,Read,Bash', 'Edit,Write,Read,Bash', 'Edit(./**),Write(./**),Read,Bash'],
		['Edit(/src/**), Bash(npm test:*),Bash(ls)', 'Edit,Bash', 'Edit(/src/**),Bash(npm test:*),Bash(ls)'],
		['Bash(printf a,b),Read', 'Bash,Read', 'Bash(printf a,b),Read'],
		['Read,mcp__docs__search', 'Read', 'Read,mcp__docs__search'],
	])('%s', (list, offered, allowed) => {
		expect(coderTools(list)).toEqual({ offered, allowed });
	});
});
