/** How text out of an untrusted file is shown in a message: one line, bounded, nothing invisible, nothing a terminal obeys. */

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?! )\p{Zs}/gu;

/** The text with each control, invisible and odd space character written as `\u{…}`. */
export function visible(text: string): string {
	return text.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)!.toString(16).toUpperCase()}}`);
}

/** The text made visible in single quotes, cut after `limit` UTF-16 units. */
export function quoted(text: string, limit = 80): string {
	const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
	return `'${visible(cut)}'`;
}
