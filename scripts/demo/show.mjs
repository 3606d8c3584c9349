// What the demo prints, apart from what the commands it runs print themselves.
import { styleText } from 'node:util';

const styled = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
const width = Math.min(process.stdout.columns || 100, 100);

const style = (format, text) => (styled ? styleText(format, text) : text);

/** A step of the demo, with an empty line before it. */
export const heading = (text) => console.log(`\n${style('bold', text)}`);

/** A command line as a person would type it. */
export const command = (line) => console.log(`  ${style('cyan', `$ ${line}`)}`);

/** Text, indented and wrapped between words. */
export function paragraph(text, indent = 2) {
	const lines = [''];
	for (const word of text.split(' ')) {
		const longer = `${lines.at(-1)} ${word}`.trimStart();
		if (lines.at(-1) !== '' && indent + longer.length > width) lines.push(word);
		else lines[lines.length - 1] = longer;
	}
	for (const line of lines) console.log(' '.repeat(indent) + line);
}

/** One line for a test. */
export function testResult({ name, passed }) {
	console.log(`  ${passed ? style('green', 'ok    ') : style('red', 'FAILED')}  ${name}`);
}

export const good = (text) => console.log(`\n${style('green', text)}`);
export const bad = (text) => console.log(`\n${style('red', text)}`);

/** Quotes a word for a POSIX shell. */
export function quote(word) {
	return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
