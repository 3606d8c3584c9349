/** `git status --short`, to the letter, without asking git to look into submodules. */
import { excludeInside, isGitlink, type Listing, pathspecs, readListing } from './listing.ts';
import { encodePath, splitFields } from './paths.ts';
import { openInner } from './repository.ts';
import { type View, withView } from './view.ts';

const ARGS = ['status', '--short', '--untracked-files=normal', '--ignore-submodules=dirty', '--find-renames'];

/**
 * The output of `git status --short` without run folders. git would find out whether a submodule is dirty by running
 * itself there, under that submodule's configuration; here a view does, and its answer is put where git would put it.
 */
export async function readStatus(view: View, listing: Listing): Promise<Buffer> {
	const dirty = await findDirtySubmodules(view, listing);
	const output = await view.run([...ARGS, '--', ...pathspecs(listing.exclude)]);
	if (dirty.size === 0) return output;
	const records = splitRecords(await view.run([...ARGS, '-z', '--', ...pathspecs(listing.exclude)]));
	const lines = output
		.toString('latin1')
		.split('\n')
		.filter((line) => line !== '')
		.map((text, index) => ({ text, path: records[index] ?? Buffer.alloc(0), isTracked: !text.startsWith('??') }));
	for (const [path, mark] of dirty) {
		const bytes = encodePath(path);
		const own = lines.find((line) => line.isTracked && line.path.equals(bytes));
		if (own !== undefined) {
			if (own.text[1] === ' ') own.text = `${own.text[0]}${mark}${own.text.slice(2)}`;
			continue;
		}
		const later = lines.findIndex((line) => !line.isTracked || Buffer.compare(line.path, bytes) > 0);
		lines.splice(later === -1 ? lines.length : later, 0, {
			text: ` ${mark} ${quote(bytes)}`,
			path: bytes,
			isTracked: true,
		});
	}
	return Buffer.from(lines.map((line) => `${line.text}\n`).join(''), 'latin1');
}

/** `m`: tracked content of the submodule changed; `?`: only untracked files are new in it. */
async function findDirtySubmodules(view: View, listing: Listing): Promise<Map<string, 'm' | '?'>> {
	const dirty = new Map<string, 'm' | '?'>();
	for (const entry of listing.tracked.filter(isGitlink)) {
		const inner = await openInner(view.repository, entry.path);
		if (inner === undefined) continue;
		const status = await withView(inner, async (innerView) =>
			readStatus(innerView, await readListing(innerView, excludeInside(listing.exclude, entry.path))),
		);
		const lines = status.toString('latin1').split('\n').slice(0, -1);
		if (lines.length > 0) dirty.set(entry.path, lines.some((line) => !/^(\?\?| \?) /.test(line)) ? 'm' : '?');
	}
	return dirty;
}

/** The paths of a `-z` status, in its order; a rename's old name is a field of its own and left out. */
function splitRecords(output: Buffer): Buffer[] {
	const fields = splitFields(output);
	const paths: Buffer[] = [];
	for (let index = 0; index < fields.length; index += 1) {
		const field = fields[index] ?? Buffer.alloc(0);
		paths.push(field.subarray(3));
		if (/[RC]/.test(field.toString('latin1', 0, 2))) index += 1;
	}
	return paths;
}

const ESCAPES: Record<string, string> = {
	'\x07': '\\a',
	'\b': '\\b',
	'\t': '\\t',
	'\n': '\\n',
	'\v': '\\v',
	'\f': '\\f',
	'\r': '\\r',
	'"': '\\"',
	'\\': '\\\\',
};

/** A path as git's status prints it: in quotes where it holds a space, a quote or a control character. */
function quote(path: Buffer): string {
	const text = path.toString('latin1');
	const escaped = text.replace(
		/[\x00-\x1f"\\\x7f]/g,
		(character) => ESCAPES[character] ?? `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
	);
	return escaped !== text || text.includes(' ') ? `"${escaped}"` : text;
}
