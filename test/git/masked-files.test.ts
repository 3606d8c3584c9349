import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { findMasked } from '../../scripts/lib/git/masked-files.ts';
import { tempFolder } from '../support/temp-folder.ts';

it('finds the null device under whatever name, and nothing else', async () => {
	// What a sandbox mounts is the device itself: nobody but root could put it anywhere else for a test.
	expect(findMasked('/dev', ['null', 'zero', 'gone', './null'])).toEqual(['null', './null']);
	const root = await tempFolder();
	mkdirSync(path.join(root, 'folder'));
	writeFileSync(path.join(root, '.gitmodules'), '');
	expect(findMasked(root, ['.gitmodules', 'folder', 'folder/gone'])).toEqual([]);
});
