import {
	chmodSync,
	existsSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	realpathSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IMPORT, NOTES } from '../../scripts/lib/render/block-text.ts';
import { planRender } from '../../scripts/lib/render/plan.ts';
import { type RenderMode, render } from '../../scripts/lib/render/render.ts';
import { writeChanges } from '../../scripts/lib/render/write-changes.ts';
import { rejectionOf } from '../support/ccc-error.ts';
import { makeFifo } from '../support/git-repository.ts';
import { snapshot } from '../support/snapshot.ts';
import { tempFolder } from '../support/temp-folder.ts';

const BLOCK = NOTES.join('\n');
const CREATED = `${IMPORT.join('\n')}\n`;

type Files = Readonly<Record<string, string | Uint8Array>>;

/** A folder with these files; `-> path` makes a symbolic link. */
async function folderWith(files: Files): Promise<string> {
	const root = path.join(realpathSync(await tempFolder()), 'repo');
	mkdirSync(root);
	for (const [name, content] of Object.entries(files)) {
		const file = path.join(root, name);
		mkdirSync(path.dirname(file), { recursive: true });
		const link = typeof content === 'string' ? /^-> (.*)$/.exec(content)?.[1] : undefined;
		if (link === undefined) writeFileSync(file, content);
		else symlinkSync(link, file);
	}
	return root;
}

/** Every file by its path, as text; links as they are made. */
function contents(root: string): Record<string, string> {
	const names = readdirSync(root, { recursive: true }) as string[];
	const entries = names.sort().flatMap((name) => {
		const info = lstatSync(path.join(root, name));
		if (info.isSymbolicLink()) return [[name, `-> ${readlinkSync(path.join(root, name))}`]];
		return info.isFile() ? [[name, readFileSync(path.join(root, name), 'utf8')]] : [];
	});
	return Object.fromEntries(entries) as Record<string, string>;
}

async function actions(root: string, mode: RenderMode): Promise<Record<string, string>> {
	return Object.fromEntries((await render(root, mode)).map(({ file, action }) => [file.name, action]));
}

