/** Which files a CLAUDE.md imports, as Claude Code reads it: `@path` in running text, not in code and not in comments. */
import type { RootContent } from 'mdast';
import { withoutComments } from '../markdown/document.ts';
import { readOutline } from './outline.ts';

/**
 * @param text one character for each byte
 * @param at the file's name, for messages
 * @returns the paths as they are written
 * @throws CccError `unreadable-markdown`
 */
export function readImports(text: string, at: string): string[] {
	if (!text.includes('@')) return [];
	const { root, lines } = readOutline(text, at);
	const found: string[] = [];
	const open: RootContent[] = [...root.children];
	for (let node = open.pop(); node !== undefined; node = open.pop()) {
		if (node.type === 'paragraph' || node.type === 'heading') {
			const { start, end } = node.position!;
			const source = lines.slice(start.line - 1, end.line).join('\n');
			const prose = withoutComments(withoutCode(source), 'paragraph');
			for (const [, path = ''] of prose.matchAll(/(?:^|\s)@(\S+)/g)) found.push(path);
		} else if ('children' in node) {
			open.push(...(node.children as RootContent[]));
		}
	}
	return found;
}

/** The text with a letter in place of each code span: from a run of backticks to the next one of the same length. */
function withoutCode(source: string): string {
	const runs = [...source.matchAll(/`+/g)];
	const closing = new Map<number, number>();
	const next = new Map<number, number>();
	for (const [index, [run]] of [...runs.entries()].reverse()) {
		const close = next.get(run.length);
		if (close !== undefined) closing.set(index, close);
		next.set(run.length, index);
	}
	let prose = '';
	let from = 0;
	for (let index = 0; index < runs.length; index++) {
		const close = closing.get(index);
		if (close === undefined) continue;
		prose += `${source.slice(from, runs[index]!.index)}x`;
		from = runs[close]!.index + runs[close]![0].length;
		index = close;
	}
	return prose + source.slice(from);
}
