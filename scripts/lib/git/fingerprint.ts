/**
 * What a path of the work tree holds, as one short text without spaces. Content is always hashed. Neither git's cache
 * of file times nor one of ours is asked, because size and times can be set back by whoever changes a file.
 */
import { createHash, type Hash } from 'node:crypto';
import {
	closeSync,
	constants,
	fstatSync,
	lstatSync,
	openSync,
	readdirSync,
	readlinkSync,
	readSync,
	type Stats,
} from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { systemCode } from '../kit/errors.ts';
import { filePath } from './paths.ts';
import { folderOf, realFolders } from './real-folders.ts';
import { unreadable } from './unreadable.ts';

const CHUNK = Buffer.alloc(1024 * 1024);
const TURN_MS = 30;

/**
 * The fingerprints of `paths`: `file:<mode>:<sha256>`, `link:<sha256 of the target>`, `folder:-:<sha256 of the names in it>`,
 * `special`, or `absent`.
 * Synchronous reads, because 20,000 asynchronous ones cost several times as much; timers get their turn in between.
 * Errors (CccError): `unreadable-file`.
 */
export async function readFingerprints(root: string, paths: Iterable<string>): Promise<Map<string, string>> {
	const isReal = realFolders(root);
	const prints = new Map<string, string>();
	let turn = performance.now();
	for (const path of paths) {
		// Behind a link lies another place: in the work tree, the path is not there.
		prints.set(path, isReal(folderOf(path)) ? await readOne(root, path) : 'absent');
		if (performance.now() - turn > TURN_MS) {
			await setImmediate();
			turn = performance.now();
		}
	}
	return prints;
}

/** SHA-256 of a regular file's content. */
export async function hashFile(root: string, path: string): Promise<string> {
	return (await readOne(root, path)).split(':')[2] ?? 'absent';
}

async function readOne(root: string, path: string): Promise<string> {
	const file = filePath(root, path);
	try {
		const stats = lstatSync(file, { throwIfNoEntry: false });
		if (stats === undefined) return 'absent';
		if (stats.isFile()) return await readContent(file);
		return describe(file, stats);
	} catch (error) {
		// Gone, or turned into something else, in the moment since it was looked at.
		if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return 'absent';
		if (systemCode(error) === 'ELOOP') return 'special';
		throw unreadable(path, error);
	}
}

function describe(file: string | Buffer, stats: Stats): string {
	if (stats.isSymbolicLink()) {
		return `link:${createHash('sha256').update(readlinkSync(file, 'buffer')).digest('hex')}`;
	}
	if (!stats.isDirectory()) return 'special';
	// A submodule that is not checked out: an empty folder, into which git does not look.
	const names = createHash('sha256').update(readdirSync(file, { encoding: 'latin1' }).sort().join('/'));
	return `folder:-:${names.digest('hex')}`;
}

async function readContent(file: string | Buffer): Promise<string> {
	// A FIFO that has come into the file's place must not be waited for, and a link must not be followed.
	const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
	try {
		const stats = fstatSync(handle);
		if (!stats.isFile()) return 'special';
		const hash = createHash('sha256');
		await readInto(hash, handle);
		return `file:${(stats.mode & 0o7777).toString(8)}:${hash.digest('hex')}`;
	} finally {
		closeSync(handle);
	}
}

async function readInto(hash: Hash, handle: number): Promise<void> {
	for (;;) {
		const count = readSync(handle, CHUNK, 0, CHUNK.length, null);
		if (count === 0) return;
		// Read and hashed in one turn, so that the buffer can be shared by all calls.
		hash.update(CHUNK.subarray(0, count));
		if (count === CHUNK.length) await setImmediate();
	}
}
