/** Collects what a review holds: findings in their order, and the prose around them. */
import type { Finding } from './attest.ts';

export interface Objections {
	readonly findings: Finding[];
	/** Prose beside listed findings that is none of them, such as an introduction. */
	readonly remarks: string[];
}

export class FindingList implements Objections {
	readonly findings: { severity: Finding['severity']; text: string }[] = [];
	readonly remarks: string[] = [];
	prose: string[] = [];
	/** The finding that blocks after it go on with, though their author did not indent them. */
	#last: { severity: Finding['severity']; text: string } | undefined;
	#intro: string[] = [];
	#explicit = false;
	#isInner = false;
	#sectionStart = 0;
	#partStart = 0;

	get hasLast(): boolean {
		return this.#last !== undefined;
	}

	endLast(): void {
		this.#last = undefined;
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

	/** A section begins. Prose of a findings section that listed nothing is what the reviewer objects to. */
	open(explicit: boolean): void {
		this.#closePart();
		if (this.#explicit && this.findings.length === this.#sectionStart) this.#addProse(this.#intro);
		else this.remarks.push(...this.#intro);
		this.#intro = [];
		this.#explicit = explicit;
		this.#isInner = false;
		this.#sectionStart = this.findings.length;
		this.#partStart = this.findings.length;
	}

	/** A heading inside a findings section: the prose before the first one may be an introduction. */
	openInner(): void {
		if (this.#isInner) this.#closePart();
		else this.#intro.push(...this.prose.splice(0));
		this.#last = undefined;
		this.#isInner = true;
		this.#partStart = this.findings.length;
	}

	#closePart(): void {
		const prose = this.prose.splice(0);
		if (this.#explicit && this.findings.length === this.#partStart) this.#addProse(prose);
		else this.remarks.push(...prose);
		this.#last = undefined;
	}

	#addProse(prose: readonly string[]): void {
		if (prose.length > 0) this.add('major', prose.join('\n\n'));
	}
}
