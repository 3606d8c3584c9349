/** Words that look like an expected one and are not: what the difference is, said so that a person can find it. */
import { quoted } from './quoted.ts';

/** Letters of other scripts that look like a Latin one, each beside it. */
const TWINS = new Map(
	Object.entries({
		A: 'АΑ',
		B: 'ВΒ',
		C: 'СϹ',
		D: 'Ꭰ',
		E: 'ЕΕ',
		F: 'Ϝ',
		G: 'Ԍ',
		H: 'НΗ',
		I: 'ІΙ',
		J: 'Ј',
		K: 'КΚ',
		L: 'Ꮮ',
		M: 'МΜ',
		N: 'Ν',
		O: 'ОΟ',
		P: 'РΡ',
		Q: 'Ԛ',
		R: 'Ꮢ',
		S: 'Ѕ',
		T: 'ТΤ',
		V: 'ѴᏙ',
		W: 'Ԝ',
		X: 'ХΧ',
		Y: 'ҮΥ',
		Z: 'Ζ',
		a: 'аα',
		c: 'сϲ',
		d: 'ԁ',
		e: 'е',
		g: 'ɡ',
		h: 'һ',
		i: 'іι',
		j: 'ј',
		k: 'κк',
		l: 'ӏ',
		m: 'м',
		n: 'ո',
		o: 'оο',
		p: 'рρ',
		q: 'ԛ',
		r: 'г',
		s: 'ѕ',
		t: 'т',
		u: 'υ',
		v: 'ѵν',
		w: 'ԝ',
		x: 'хχ',
		y: 'уγ',
		z: 'ᴢ',
	}).flatMap(([latin, twins]) => [...twins].map((twin) => [twin, latin] as const)),
);

const NAMES: Readonly<Record<string, string>> = {
	'\u00A0': 'a no-break space',
	'\u00AD': 'a soft hyphen',
	'\u200B': 'a zero-width space',
	'\u200C': 'a zero-width non-joiner',
	'\u200D': 'a zero-width joiner',
	'\u202F': 'a narrow no-break space',
	'\u2060': 'a word joiner',
	'\u3000': 'an ideographic space',
	'\uFEFF': 'a byte order mark',
};

/** What a reader sees: without invisible characters, marks and case, with look-alike letters as Latin ones. */
function skeleton(text: string): string {
	return [...text.normalize('NFKC').replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}*_`~[\]]/gu, '')]
		.map((character) => TWINS.get(character) ?? character)
		.join('')
		.replace(/[\s\p{Z}]+/gu, ' ')
		.replace(/ ?: ?/g, ':')
		.trim()
		.toLowerCase();
}

/** Whether `text` is not `expected` but would be read as it. */
export function looksLike(text: string, expected: string): boolean {
	return text !== expected && skeleton(text) === skeleton(expected);
}

/** Whether `text` starts with what would be read as `expected`. */
export function startsLike(text: string, expected: string): boolean {
	return skeleton(text).startsWith(skeleton(expected));
}

/**
 * How a look-alike differs: `'Verification Plan' with a no-break space (U+00A0)`. The text is quoted as it would be
 * read; where no character stands out, the text itself is all there is to say.
 */
export function describeLookAlike(text: string, expected: string): string {
	const odd = [...text].find((character) => !expected.includes(character) && isOdd(character));
	if (odd !== undefined) {
		const shown = text.replace(/[\s\p{Z}]/gu, ' ').replace(/\p{Cf}/gu, '');
		return `${quoted(shown)} with ${NAMES[odd] ?? nameOf(odd)} (U+${hex(odd)})`;
	}
	if (/[*_`~[\]]/.test(text)) return `${quoted(text)} with emphasis, code or link marks`;
	if (text.toLowerCase() === expected.toLowerCase()) return `${quoted(text)} in other letter case`;
	return `${quoted(text)}, spelled otherwise`;
}

function isOdd(character: string): boolean {
	return character.codePointAt(0)! > 0x7e || character < ' ';
}

function nameOf(character: string): string {
	if (/\p{Script=Cyrillic}/u.test(character)) return `the Cyrillic letter ${character}`;
	if (/\p{Script=Greek}/u.test(character)) return `the Greek letter ${character}`;
	if (/\p{L}/u.test(character)) return `the letter ${character}`;
	return /\p{Z}/u.test(character) ? 'an odd space' : 'an odd character';
}

function hex(character: string): string {
	return character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
}
