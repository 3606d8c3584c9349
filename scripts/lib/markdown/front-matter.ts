/** Front matter of `.done` and SKILL.md files: gray-matter, wrapped once, with everything that guesses or runs taken out. */
import matter from 'gray-matter';
import yaml from 'js-yaml';
import { decodeText } from './decode.ts';
import { quoted } from './quoted.ts';

export interface FrontMatter {
	/** All values are strings as written: `0123` stays `0123`, nothing becomes a date. A key without a value is ''. */
	readonly data: Record<string, string>;
	/** The 1-based line each key stands on. */
	readonly keyLines: Record<string, number>;
	readonly body: string;
	/** The 1-based line the body starts on. */
	readonly bodyLine: number;
}

export interface FrontMatterProblem {
	readonly code: 'not-utf8' | 'nul-byte' | 'too-large' | 'too-nested' | 'unparseable' | 'bad-front-matter';
	readonly line: number;
	readonly column: number;
	readonly found: string;
	readonly expected: string;
}

const MAX_BYTES = 64 * 1024;
const FENCE = /^---[ \t]*$/;

function refuse(): never {
	throw new Error('only YAML front matter is read');
}

/** gray-matter evaluates JavaScript unless each of its engines is replaced; an options object also keeps its cache out. */
const OPTIONS = {
	language: 'yaml',
	engines: {
		yaml: (text: string): object => yaml.safeLoad(text, { schema: yaml.FAILSAFE_SCHEMA }) as object,
		javascript: refuse,
		js: refuse,
		coffee: refuse,
		json: refuse,
		toml: refuse,
	},
};

/** Splits a file that starts with `---` into its keys and its body. */
export function readFrontMatter(
	bytes: Uint8Array,
	options: { maxBytes?: number } = {},
): { frontMatter: FrontMatter } | { problem: FrontMatterProblem } {
	const decoded = decodeText(bytes, options.maxBytes ?? MAX_BYTES);
	if ('problem' in decoded) return decoded;
	const lines = decoded.text.split('\n');
	const bad = (line: number, found: string, expected: string, column = 1): { problem: FrontMatterProblem } => ({
		problem: { code: 'bad-front-matter', line, column, found, expected },
	});
	if (!FENCE.test(lines[0]!)) return bad(1, quoted(lines[0]!), "'---' as the first line");
	const end = lines.findIndex((line, index) => index > 0 && line.startsWith('---'));
	if (end === -1) return bad(lines.length, 'the end of the file', "a line '---' that ends the front matter");
	if (!FENCE.test(lines[end]!)) return bad(end + 1, quoted(lines[end]!), "'---' alone on the line");

	let parsed: unknown;
	try {
		parsed = matter(decoded.text, OPTIONS).data;
	} catch (error) {
		const mark = error instanceof yaml.YAMLException ? (error as { mark?: { line: number } }).mark : undefined;
		const reason = error instanceof yaml.YAMLException ? (error as { reason?: string }).reason : undefined;
		// gray-matter hands the block over from the newline after the opening `---`, so the mark's line 1 is file line 2.
		return bad((mark?.line ?? 0) + 1, reason ?? 'text that is not YAML', "lines of the form 'key: value'");
	}
	if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
		return bad(2, 'no mapping', "lines of the form 'key: value'");
	}
	const keyLines = linesOfKeys(lines.slice(0, end));
	const data: Record<string, string> = Object.create(null);
	for (const [key, value] of Object.entries(parsed)) {
		if (value !== null && typeof value !== 'string') {
			return bad(keyLines[key] ?? 2, `${quoted(key)} with a nested value`, 'one plain value for each key');
		}
		data[key] = value ?? '';
	}
	return { frontMatter: { data, keyLines, body: lines.slice(end + 1).join('\n'), bodyLine: end + 2 } };
}

function linesOfKeys(lines: readonly string[]): Record<string, number> {
	const found: Record<string, number> = Object.create(null);
	lines.forEach((line, index) => {
		const key = /^(["']?)([^\s"':#][^"':]*)\1\s*:/.exec(line)?.[2];
		if (key !== undefined) found[key] ??= index + 1;
	});
	return found;
}
