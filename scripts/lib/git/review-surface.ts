/** What a code reviewer sees of the repository (protocol: Git Review Baseline), within a budget. */
import { lstat } from 'node:fs/promises';
import { sha256 } from '../kit/sha256.ts';
import type { Baseline } from './baseline.ts';
import { kindOfPath, type SummaryReason } from './file-kinds.ts';
import { findGenerated } from './generated.ts';
import type { PatchPart } from './patch.ts';
import { filePath, showPath } from './paths.ts';
import type { Repository } from './repository.ts';
import { chooseReplaced } from './surface-budget.ts';
import { readSections, type Section } from './surface-sections.ts';
import { renderSurface, type Summarised, type Summary, summaryLine } from './surface-text.ts';
import { type View, withView } from './view.ts';

export interface ReviewSurface {
	/** Goes into the prompt. Bytes that are not UTF-8, and NUL, are shown as replacement characters. */
	readonly text: string;
	/** Of the bytes of the surface before anything was replaced to fit the budget. */
	readonly sha256: string;
	/** Length of those bytes. */
	readonly bytes: number;
	/** Files whose content the text leaves out: to fit the budget, and always binary ones and very large untracked data. */
	readonly summarised: Summarised[];
	/** Every path that differs from the baseline or is untracked, renames with both names; sorted. */
	readonly changedPaths: string[];
}

/**
 * Reads the review surface.
 * @param options `exclude`: run folders, relative to the root; `budgetBytes`: `CCC_REVIEW_DIFF_BUDGET`, above which
 * lockfiles, generated and vendored files are replaced by a line each, largest first. Source and tests never are.
 */
export async function readReviewSurface(
	repository: Repository,
	baseline: Baseline,
	options: { exclude: readonly string[]; budgetBytes: number },
): Promise<ReviewSurface> {
	return withView(repository, async (view) => {
		const read = await readSections(view, baseline, options.exclude);
		const { sections, named } = await nameBinaries(repository, read);
		const full = renderSurface(sections, named, new Map());
		const replaced =
			full.length > options.budgetBytes ? await chooseSummaries(view, sections, full.length - options.budgetBytes) : [];
		const summarised = [...named, ...replaced];
		const text =
			replaced.length === 0
				? full
				: renderSurface(sections, summarised, new Map(replaced.map((one) => [one.path, one.reason])));
		return {
			text: toText(text),
			sha256: sha256(Buffer.from(full, 'latin1')),
			bytes: full.length,
			summarised: summarised.map(({ path, reason, bytes }) => ({ path, reason, bytes })),
			changedPaths: changedPaths(sections),
		};
	});
}

/** Gives each binary change its size, and lists them and the files that are too large. */
async function nameBinaries(
	{ root }: Repository,
	read: readonly Section[],
): Promise<{ sections: Section[]; named: Summary[] }> {
	const named = new Map<string, Summary>();
	const sections: Section[] = [];
	for (const section of read) {
		for (const { path, tooLarge } of section.notes ?? []) {
			if (tooLarge !== undefined) named.set(path, { path, reason: 'too-large', bytes: tooLarge, added: 0, removed: 0 });
		}
		const parts: PatchPart[] = [];
		for (const part of section.parts ?? []) {
			if (!part.isBinary) {
				parts.push(part);
				continue;
			}
			const bytes = await sizeOf(root, part.path);
			named.set(part.path, { path: part.path, reason: 'binary', bytes, added: 0, removed: 0 });
			const line = `[binary] ${showPath(part.path)}: ${bytes} bytes in the work tree, content not shown\n`;
			parts.push({ ...part, text: part.text.replace(/^Binary files .*\n/m, Buffer.from(line).toString('latin1')) });
		}
		sections.push(section.parts === undefined ? section : { ...section, parts });
	}
	return { sections, named: [...named.values()] };
}

/** The files to replace, each with all its changes counted together. */
async function chooseSummaries(view: View, sections: readonly Section[], excess: number): Promise<Summary[]> {
	const parts = sections.flatMap((section) => section.parts ?? []).filter((part) => !part.isBinary);
	const generated = await findGenerated(
		view,
		parts.map((part) => part.path).filter((path) => kindOfPath(path) === undefined),
	);
	const candidates = new Map<string, Summary & { saved: number }>();
	for (const part of parts) {
		const reason: SummaryReason | undefined =
			kindOfPath(part.path) ?? (generated.has(part.path) ? 'generated' : undefined);
		if (reason === undefined) continue;
		const before = candidates.get(part.path) ?? { path: part.path, reason, bytes: 0, saved: 0, added: 0, removed: 0 };
		candidates.set(part.path, {
			...before,
			bytes: before.bytes + part.text.length,
			saved: before.saved + part.text.length - summaryLine(part, reason).length,
			added: before.added + part.added,
			removed: before.removed + part.removed,
		});
	}
	return chooseReplaced([...candidates.values()], excess);
}

function changedPaths(sections: readonly Section[]): string[] {
	const paths = new Set<string>();
	for (const section of sections) {
		for (const note of section.notes ?? []) paths.add(note.path);
		for (const part of section.parts ?? []) {
			paths.add(part.path);
			if (part.oldPath !== undefined) paths.add(part.oldPath);
		}
	}
	return [...paths].sort();
}

async function sizeOf(root: string, path: string): Promise<number> {
	return lstat(filePath(root, path)).then(
		(stats) => stats.size,
		() => 0,
	);
}

function toText(byteString: string): string {
	return Buffer.from(byteString, 'latin1').toString('utf8').replaceAll('\0', '\u2400');
}
