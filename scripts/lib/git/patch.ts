/**
 * A patch, taken apart into the changes of single files. Text is handled as "byte strings" (one character per byte,
 * latin1), so that nothing in a file that is not UTF-8 is lost or moved.
 */
import { decodePath } from './paths.ts';

export interface PatchPart {
	/** Path after the change, or before it where the file is gone; with the prefix of its repository. */
	readonly path: string;
	/** Path before a rename or copy. */
	readonly oldPath: string | undefined;
	/** Byte string: header and hunks, with their line ends. */
	readonly text: string;
	readonly added: number;
	readonly removed: number;
	readonly isBinary: boolean;
}

/**
 * Splits the byte string of a `git diff`. Content lines begin with a space, `+`, `-` or `\`, and names with line
 * breaks are quoted, so a line that begins with `diff --` always begins a file.
 */
export function splitPatch(patch: string): PatchPart[] {
	const parts: string[][] = [];
	const lines = patch.split('\n');
	if (lines.at(-1) === '') lines.pop();
	for (const line of lines) {
		if (/^(?:diff --(?:git|cc|combined) |\* Unmerged path )/.test(line)) parts.push([]);
		parts.at(-1)?.push(line);
	}
	return parts.map(readPart);
}

function readPart(lines: readonly string[]): PatchPart {
	const firstHunk = lines.findIndex((line) => line.startsWith('@@'));
	const header = firstHunk === -1 ? lines : lines.slice(0, firstHunk);
	const hunks = firstHunk === -1 ? [] : lines.slice(firstHunk);
	const names = readNames(header);
	// A merge's diff has two columns of signs.
	const width = lines[0]?.startsWith('diff --git ') ? 1 : 2;
	const count = (sign: string): number => hunks.filter((line) => line.slice(0, width).includes(sign)).length;
	return {
		path: toPath(names.path),
		oldPath: names.oldPath === undefined ? undefined : toPath(names.oldPath),
		text: `${lines.join('\n')}\n`,
		added: count('+'),
		removed: count('-'),
		isBinary: header.some((line) => /^Binary files .* differ$/.test(line)),
	};
}

/** Names as byte strings. The lines that hold one name go before `diff --git a/x b/x`, which is ambiguous. */
function readNames(header: readonly string[]): { path: string; oldPath?: string } {
	const after = (start: string): string | undefined =>
		header.find((line) => line.startsWith(start))?.slice(start.length);
	const renamed = after('rename to ') ?? after('copy to ');
	const oldName = after('rename from ') ?? after('copy from ');
	const plus = sideName(after('+++ '));
	const minus = sideName(after('--- '));
	if (renamed !== undefined && oldName !== undefined) {
		// These two lines carry no prefix; the sides, where there are any, do.
		return { path: plus ?? unquote(renamed), oldPath: minus ?? unquote(oldName) };
	}
	const both = plus ?? minus;
	if (both !== undefined) return { path: both };
	const first = header[0] ?? '';
	const unmerged = /^(?:\* Unmerged path |diff --(?:cc|combined) )(.*)$/s.exec(first)?.[1];
	if (unmerged !== undefined) return { path: unquote(unmerged) };
	const pair = first.slice('diff --git '.length);
	return { path: withoutSide(unquote(pair.slice(0, (pair.length - 1) / 2))) };
}

function sideName(field: string | undefined): string | undefined {
	if (field === undefined) return undefined;
	// git ends a name that holds a space with a tab.
	const name = field.replace(/\t$/, '');
	return name === '/dev/null' ? undefined : withoutSide(unquote(name));
}

function withoutSide(name: string): string {
	return name.replace(/^[ab]\//, '');
}

function toPath(byteString: string): string {
	return decodePath(Buffer.from(byteString, 'latin1'));
}

const ESCAPED: Record<string, string> = { a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };

/** A name without the quotes that git puts around odd ones. */
function unquote(name: string): string {
	if (!name.startsWith('"') || !name.endsWith('"') || name.length < 2) return name;
	return name.slice(1, -1).replace(/\\([0-7]{3}|.)/gs, (_, code: string) => {
		if (code.length === 3) return String.fromCharCode(Number.parseInt(code, 8));
		return ESCAPED[code] ?? code;
	});
}