describe('render', () => {
	const CASES: readonly [string, Files, Files][] = [
		['nothing', {}, { 'AGENTS.md': `${BLOCK}\n`, 'CLAUDE.md': CREATED }],
		['AGENTS.md alone', { 'AGENTS.md': 'a\n' }, { 'AGENTS.md': `a\n\n${BLOCK}\n`, 'CLAUDE.md': CREATED }],
		['an empty AGENTS.md', { 'AGENTS.md': '' }, { 'AGENTS.md': `\n${BLOCK}\n`, 'CLAUDE.md': CREATED }],
		['CLAUDE.md alone', { 'CLAUDE.md': 'c\n' }, { 'AGENTS.md': `${BLOCK}\n`, 'CLAUDE.md': `c\n\n${BLOCK}\n` }],
		['an empty CLAUDE.md', { 'CLAUDE.md': '' }, { 'AGENTS.md': `${BLOCK}\n`, 'CLAUDE.md': `\n${BLOCK}\n` }],
		[
			'both',
			{ 'AGENTS.md': 'a', 'CLAUDE.md': 'c\n' },
			{ 'AGENTS.md': `a\n\n${BLOCK}`, 'CLAUDE.md': `c\n\n${BLOCK}\n` },
		],
		[
			'a CLAUDE.md that imports AGENTS.md',
			{ 'AGENTS.md': 'a\n', 'CLAUDE.md': '@AGENTS.md\n' },
			{ 'AGENTS.md': `a\n\n${BLOCK}\n`, 'CLAUDE.md': '@AGENTS.md\n' },
		],
		[
			'a CLAUDE.md that imports an AGENTS.md yet to be made',
			{ 'CLAUDE.md': 'See @./AGENTS.md\r\n' },
			{ 'AGENTS.md': `${BLOCK}\n`, 'CLAUDE.md': 'See @./AGENTS.md\r\n' },
		],
		[
			'a CLAUDE.md with the import in code only',
			{ 'AGENTS.md': 'a\n', 'CLAUDE.md': '`@AGENTS.md`\n' },
			{ 'AGENTS.md': `a\n\n${BLOCK}\n`, 'CLAUDE.md': `\`@AGENTS.md\`\n\n${BLOCK}\n` },
		],
		[
			'a CLAUDE.md that is a link',
			{ 'AGENTS.md': 'a\n', 'CLAUDE.md': '-> AGENTS.md' },
			{ 'AGENTS.md': `a\n\n${BLOCK}\n`, 'CLAUDE.md': '-> AGENTS.md' },
		],
		[
			'a CLAUDE.md that is a link to an AGENTS.md yet to be made',
			{ 'CLAUDE.md': '-> AGENTS.md' },
			{ 'AGENTS.md': `${BLOCK}\n`, 'CLAUDE.md': '-> AGENTS.md' },
		],
		[
			'an AGENTS.md that is a link to CLAUDE.md',
			{ 'AGENTS.md': '-> CLAUDE.md', 'CLAUDE.md': 'c\n' },
			{ 'AGENTS.md': '-> CLAUDE.md', 'CLAUDE.md': `c\n\n${BLOCK}\n` },
		],
		[
			'links to files elsewhere in the repository',
			{ 'docs/a.md': 'a\n', 'AGENTS.md': '-> docs/a.md', 'docs/c.md': '@a.md\n', 'CLAUDE.md': '-> docs/c.md' },
			{
				'docs/a.md': `a\n\n${BLOCK}\n`,
				'AGENTS.md': '-> docs/a.md',
				'docs/c.md': '@a.md\n',
				'CLAUDE.md': '-> docs/c.md',
			},
		],
		[
			'a CLAUDE.md in .claude',
			{ 'AGENTS.md': 'a\n', '.claude/CLAUDE.md': 'c\n' },
			{ 'AGENTS.md': `a\n\n${BLOCK}\n`, '.claude/CLAUDE.md': `c\n\n${BLOCK}\n` },
		],
		[
			'a CLAUDE.md in .claude that imports',
			{ 'AGENTS.md': 'a\n', '.claude/CLAUDE.md': '@../AGENTS.md\n' },
			{ 'AGENTS.md': `a\n\n${BLOCK}\n`, '.claude/CLAUDE.md': '@../AGENTS.md\n' },
		],
		[
			'two places of CLAUDE.md',
			{ 'AGENTS.md': 'a\n', 'CLAUDE.md': 'c\n', '.claude/CLAUDE.md': '-> ../CLAUDE.md' },
			{ 'AGENTS.md': `a\n\n${BLOCK}\n`, 'CLAUDE.md': `c\n\n${BLOCK}\n`, '.claude/CLAUDE.md': '-> ../CLAUDE.md' },
		],
	];

	it.each(CASES)('with %s: checked, written, written again without a change, and removed', async (_, before, after) => {
		const root = await folderWith(before);
		const untouched = snapshot(root);
		expect(Object.values(await actions(root, 'check')).some((action) => action !== 'none')).toBe(true);
		expect(snapshot(root)).toEqual(untouched);
		await render(root, 'write');
		expect(contents(root)).toEqual(after);
		const written = snapshot(root);
		for (const mode of ['write', 'check'] as const) {
			expect(new Set(Object.values(await actions(root, mode)))).toEqual(new Set(['none']));
		}
		expect(snapshot(root)).toEqual(written);
		await render(root, 'remove');
		expect(contents(root)).toEqual(before);
		await render(root, 'remove');
		expect(contents(root)).toEqual(before);
	});

	it('takes back the block from a CLAUDE.md that has come to import AGENTS.md', async () => {
		const root = await folderWith({ 'AGENTS.md': 'a\n', 'CLAUDE.md': 'c\n' });
		await render(root, 'write');
		writeFileSync(path.join(root, 'CLAUDE.md'), `@AGENTS.md\n\n${BLOCK}\n`);
		expect(await actions(root, 'write')).toEqual({ 'AGENTS.md': 'none', 'CLAUDE.md': 'remove' });
		expect(contents(root)['CLAUDE.md']).toBe('@AGENTS.md\n');
	});

	it('leaves a .claude folder alone that is kept elsewhere', async () => {
		const root = await folderWith({ '../kept/CLAUDE.md': 'kept\n', '.claude': '-> ../kept' });
		const kept = snapshot(path.join(root, '../kept'));
		expect(await actions(root, 'write')).toEqual({ 'AGENTS.md': 'create', 'CLAUDE.md': 'create' });
		expect(await actions(root, 'remove')).toEqual({ 'AGENTS.md': 'delete', 'CLAUDE.md': 'delete' });
		expect(snapshot(path.join(root, '../kept'))).toEqual(kept);
	});

	it('deletes the CLAUDE.md it created when another file imports AGENTS.md', async () => {
		const root = await folderWith({});
		await render(root, 'write');
		mkdirSync(path.join(root, '.claude'));
		writeFileSync(path.join(root, '.claude/CLAUDE.md'), '@../AGENTS.md\n');
		expect(await actions(root, 'write')).toMatchObject({ 'AGENTS.md': 'none', 'CLAUDE.md': 'delete' });
	});

	it('goes on importing in a CLAUDE.md that it created and the user has added to', async () => {
		const root = await folderWith({});
		await render(root, 'write');
		const mine = `mine\n\n${CREATED.replace('v1 (', 'v1 (old, ')}more\n`;
		writeFileSync(path.join(root, 'CLAUDE.md'), mine);
		expect(await actions(root, 'write')).toEqual({ 'AGENTS.md': 'none', 'CLAUDE.md': 'update' });
		expect(contents(root)['CLAUDE.md']).toBe(`mine\n\n${CREATED}more\n`);
		await render(root, 'remove');
		expect(contents(root)).toEqual({ 'CLAUDE.md': 'mine\nmore\n' });
	});

	it.each([0o600, 0o755, 0o666])('keeps the mode %o', async (mode) => {
		const root = await folderWith({ 'AGENTS.md': 'a\n' });
		chmodSync(path.join(root, 'AGENTS.md'), mode);
		for (const act of ['write', 'remove'] as const) {
			await render(root, act);
			expect(statSync(path.join(root, 'AGENTS.md')).mode & 0o777).toBe(mode);
		}
	});

	it('gives the bytes before, whatever they are, in both files', async () => {
		const file = fc.option(
			fc.array(fc.constantFrom('@AGENTS.md', '\n', '\r\n', '\r', 'a', '`', '```', '<!--', '-->', '\xff', BLOCK), {
				maxLength: 8,
			}),
			{ nil: undefined },
		);
		await fc.assert(
			fc.asyncProperty(file, file, async (agents, claude) => {
				const root = await folderWith({});
				const files = { 'AGENTS.md': agents, 'CLAUDE.md': claude };
				for (const [name, parts] of Object.entries(files)) {
					if (parts) writeFileSync(path.join(root, name), Buffer.from(parts.join(''), 'latin1'));
				}
				const ours = [agents, claude].some((parts) => parts?.includes(BLOCK));
				const before = snapshot(root);
				const refused = await render(root, 'write').then(
					() => false,
					(error: Error) => error.name === 'CccError',
				);
				if (refused) expect(snapshot(root)).toEqual(before);
				else if (!ours) {
					await render(root, 'remove');
					for (const [name, parts] of Object.entries(files)) {
						const now = existsSync(path.join(root, name)) ? readFileSync(path.join(root, name), 'latin1') : undefined;
						expect(now).toBe(parts?.join(''));
					}
				} else expect(new Set(Object.values(await actions(root, 'write')))).toEqual(new Set(['none']));
				rmSync(root, { recursive: true });
			}),
			{ numRuns: 60 },
		);
	});
});

