import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { schemaFiles } from '../../scripts/dev/schema-files.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../schemas');

it('schemas/ is what `npm run schemas` writes', () => {
	const wanted = schemaFiles();
	const present = readdirSync(FOLDER).filter((name) => name.startsWith('ccc-') && name.endsWith('.schema.json'));
	expect(present.sort()).toEqual([...wanted.keys()].sort());
	for (const [name, text] of wanted) expect(readFileSync(path.join(FOLDER, name), 'utf8'), name).toBe(text);
});

it('schemas have no address of their own and end in a newline', () => {
	for (const text of schemaFiles().values()) {
		expect(text).not.toContain('$id');
		expect(text.endsWith('}\n')).toBe(true);
	}
});
