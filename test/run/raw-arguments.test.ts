import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CccError } from '../../scripts/lib/kit/errors.ts';
import { parseRunArguments, RUN_SYNTAX } from '../../scripts/lib/run/arguments.ts';
import { splitRawArguments } from '../../scripts/lib/run/raw-arguments.ts';
import { errorOf } from '../support/ccc-error.ts';

const DOUBLE = { open: [...'"“”„‟«»『＂'], close: [...'"“”‟«»』＂'] };
const SINGLE = { open: [..."'‘’‚‛‹›「＇"], close: [..."'‘’‛‹›」＇"] };
const PAIRS = ['""', "''", '“”', '„“', '„”', '””', '‟”', '«»', '»«', '‹›', '›‹', '‘’', '‚‘', '’’', '‛’'].concat([
	'「」',
	'『』',
	'＂＂',
	'＇＇',
]);
const parseRaw = (text: string) => parseRunArguments(splitRawArguments(text));

describe('start', () => {
	it.each<[string, string[]]>([
		['x "do it"', ['x', 'do it']],
		['  \n x \t "do it" \r\n', ['x', 'do it']],
		['x\u3000「直す」\u3000auto', ['x', '直す', 'auto']],
		['x "do it" auto p1-c1', ['x', 'do it', 'auto', 'p1-c1']],
		['x auto "do it" p1-c1', ['x', 'do it', 'auto', 'p1-c1']],
		['x auto p1-c1 plan-code=codex-codex "do it"', ['x', 'do it', 'auto', 'p1-c1', 'plan-code=codex-codex']],
		['x "do it" verify="npm test" auto', ['x', 'do it', 'verify=npm test', 'auto']],
		['x "do it" auto verify="npm test"', ['x', 'do it', 'auto', 'verify=npm test']],
		["x 'do it' verify='npm test'", ['x', 'do it', 'verify=npm test']],
		['x “do it” verify=“npm test”', ['x', 'do it', 'verify=npm test']],
		['x “do it” verify=「npm test」 auto', ['x', 'do it', 'verify=npm test', 'auto']],
		['x "do it" verify=make', ['x', 'do it', 'verify=make']],
		['x verify="npm test" "do it"', ['x', 'do it', 'verify=npm test']],
		[`x verify='sh -c "a b"' "do it" auto`, ['x', 'do it', 'verify=sh -c "a b"', 'auto']],
		[`x verify="echo it's" "do it"`, ['x', 'do it', "verify=echo it's"]],
		[`x "do it" verify='sh -c "a | b"'`, ['x', 'do it', 'verify=sh -c "a | b"']],
		['x "do it" verify="sh -c "a b""', ['x', 'do it', 'verify=sh -c "a b"']],
		['x "do it" verify="run "a" b" auto', ['x', 'do it', 'verify=run "a" b', 'auto']],
		['x "do it" verify=" a\\ $B "', ['x', 'do it', 'verify= a\\ $B ']],
		// Quotes inside, and what looks like options there.
		['x "say "hi" to "bob""', ['x', 'say "hi" to "bob"']],
		['x "say "hi" auto" p1-c1', ['x', 'say "hi" auto', 'p1-c1']],
		['x "task" foo "bar" auto', ['x', 'task" foo "bar', 'auto']],
		['x "auto p1-c1 resume"', ['x', 'auto p1-c1 resume']],
		[`x "fix bob's bug"`, ['x', "fix bob's bug"]],
		[`x 'fix bob's bug' auto`, ['x', "fix bob's bug", 'auto']],
		[`x ‘don’t’ auto`, ['x', 'don’t', 'auto']],
		[`x "'quoted'" auto`, ['x', "'quoted'", 'auto']],
		[`x '"quoted"' auto`, ['x', '"quoted"', 'auto']],
		['x “task" auto', ['x', 'task', 'auto']],
		['x "task” auto', ['x', 'task', 'auto']],
		// The option verify as a subject of the task.
		['x "verify="npm test" is an option"', ['x', 'verify="npm test" is an option']],
		['x "Say that verify="npm test" works" auto', ['x', 'Say that verify="npm test" works', 'auto']],
		['x "Document verify="npm test""', ['x', 'Document verify="npm test"']],
		['x "Show verify="a" verify="b"" auto', ['x', 'Show verify="a" verify="b"', 'auto']],
		[`x "Explain verify='npm test' to "bob""`, ['x', `Explain verify='npm test' to "bob"`]],
		[`x 'Explain verify="npm test"' verify="make"`, ['x', 'Explain verify="npm test"', 'verify=make']],
		['x "run with verify="', ['x', 'run with verify=']],
		// Literal.
		['x "a\\n \\" $HOME `id` $(id) !! \\\\"', ['x', 'a\\n \\" $HOME `id` $(id) !! \\\\']],
		['x " \t a\r\n\r\nb \u3000"', ['x', ' \t a\r\n\r\nb \u3000']],
		['x "修正 🔧 \ud800"', ['x', '修正 🔧 \ud800']],
		['x ""', ['x', '']],
		['x "" auto', ['x', '', 'auto']],
		['x """', ['x', '"']],
		// Folders.
		['"my runs/one" "do it"', ['my runs/one', 'do it']],
		['“my runs/one” "do it" auto', ['my runs/one', 'do it', 'auto']],
		[`"bob's runs" 'do it'`, ["bob's runs", 'do it']],
		["bob's 'do it'", ["bob's", 'do it']],
		['a"b "do it"', ['a"b', 'do it']],
		['Resume "do it"', ['Resume', 'do it']],
		['./resume "do it"', ['./resume', 'do it']],
	])('%j', (text, words) => {
		expect(splitRawArguments(text)).toEqual(words);
	});

	it.each(PAIRS)('the pair %s', (pair) => {
		const [open, close] = [...pair];
		expect(splitRawArguments(`x ${open}do ${open}it${close}${close} auto`)).toEqual([
			'x',
			`do ${open}it${close}`,
			'auto',
		]);
		expect(splitRawArguments(`${open}a b${close} "t" verify=${open}c d${close}`)).toEqual(['a b', 't', 'verify=c d']);
		expect(splitRawArguments(`x verify=${open}c d${close} "t"`)).toEqual(['x', 't', 'verify=c d']);
	});

	it('closes a quote with any quote of its type, and with none of the other', () => {
		for (const [own, other] of [
			[DOUBLE, SINGLE],
			[SINGLE, DOUBLE],
		] as const) {
			for (const open of own.open) {
				for (const close of own.close) expect(splitRawArguments(`x ${open}t${close}`)).toEqual(['x', 't']);
				for (const close of other.close) {
					expect(errorOf(() => splitRawArguments(`x ${open}t${close}`))).toMatchObject({ code: 'unclosed-quote' });
				}
			}
		}
	});
});

