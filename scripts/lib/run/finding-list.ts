/** Collects what a review says: its findings in their order, and all its other words. */
import type { Finding } from './attest.ts';
import type { TitleKind } from './finding-titles.ts';

export interface ReviewFinding extends Finding {
	/** Text outside lists went on with it, whose weight nobody stated. */
	readonly wentOn?: boolean;
}

/** Text that is no finding, by the section of the artifact that repeats it. */
export interface Words {
	readonly place: 'summary' | 'questions' | 'tests';
	readonly text: string;
	/** Where the reviewer refuses, this may be why. */
	readonly weighs: boolean;
}

export class FindingList {
	readonly findings: { severity: Finding['severity']; text: string; wentOn?: boolean }[] = [];
	readonly words: Words[] = [];
	#kind: TitleKind = 'other';
	/** Open sections for findings, the outermost first. Prose of one that lists none is what is objected to. */
	readonly #groups: { depth: number; from: number; prose: Words[] }[] = [];
	/** The finding that blocks after it go on with, though their author did not indent them. */
	#last: FindingList['findings'][number] | undefined;

	/** Whether untagged list items are findings here: everywhere but under titles that say otherwise. */
	get counts(): boolean {
		return ['findings', 'finding', 'other'].includes(this.#kind);
	}

	get inGroup(): boolean {
		return this.#groups.length > 0;
	}

	get hasLast(): boolean {
		return this.#last !== undefined;
	}

	/** A heading ends the sections of its depth and below. At the end of the review: depth 0. */
	close(depth: number): void {
		this.#last = undefined;
		this.#kind = 'other';
		while ((this.#groups.at(-1)?.depth ?? -1) >= depth) {
			const { from, prose } = this.#groups.pop()!;
			if (prose.length === 0 || this.findings.length > from) this.words.push(...prose);
			else this.findings.push({ severity: 'major', text: prose.map(({ text }) => text).join('\n\n') });
		}
	}

	open(kind: TitleKind, depth: number): void {
		this.#kind = kind;
		if (kind === 'findings') this.#groups.push({ depth, from: this.findings.length, prose: [] });
	}

	add(severity: Finding['severity'], text: string): void {
		this.#last = { severity, text };
		this.findings.push(this.#last);
	}

	goOn(text: string, isMajor: boolean): void {
		if (!this.#last) return;
		this.#last.text = `${this.#last.text}\n\n${text}`;
		if (isMajor) this.#last.severity = 'major';
	}

	/** The same for text whose weight is not stated. */
	goOnUnweighed(text: string): void {
		this.goOn(text, false);
		if (this.#last) this.#last.wentOn = true;
	}

	endLast(): void {
		this.#last = undefined;
	}

	/** Text that is no finding of its own. */
	say(text: string): void {
		const place = this.#kind === 'questions' || this.#kind === 'tests' ? this.#kind : 'summary';
		const group = this.#kind === 'findings' ? this.#groups.at(-1) : undefined;
		(group?.prose ?? this.words).push({ place, text, weighs: this.counts });
	}

	/** Text that never weighs, such as a heading. */
	note(text: string): void {
		this.words.push({ place: 'summary', text, weighs: false });
	}
}
