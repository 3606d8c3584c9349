/** The text of a review surface. Pure; byte strings in, a byte string out. */
import type { SummaryReason } from './file-kinds.ts';
import type { PatchPart } from './patch.ts';
import { showPath } from './paths.ts';
import type { Section } from './surface-sections.ts';

export interface Summarised {
	readonly path: string;
	readonly reason: SummaryReason;
	readonly bytes: number;
}

export interface Summary extends Summarised {
	readonly added: number;
	readonly removed: number;
}

/**
 * Renders the sections, each in a fence longer than any run of backticks in it, so that no content can end its block
 * or pass for a heading.
 * @param listed what is said at the top to be left out
 * @param replaced the reason for each path whose changes are replaced by one line
 */
export function renderSurface(
	sections: readonly Section[],
	listed: readonly Summary[],
	replaced: ReadonlyMap<string, SummaryReason>,
): string {
	const blocks = sections.map((section) => renderSection(section, replaced));
	if (listed.length > 0) blocks.unshift(renderTop(listed));
	return blocks.join('\n');
}

/** The line that stands for a file's changes in one block. */
export function summaryLine(part: PatchPart, reason: SummaryReason): string {
	const facts = `+${part.added} -${part.removed} lines, ${part.text.length} bytes`;
	return `[summarised: ${reason}] ${toByteString(showPath(part.path))}: ${facts}, not shown\n`;
}

function renderTop(listed: readonly Summary[]): string {
	const lines = listed.map(
		({ path, reason, bytes, added, removed }) =>
			`${showPath(path)}: ${reason}, ${added + removed === 0 ? '' : `+${added} -${removed} lines, `}${bytes} bytes`,
	);
	return toByteString(
		`### Summarised files\n\nThe content of these files is not shown below, only that they changed:\n\n${fence(`${lines.join('\n')}\n`, 'text')}`,
	);
}

function renderSection(section: Section, replaced: ReadonlyMap<string, SummaryReason>): string {
	const notes = (section.notes ?? []).map((note) => `${toByteString(note.text)}\n`);
	const parts = (section.parts ?? []).map((part) => {
		const reason = replaced.get(part.path);
		return reason === undefined ? part.text : summaryLine(part, reason);
	});
	const body = (section.plain ?? '') + notes.join('') + parts.join('');
	const heading = `### ${toByteString(section.title)}\n\n`;
	if (body === '') return `${heading}(empty)\n`;
	return heading + fence(body, section.plain === undefined ? 'diff' : 'text');
}

function fence(body: string, language: string): string {
	const longest = (body.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
	const marks = '`'.repeat(longest + 1);
	return `${marks}${language}\n${body}${marks}\n`;
}

function toByteString(text: string): string {
	return Buffer.from(text, 'utf8').toString('latin1');
}
