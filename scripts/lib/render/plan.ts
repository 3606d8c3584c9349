/** What has to change in the instruction files of a repository. Pure: from what they hold to what they shall hold. */
import path from 'node:path';
import { IMPORT, NOTES } from './block-text.ts';
import { readImports } from './imports.ts';
import { textOf } from './lines.ts';
import { findBlock, putBlock, takeBlock } from './managed-block.ts';

export const AGENTS = 'AGENTS.md';
export const CLAUDE = 'CLAUDE.md';
/** Where Claude Code looks too; it is written where there is no other. */
export const INNER_CLAUDE = '.claude/CLAUDE.md';

/** One name an agent looks for. */
export interface InstructionFile {
	/** Path in the repository, with `/`. */
	readonly name: string;
	/** The path its symbolic links lead to; `name` itself where there is none. */
	readonly target: string;
	/** Undefined when there is no such file. */
	readonly bytes: Buffer | undefined;
}

/** `create` and `delete` are of the whole file, `add`, `update` and `remove` of the block in it. */
export type RenderAction = 'none' | 'create' | 'add' | 'update' | 'remove' | 'delete';

export interface FileChange {
	readonly file: InstructionFile;
	readonly action: RenderAction;
	/** 1-based line of the block that is updated or removed. */
	readonly line: number | undefined;
	/** What the file shall hold; undefined when it shall not exist. */
	readonly content: Buffer | undefined;
}

/**
 * The block goes into AGENTS.md, and into CLAUDE.md where that neither is a link to it nor imports it: no agent reads it
 * twice. Without a CLAUDE.md one is created that imports AGENTS.md, as Claude Code reads no AGENTS.md by itself.
 * @param files AGENTS.md and the places of CLAUDE.md, in the order of their names above, with bytes or without
 * @throws CccError as `putBlock` and `takeBlock`
 */
export function planRender(files: readonly InstructionFile[]): FileChange[] {
	const agents = files.find(({ name }) => name === AGENTS)!;
	const others = files.filter(({ name }) => name !== AGENTS);
	const claude = apart(others.filter(({ target }) => target !== agents.target));
	const isLinked = others.some(({ target }) => target === agents.target);
	const reads = isLinked || claude.some((file) => importsAgents(file, agents));
	const main = reads ? undefined : (claude.find(({ bytes }) => bytes !== undefined) ?? claude[0]);
	return [
		withBlock(agents, NOTES),
		...claude.map((file) => (file === main ? withBlock(file, claudeBlock(file, agents)) : withoutBlock(file))),
	];
}

/** Our block out of every file, and the files that hold nothing else. */
export function planRemoval(files: readonly InstructionFile[]): FileChange[] {
	return apart(files).map(withoutBlock);
}

/** Each target once: several names may lead to it. */
function apart(files: readonly InstructionFile[]): InstructionFile[] {
	return files.filter(({ target }, index) => files.findIndex((file) => file.target === target) === index);
}

/** Whether the file, apart from our block, has Claude Code read AGENTS.md. */
function importsAgents({ name, target, bytes }: InstructionFile, agents: InstructionFile): boolean {
	const rest = bytes && takeBlock(bytes, name);
	return rest !== undefined && leadsTo(readImports(textOf(rest), name), [name, target], agents);
}

/** Paths are taken from the folder of the file, be it that of the link or that of its target. */
function leadsTo(imports: readonly string[], from: readonly string[], agents: InstructionFile): boolean {
	return imports.some((imported) =>
		from.some((file) => {
			const led = path.posix.join(path.posix.dirname(file), imported);
			return led === agents.name || led === agents.target;
		}),
	);
}

/** A file that we created goes on importing AGENTS.md, also when the user has added to it. */
function claudeBlock(file: InstructionFile, agents: InstructionFile): readonly string[] {
	const { name, target, bytes } = file;
	if (bytes === undefined) return IMPORT;
	const block = findBlock(bytes, name);
	if (block === undefined) return NOTES;
	return block.alone || leadsTo(readImports(block.text, name), [name, target], agents) ? IMPORT : NOTES;
}

function withBlock(file: InstructionFile, lines: readonly string[]): FileChange {
	const { bytes, name } = file;
	const line = bytes && findBlock(bytes, name)?.line;
	const content = putBlock(bytes, lines, name);
	const action = bytes === undefined ? 'create' : line === undefined ? 'add' : 'update';
	return change(file, action, line, content);
}

function withoutBlock(file: InstructionFile): FileChange {
	const { bytes, name } = file;
	const line = bytes && findBlock(bytes, name)?.line;
	const content = bytes && takeBlock(bytes, name);
	return change(file, content === undefined ? 'delete' : 'remove', line, content);
}

function change(
	file: InstructionFile,
	action: RenderAction,
	line: number | undefined,
	content: Buffer | undefined,
): FileChange {
	const { bytes } = file;
	const same = bytes === undefined || content === undefined ? bytes === content : bytes.equals(content);
	return { file, action: same ? 'none' : action, line, content };
}
