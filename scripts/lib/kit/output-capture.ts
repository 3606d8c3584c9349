/** One output stream of a child, taken in through a pipe: bounded in memory, copied to a file while it arrives, drained to its end. */
import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { CccError, EXIT } from './errors.ts';

export interface CapturedOutput {
	readonly text: string;
	/** All that arrived, kept or not. */
	readonly bytes: number;
	readonly truncated: boolean;
}

/** Where an output stream goes; opened before the child is started. */
export interface OutputTarget {
	/** What the child gets for the stream. */
	readonly stdio: 'pipe' | number;
	/**
	 * Starts to take in what the child writes.
	 * @param stream our end of the pipe, if it has one
	 * @returns `ended`, settled when the stream closes for whatever reason, and `result` for what has arrived by then
	 */
	capture(stream: Readable | null, onChunk: (bytes: number) => void): Capture;
	/** @throws CccError `output-file` (exit 70) when something could not be written */
	close(): Promise<void>;
}

interface Capture {
	readonly ended: Promise<void>;
	result(): CapturedOutput;
}

/**
 * A pipe whose output is copied to `file`, if there is one. The first `maxBytes` are kept, the rest is counted and dropped.
 * @throws CccError `output-file` (exit 70) when the file cannot be opened
 */
export async function openPipe(file: string | undefined, maxBytes: number): Promise<OutputTarget> {
	const copy = await openOutputCopy(file);
	return {
		stdio: 'pipe',
		capture: (stream, onChunk) =>
			stream === null
				? { ended: Promise.resolve(), result: () => ({ text: '', bytes: 0, truncated: false }) }
				: captureOutput(stream, { maxBytes, copy, onChunk }),
		close: async () => copy?.close(),
	};
}

/** A file the output is copied to; created or emptied at once, so that a reader never sees an older call's output. */
interface OutputCopy {
	write(chunk: Uint8Array): void;
	close(): Promise<void>;
}

async function openOutputCopy(file: string | undefined): Promise<OutputCopy | undefined> {
	if (file === undefined) return undefined;
	const handle: FileHandle = await open(file, 'w').catch((error: unknown) => {
		throw outputFailed(file, error);
	});
	let failure: unknown;
	let writing: Promise<void> = Promise.resolve();
	return {
		write(chunk) {
			writing = writing
				.then(() => (failure === undefined ? handle.writeFile(chunk) : undefined))
				.catch((error: unknown) => {
					failure = error;
				});
		},
		async close() {
			await writing;
			await handle.close();
			if (failure !== undefined) throw outputFailed(file, failure);
		},
	};
}

export function outputFailed(file: string, cause: unknown): CccError {
	return new CccError('output-file', 'The output of a program cannot be written', {
		at: file,
		expected: 'a file that can be created in an existing folder, and room for it',
		found: cause instanceof Error ? cause.message : String(cause),
		next: 'make the folder writable or free some space, then try again',
		exitCode: EXIT.internal,
		cause,
	});
}

function captureOutput(
	stream: Readable,
	options: { maxBytes: number; copy: OutputCopy | undefined; onChunk: (bytes: number) => void },
): Capture {
	const kept: Uint8Array[] = [];
	let keptBytes = 0;
	let bytes = 0;
	stream.on('data', (chunk: Uint8Array) => {
		bytes += chunk.length;
		const part = chunk.subarray(0, options.maxBytes - keptBytes);
		if (part.length > 0) {
			kept.push(part);
			keptBytes += part.length;
			options.copy?.write(part);
		}
		options.onChunk(chunk.length);
	});
	const ended = new Promise<void>((resolve) => {
		stream.once('close', resolve);
		// A pipe that breaks has ended; what arrived before it still counts.
		stream.once('error', () => resolve());
	});
	const result = (): CapturedOutput => {
		const truncated = bytes > keptBytes;
		// In streaming mode the decoder holds back a character the bound has cut in two.
		const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(kept), { stream: truncated });
		return { text, bytes, truncated };
	};
	return { ended, result };
}
