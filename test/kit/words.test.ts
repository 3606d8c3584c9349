import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CccError } from '../../scripts/lib/kit/errors.ts';
import { quoteWord, splitCommand, splitWords } from '../../scripts/lib/kit/words.ts';
import { errorOf } from '../support/ccc-error.ts';

describe('splitWords', () => {
	it.each([
		['', []],
		[' \t\r\n ', []],
		['a b\tc\nd', ['a', 'b', 'c', 'd']],
		[`--model 'a b' "c d"`, ['--model', 'a b', 'c d']],
		[`a''b "" ''`, ['ab', '', '']],
		[String.raw`a\ b \" \\ 'x\y' "x\y\"\\\$"`, ['a b', '"', '\\', 'x\\y', 'x\\y"\\$']],
		['a\\\nb "c\\\nd"', ['ab', 'cd']],
		['$HOME `id` * | ;', ['$HOME', '`id`', '*', '|', ';']],
		['a\u00a0b', ['a\u00a0b']],
	])('%j', (text, words) => {
		expect(splitWords(text)).toEqual(words);
	});

	it.each([`a 'b`, `a "b`, `"a\\"`, `'`, 'a\\'])('refuses what is not closed: %j', (text) => {
		expect(errorOf(() => splitWords(text))).toMatchObject({ code: 'unclosed-quote', exitCode: 2 });
	});

	it('gives any words back that were quoted', () => {
		fc.assert(
			fc.property(fc.array(fc.string({ unit: 'binary' })), (words) => {
				const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
				expect(splitWords(quoted)).toEqual(words);
			}),
		);
	});
});

describe('splitCommand', () => {
	it.each([
		['npm test', ['npm', 'test']],
		['  npm test \n', ['npm', 'test']],
		[`sh -c 'a | b && c > d'`, ['sh', '-c', 'a | b && c > d']],
		[`grep "a*b?(c)#$" x\\*y`, ['grep', 'a*b?(c)#$', 'x*y']],
		['env A=b c', ['env', 'A=b', 'c']],
		['a-b=c', ['a-b=c']],
		['echo a\\ ', ['echo', 'a ']],
	])('%j', (text, words) => {
		expect(splitCommand(text)).toEqual(words);
	});

	it.each([
		...['a | b', 'a && b', 'a; b', 'a < b', 'a > b', 'a $b', 'a `b`', 'a (b)', 'a # b', 'a *', 'a?'],
		...['a\nb', 'a\r\nb', 'A=b c', `A='b' c`, '_x1= c'],
	])('refuses %j', (text) => {
		const error = errorOf(() => splitCommand(text));
		expect(error).toMatchObject({ code: 'shell-syntax', exitCode: 2 });
		expect(error.facts.next).toContain('sh -c');
	});

	it.each(['', ' \n', `''`])('finds no command in %j', (text) => {
		expect(errorOf(() => splitCommand(text))).toMatchObject({ code: 'no-command', exitCode: 2 });
	});

	it('refuses an open quote as such', () => {
		expect(errorOf(() => splitCommand(`npm 'test`)).code).toBe('unclosed-quote');
	});

	it('splits what it accepts exactly as sh does', () => {
		const unit = fc.constantFrom(...[...`ab'"\\ \t=-é/.$|*`], '\n');
		fc.assert(
			fc.property(fc.string({ unit, maxLength: 14 }), (text) => {
				let words: string[];
				try {
					words = splitCommand(`x ${text}`);
				} catch (error) {
					expect(error).toBeInstanceOf(CccError);
					return;
				}
				const shell = execFileSync('sh', ['-c', `printf '%s\\0' x ${text}`], { encoding: 'utf8' });
				expect(words).toEqual(shell.split('\0').slice(0, -1));
			}),
			{ numRuns: 400 },
		);
	});
});

describe('quoteWord', () => {
	it.each([
		['.ccc/runs/one', '.ccc/runs/one'],
		['', `''`],
		['a b', `'a b'`],
		[`it's`, `'it'\\''s'`],
		['~/x', `'~/x'`],
		['$(x)', `'$(x)'`],
	])('%j: %s', (word, quoted) => {
		expect(quoteWord(word)).toBe(quoted);
	});

	it('is one word to a shell, whatever it holds', () => {
		const word = fc.string({ unit: fc.constantFrom(...`ab '"\\$\`*~!#;&|<>()\n\té-=`), maxLength: 12 });
		fc.assert(
			fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
				const line = words.map(quoteWord).join(' ');
				const out = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' });
				expect(out.split('\0').slice(0, -1)).toEqual(words);
			}),
			{ numRuns: 40 },
		);
	});
});