describe('resume', () => {
	it.each<[string, string[]]>([
		['resume', ['resume']],
		['resume ', ['resume']],
		['resume x', ['resume', 'x']],
		['resume\n"my runs/one"\tauto', ['resume', 'my runs/one', 'auto']],
		['resume resume', ['resume', 'resume']],
		['resume x verify="npm test" manual', ['resume', 'x', 'verify=npm test', 'manual']],
		['resume x manual verify="run "a" b"', ['resume', 'x', 'manual', 'verify=run "a" b']],
		['resume x verify="a" verify="b"', ['resume', 'x', 'verify=a', 'verify=b']],
		['resume x manul verify="a b" auto', ['resume', 'x', 'manul', 'verify=a b', 'auto']],
		['resume x verify="a b" manul', ['resume', 'x', 'verify=a b', 'manul']],
	])('%j', (text, words) => {
		expect(splitRawArguments(text)).toEqual(words);
	});
});

describe('cancel', () => {
	it.each<[string, string[]]>([
		['cancel', ['cancel']],
		['cancel x', ['cancel', 'x']],
		['cancel x "no longer "wanted"" ', ['cancel', 'x', 'no longer "wanted"']],
		["cancel 'my runs' “bob’s idea”", ['cancel', 'my runs', 'bob’s idea']],
		['cancel x "why" auto', ['cancel', 'x', 'why', 'auto']],
	])('%j', (text, words) => {
		expect(splitRawArguments(text)).toEqual(words);
	});
});

