import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCccHome, readPromptTemplates } from '../../scripts/lib/run/ccc-home.ts';
import { rejectionOf } from '../support/ccc-error.ts';
import { tempFolder } from '../support/temp-folder.ts';

const TEMPLATES = {
	plan: 'plan',
	plan_review: 'plan-review',
	code: 'code',
	review: 'code-review',
	correction: 'correction',
};

async function home(options: { protocol?: boolean } = {}): Promise<string> {
	const folder = await tempFolder();
	await mkdir(path.join(folder, 'protocol', 'prompts'), { recursive: true });
	if (options.protocol !== false) await writeFile(path.join(folder, 'protocol', 'CCC_PROTOCOL.md'), '# P\n');
	for (const name of Object.values(TEMPLATES)) {
		await writeFile(path.join(folder, 'protocol', 'prompts', `${name}.md`), `text of ${name}`);
	}
	return folder;
}

describe('findCccHome', () => {
	it('is CCC_HOME where that holds the protocol, else the pack', async () => {
		const [set, pack, empty] = [await home(), await home(), await home({ protocol: false })];
		expect(await findCccHome(set, pack)).toBe(set);
		expect(await findCccHome(path.relative(process.cwd(), set), pack)).toBe(set);
		expect(await findCccHome(empty, pack)).toBe(pack);
		expect(await findCccHome('', pack)).toBe(pack);
		expect(await findCccHome(undefined, pack)).toBe(pack);
	});

	it('names what it tried when there is none', async () => {
		const [set, pack] = [await home({ protocol: false }), await home({ protocol: false })];
		const error = await rejectionOf(findCccHome(set, pack));
		expect(error).toMatchObject({ code: 'incomplete-install', exitCode: 3 });
		expect(error.facts.found).toContain(set);
		expect(error.facts.found).toContain(pack);
		expect(error.facts.next).toContain(path.join('scripts', 'ccc-install.sh'));
	});
});

describe('readPromptTemplates', () => {
	it('reads each', async () => {
		const expected = Object.fromEntries(Object.entries(TEMPLATES).map(([kind, name]) => [kind, `text of ${name}`]));
		expect(await readPromptTemplates(await home())).toEqual(expected);
	});

	it.each(Object.values(TEMPLATES))('names %s when it is missing', async (name) => {
		const folder = await home();
		const file = path.join(folder, 'protocol', 'prompts', `${name}.md`);
		await rm(file);
		const error = await rejectionOf(readPromptTemplates(folder));
		expect(error).toMatchObject({ code: 'incomplete-install', exitCode: 3, facts: { at: file } });
	});
});