describe('refused, with nothing written:', () => {
	const FENCED = `\`\`\`\n${BLOCK}\n\`\`\`\n`;
	const CASES: readonly [string, Files, string, string, number?][] = [
		['a broken block in AGENTS.md', { 'AGENTS.md': FENCED }, 'broken-block', 'AGENTS.md', 2],
		['one in CLAUDE.md', { 'AGENTS.md': 'a\n', 'CLAUDE.md': `c\n${NOTES[0]}\n` }, 'broken-block', 'CLAUDE.md', 2],
		['one in .claude', { '.claude/CLAUDE.md': '<!-- ccc:end -->\n' }, 'broken-block', '.claude/CLAUDE.md', 1],
		['an open fence', { 'AGENTS.md': 'a\n', 'CLAUDE.md': '~~~\nx\n' }, 'open-markdown', 'CLAUDE.md', 1],
		['a link outside', { 'CLAUDE.md': '-> ../outside.md' }, 'outside-repository', 'CLAUDE.md'],
		[
			'a link into a folder outside',
			{ up: '-> ..', 'AGENTS.md': '-> up/outside.md' },
			'outside-repository',
			'AGENTS.md',
		],
		['a link into .git', { '.git/x': 'x', 'AGENTS.md': '-> .git/x' }, 'outside-repository', 'AGENTS.md'],
		['a link to nothing', { 'CLAUDE.md': '-> docs/c.md' }, 'broken-link', 'CLAUDE.md'],
		['links in a circle', { 'AGENTS.md': '-> CLAUDE.md', 'CLAUDE.md': '-> AGENTS.md' }, 'broken-link', 'AGENTS.md'],
		['a folder', { 'AGENTS.md': 'a\n', 'CLAUDE.md/x': '' }, 'not-a-file', 'CLAUDE.md'],
		['a huge file', { 'CLAUDE.md': 'x'.repeat(1024 * 1024 + 1) }, 'file-too-large', 'CLAUDE.md'],
		['UTF-16', { 'CLAUDE.md': Buffer.from('\ufeffa', 'utf16le') }, 'not-text', 'CLAUDE.md'],
	];
	it.each(CASES)('%s', async (_, files, code, at, line) => {
		const root = await folderWith(files);
		writeFileSync(path.join(root, '../outside.md'), 'outside\n');
		const before = snapshot(path.dirname(root));
		const error = await rejectionOf(render(root, 'write'));
		expect([error.code, error.facts.at, error.facts.line, error.exitCode]).toEqual([code, at, line, 1]);
		expect(snapshot(path.dirname(root))).toEqual(before);
	});

	it('a FIFO', async () => {
		const root = await folderWith({ 'AGENTS.md': 'a\n' });
		makeFifo(path.join(root, 'CLAUDE.md'));
		const before = snapshot(root);
		expect((await rejectionOf(render(root, 'write'))).code).toBe('not-a-file');
		expect(snapshot(root)).toEqual(before);
	});

	it('a read-only file that would have to change; one that would not is fine', async () => {
		const root = await folderWith({ 'AGENTS.md': 'a\n', 'CLAUDE.md': 'c\n' });
		chmodSync(path.join(root, 'CLAUDE.md'), 0o444);
		const before = snapshot(root);
		expect((await rejectionOf(render(root, 'write'))).code).toBe('read-only');
		expect(snapshot(root)).toEqual(before);
		chmodSync(path.join(root, 'CLAUDE.md'), 0o644);
		await render(root, 'write');
		for (const name of ['AGENTS.md', 'CLAUDE.md']) chmodSync(path.join(root, name), 0o444);
		expect(await actions(root, 'write')).toEqual({ 'AGENTS.md': 'none', 'CLAUDE.md': 'none' });
	});

	it('a file that has changed since it was read', async () => {
		const root = await folderWith({ 'AGENTS.md': 'a\n', 'CLAUDE.md': 'new\n' });
		const read = (name: string, text: string) => ({ name, target: name, bytes: Buffer.from(text) });
		const plan = planRender([read('AGENTS.md', 'a\n'), read('CLAUDE.md', 'old\n')]);
		const before = snapshot(root);
		expect((await rejectionOf(writeChanges(root, plan))).code).toBe('changed-meanwhile');
		expect(snapshot(root)).toEqual(before);
	});
});