describe('errors', () => {
	it.each<[string, string, string]>([
		['x Fix the bug', 'missing-quotes', '"Fix the bug"'],
		['x Fix', 'missing-quotes', 'Fix'],
		['x auto Fix p1-c1', 'missing-quotes', 'auto Fix p1-c1'],
		["x fix bob's bug", 'missing-quotes', "bob's"],
		['x do"it"', 'missing-quotes', 'do'],
		['cancel x why', 'missing-quotes', 'why'],
		['x "do it', 'unclosed-quote', 'do it'],
		['x "do it auto', 'unclosed-quote', 'do it auto'],
		['x "', 'unclosed-quote', '"'],
		['x "auto', 'unclosed-quote', 'auto'],
		['x " auto', 'unclosed-quote', 'auto'],
		["x 'don't", 'unclosed-quote', "don't"],
		['x "task"auto', 'unclosed-quote', 'task'],
		['x "do it verify="npm test" auto', 'unclosed-quote', 'do it'],
		[`x 'do it verify="npm test"`, 'unclosed-quote', 'do it'],
		['x “t” verify=“npm', 'unclosed-quote', '“npm'],
		['x "t" verify="npm test', 'unclosed-quote', 'npm test'],
		['x "t" verify="npm"test', 'unclosed-quote', 'npm'],
		['x verify=\'npm "t"', 'unclosed-quote', 'npm'],
		['resume x verify="npm test', 'unclosed-quote', 'npm test'],
		['cancel x "why', 'unclosed-quote', 'why'],
		['"my runs', 'unclosed-quote', 'my runs'],
		['"my"runs "t"', 'unclosed-quote', 'my'],
		['"resume" "t"', 'bad-folder', 'resume'],
		["'cancel' x", 'bad-folder', 'cancel'],
	])('splitRawArguments refuses %j: %s', (text, code, found) => {
		const error = errorOf(() => splitRawArguments(text));
		expect(error).toMatchObject({ code, exitCode: 2 });
		expect(error.facts.found?.replaceAll('\\"', '"')).toContain(found);
		expect(error.facts.expected).toBeTruthy();
	});

	it.each<[string, string, string]>([
		['x "task" manul', 'unknown-word', 'manul'],
		['x "task" manul auto', 'unknown-word', 'manul'],
		['x "task" auto manul verify="a b"', 'unknown-word', 'manul'],
		[`x "task" manul verify='a b'`, 'unknown-word', 'manul'],
		[`x "task" verify='a b' manul`, 'unknown-word', 'manul'],
		['x "task" verify="a b" manul', 'unknown-word', 'manul'],
		[`x "Explain verify='y" manul`, 'unknown-word', 'manul'],
		['x "task" in the file', 'unknown-word', 'in'],
		['x "task" p01-c1', 'bad-rounds', 'p01-c1'],
		['x p01-c1 "task"', 'bad-rounds', 'p01-c1'],
		['x Fix the "big" bug', 'unknown-word', 'Fix'],
		['my runs "task"', 'unknown-word', 'runs'],
		['x auto "task" manual', 'duplicate-argument', 'manual'],
		['x "task" verify="a" verify="b"', 'duplicate-argument', 'verify=b'],
		['x "task" plan-code=x', 'bad-plan-code', 'x'],
		['x "task" verify="a | b"', 'shell-syntax', '|'],
		['x', 'missing-argument', '(nothing)'],
		['x auto verify="npm test"', 'missing-argument', 'auto'],
		['"Fix the bug"', 'missing-argument', '(nothing)'],
		['auto "task"', 'missing-argument', 'auto'],
		['"" "task"', 'missing-argument', ''],
		['x "" auto', 'empty-argument', ''],
		['resume', 'missing-argument', '(nothing)'],
		['resume x manul verify="a b"', 'unknown-word', 'manul'],
		['resume x "task"', 'unknown-word', '"task"'],
		['resume x p1-c1', 'rounds-on-resume', 'p1-c1'],
		['cancel x', 'missing-argument', '(nothing)'],
		['cancel x auto', 'missing-argument', 'auto'],
		['cancel x "why" auto', 'unknown-word', 'auto'],
		['cancel x "why" verify="a b"', 'unknown-word', 'verify=a b'],
		['cancel my runs "why"', 'unknown-word', 'runs'],
	])('with parseRunArguments %j: %s', (text, code, found) => {
		const error = errorOf(() => parseRaw(text));
		expect(error).toMatchObject({ code, exitCode: 2 });
		expect(error.facts.found).toContain(found);
		expect(error.facts.expected).toBeTruthy();
	});

	it('hands an empty verify command on', () => {
		expect(errorOf(() => parseRaw('x "task" verify=""'))).toMatchObject({ code: 'no-command', exitCode: 2 });
	});

	it.each(['', ' ', '\r\n\t\u3000'])('shows the syntax for %j', (text) => {
		const error = errorOf(() => splitRawArguments(text));
		expect(error).toMatchObject({ code: 'missing-argument', exitCode: 2 });
		for (const line of RUN_SYNTAX) expect(error.facts.expected).toContain(line);
	});

	it('cuts what was found', () => {
		const error = errorOf(() => splitRawArguments(`x "${'word '.repeat(1000)}`));
		expect(error.facts.found?.length).toBeLessThan(100);
	});

	it('bounds the text at 1 MiB, in bytes', () => {
		const around = 'x ""';
		const task = 'a'.repeat(1024 * 1024 - around.length);
		expect(splitRawArguments(`x "${task}"`)).toEqual(['x', task]);
		for (const text of [`x "${task}b"`, `x "${'修'.repeat(350_000)}"`]) {
			expect(errorOf(() => splitRawArguments(text))).toMatchObject({ code: 'too-large', exitCode: 2 });
		}
	});
});

