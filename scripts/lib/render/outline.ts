/** Instruction files as the pack's Markdown reader sees them, whatever their bytes. */
import { CccError } from '../kit/errors.ts';
import { type Document, readDocument } from '../markdown/document.ts';
import { bytesOf, textStart } from './lines.ts';

/**
 * Reads the blocks of a file. Bytes beyond ASCII mean nothing to them, and each is put as a letter, so that bytes that
 * are not UTF-8 cannot stop the reader. Lines are numbered as in the file.
 * @param text one character for each byte
 * @param at the file's name, for messages
 * @throws CccError `unreadable-markdown` for what is too large or too nested to be parsed in bounded time
 */
export function readOutline(text: string, at: string): Document {
	const letters = text.slice(textStart(text)).replace(/[^\u0001-\u007f]/g, 'x');
	const read = readDocument(bytesOf(letters));
	if ('document' in read) return read.document;
	const { line, found, expected } = read.problem;
	throw new CccError('unreadable-markdown', 'This file is more than the Markdown reader takes.', {
		at,
		line,
		found,
		expected,
		next: 'simplify the file around this line',
	});
}
