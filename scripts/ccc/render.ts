import { stat } from 'node:fs/promises';
import path from 'node:path';
import { openRepository } from '../lib/git/repository.ts';
import { CccError, EXIT } from '../lib/kit/errors.ts';
import type { FileChange, RenderAction } from '../lib/render/plan.ts';
import { type RenderMode, render as renderFiles } from '../lib/render/render.ts';
import type { Invocation } from './invocation.ts';
import type { Output } from './outputs.ts';
import { printJson, printText } from './print.ts';

const DONE: Readonly<Record<RenderAction, string>> = {
	none: 'nothing to do',
	create: 'created',
	add: 'block added',
	update: 'block updated',
	remove: 'block removed',
	delete: 'deleted, as it held nothing else',
};
const DIFFERS: Readonly<Record<RenderAction, string>> = {
	none: 'up to date',
	create: 'missing',
	add: 'has no block',
	update: 'the block is not the current one',
	remove: 'the block would be read twice',
	delete: 'the block would be read twice',
};

export async function render({ words, json, options, cwd, env }: Invocation): Promise<number> {
	const mode = modeOf(options);
	const { root } = await openRepository(await folderOf(words, cwd), { env });
	const changes = await renderFiles(root, mode);
	const upToDate = mode !== 'check' || changes.every(({ action }) => action === 'none');
	const exitCode = upToDate ? EXIT.ok : EXIT.invalid;
	if (json) {
		const files = changes.map(({ file, action, line }) => ({ file: file.name, action, line }));
		printJson({ root, up_to_date: upToDate, files, exit_code: exitCode } satisfies Output<'render'>);
		return exitCode;
	}
	for (const change of changes) printText(describe(change, mode));
	if (changes.length === 0) printText('nothing to do');
	if (!upToDate) printText('Next: ccc render');
	return exitCode;
}

function describe({ file, action, line }: FileChange, mode: RenderMode): string {
	const place = mode === 'check' && action !== 'none' && line !== undefined ? `:${line}` : '';
	return `${file.name}${place}: ${(mode === 'check' ? DIFFERS : DONE)[action]}`;
}

function modeOf(options: Invocation['options']): RenderMode {
	if (options.check !== undefined && options.remove !== undefined) {
		throw new CccError('conflicting-options', 'These options exclude each other.', {
			expected: '--check or --remove',
			found: '--check --remove',
			exitCode: EXIT.usage,
		});
	}
	return options.check !== undefined ? 'check' : options.remove !== undefined ? 'remove' : 'write';
}

async function folderOf(words: readonly string[], cwd: string): Promise<string> {
	const [word, extra] = words;
	// What looks like an option is one that is spelled wrong: `--chek` must not write.
	const wrong = word?.startsWith('-') ? word : extra;
	if (wrong !== undefined) {
		throw new CccError('unknown-word', wrong === extra ? 'One word too many.' : 'Unknown option.', {
			expected: '[--check|--remove] [dir]',
			found: wrong,
			exitCode: EXIT.usage,
		});
	}
	const folder = path.resolve(cwd, word ?? '.');
	if (word !== undefined && !(await stat(folder).catch(() => undefined))?.isDirectory()) {
		throw new CccError('not-a-folder', 'There is no such folder.', { at: word, exitCode: EXIT.usage });
	}
	return folder;
}
