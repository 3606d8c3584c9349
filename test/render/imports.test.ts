import { expect, it } from 'vitest';
import { readImports } from '../../scripts/lib/render/imports.ts';

it.each([
	['@AGENTS.md\n', ['AGENTS.md']],
	['\u00ef\u00bb\u00bf@AGENTS.md', ['AGENTS.md']],
	['# Title\r\n\r\nSee @./AGENTS.md for more\r\n', ['./AGENTS.md']],
	['- @AGENTS.md\n', ['AGENTS.md']],
	['`a` @AGENTS.md `b`\n', ['AGENTS.md']],
	['``a` @AGENTS.md', ['AGENTS.md']],
	['`@AGENTS.md`\n', []],
	['` @AGENTS.md `\n', []],
	['`` ` @AGENTS.md ``\n', []],
	['```\n@AGENTS.md\n```\n', []],
	['    @AGENTS.md\n', []],
	['<!-- @AGENTS.md -->\n', []],
	['<!--\n@AGENTS.md\n-->\n', []],
	['text <!-- @AGENTS.md --> text\n', []],
	['me@AGENTS.md\n', []],
	['AGENTS.md\n', []],
])('%j', (text, imports) => {
	expect(readImports(text, 'CLAUDE.md')).toEqual(imports);
});