describe('properties', () => {
	const piece = fc.constantFrom(
		...DOUBLE.open,
		...SINGLE.close,
		...['"', "'", '" auto', '" manul', '"a" ', ' ', '\n', '\r\n', '\t', '\\', '$HOME', '`id`', 'auto', 'p1-c1'],
		...['verify=', ' verify="', ' verify="a"', " verify='", " verify='a'", '" verify="a', 'word', '修正', '🔧'],
	);
	const text = fc.oneof(
		fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
		fc.string({ unit: 'binary', maxLength: 30 }),
	);
	const folder = fc.constantFrom('x', 'runs/one', "bob's", '修正');
	const options = fc.shuffledSubarray(['auto', 'p1-c1', 'plan-code=codex-codex', 'verify="npm test"']);
	const unquoted = (option: string) => option.replaceAll('"', '');
	const quotes = fc.constantFrom(DOUBLE, SINGLE).chain((kind) =>
		fc.record({
			open: fc.constantFrom(...kind.open),
			close: fc.constantFrom(...kind.close),
			kind: fc.constant(kind),
		}),
	);
	const opensVerify = (task: string, kind: typeof DOUBLE) =>
		new RegExp(`\\sverify=[${kind.open.join('')}]`, 'u').test(task);

	it('gives back every task that holds no word verify=<quote of its own type>, whatever options surround it', () => {
		fc.assert(
			fc.property(folder, text, quotes, options, fc.nat(4), (name, task, { open, close, kind }, given, before) => {
				fc.pre(!opensVerify(task, kind));
				const raw = [name, ...given.slice(0, before), open + task + close, ...given.slice(before)].join(' ');
				expect(splitRawArguments(raw)).toEqual([name, task, ...given.map(unquoted)]);
			}),
			{ numRuns: 3000 },
		);
	});

	// The exact limit of the last property: what stands before the last such word, trailing options taken off,
	// ends in a closing quote (the task reads as closed there, and the rest as options), or the rest holds no further
	// quote of the type (it reads as the option of a task that is not closed).
	it('gives back a task that does hold such a word, unless it reads as the option verify', () => {
		fc.assert(
			fc.property(text, text, quotes, (head, value, { open, close, kind }) => {
				fc.pre(!opensVerify(head, kind) && !opensVerify(` ${value}`, kind));
				const task = `${head} - verify=${open}${value}`;
				fc.pre(value !== '' || close !== open);
				const raw = `x ${open}${task}${close}`;
				if ([...value].some((char) => kind.open.includes(char) || kind.close.includes(char))) {
					expect(splitRawArguments(raw)).toEqual(['x', task]);
				} else {
					expect(errorOf(() => parseRaw(raw)).exitCode).toBe(2);
				}
			}),
			{ numRuns: 3000 },
		);
	});

	it('reads what parseRunArguments reads from words, end to end', () => {
		fc.assert(
			fc.property(text, quotes, options, (task, { open, close, kind }, given) => {
				fc.pre(!opensVerify(task, kind));
				const outcome = (run: () => unknown) => {
					try {
						return run();
					} catch (error) {
						return error instanceof CccError ? error.code : error;
					}
				};
				const words = given.map(unquoted);
				const quoted = open + task + close;
				expect(outcome(() => parseRaw(`x ${quoted} ${given.join(' ')}`))).toEqual(
					outcome(() => parseRunArguments(['x', task, ...words])),
				);
				expect(outcome(() => parseRaw(`cancel x ${quoted}`))).toEqual(
					outcome(() => parseRunArguments(['cancel', 'x', task])),
				);
				expect(outcome(() => parseRaw(`resume x ${given.join('\n')}`))).toEqual(
					outcome(() => parseRunArguments(['resume', 'x', ...words])),
				);
			}),
		);
	});

	it('takes a word that is no option neither into the task nor away', () => {
		const wrong = fc.constantFrom('manul', 'Auto', 'p01-c1', '--auto', "bob's", 'word');
		fc.assert(
			fc.property(text, quotes, wrong, options, (task, { open, close }, word, given) => {
				const plain = given.filter((option) => !option.includes('"'));
				const raw = `x ${open}${task}${close} ${[word, ...plain].join(' ')}`;
				expect(errorOf(() => parseRaw(raw)).exitCode).toBe(2);
			}),
			{ numRuns: 2000 },
		);
	});

	it('throws nothing but usage errors that say what was found and expected', () => {
		const start = fc.constantFrom('', 'x ', 'x "', 'resume ', 'resume x ', 'cancel x ', '"x" ');
		fc.assert(
			fc.property(start, text, (before, rest) => {
				try {
					expect(splitRawArguments(before + rest).length).toBeGreaterThan(0);
				} catch (error) {
					expect(error).toBeInstanceOf(CccError);
					expect(error).toMatchObject({
						exitCode: 2,
						facts: { expected: expect.any(String), found: expect.any(String) },
					});
				}
			}),
			{ numRuns: 3000 },
		);
	});
});

describe('time', () => {
	it.each([
		'"',
		'" ',
		'"a',
		'"a ',
		'\' "',
		'verify="',
		' verify="',
		' verify="a"',
		' verify="a"b"',
		' verify=\'a" verify="b\'',
		" verify=a'",
		'" verify=a',
		'" auto ',
		' auto',
		' ',
		'\n"x" manul',
	])('grows with the length of the text only: %j repeated', (unit) => {
		const body = unit.repeat(Math.floor((1024 * 1024 - 20) / unit.length));
		for (const text of [`x ${body}`, `x "${body}`, `x "${body}" auto`, `resume x ${body}`, `"${body}`, body]) {
			const started = performance.now();
			try {
				parseRaw(text);
			} catch (error) {
				expect(error).toBeInstanceOf(CccError);
			}
			// Quadratic time would take minutes; linear time takes well under a second, on a busy machine too.
			expect(performance.now() - started).toBeLessThan(5000);
		}
	});

	it('refuses 2 MB of quotes at once', () => {
		const started = performance.now();
		expect(errorOf(() => splitRawArguments('"'.repeat(2_000_000))).code).toBe('too-large');
		expect(performance.now() - started).toBeLessThan(1000);
	});
});
