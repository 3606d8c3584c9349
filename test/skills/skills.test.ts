import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import yaml from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';

const PACK = path.resolve(import.meta.dirname, '../..');
const SKILLS = path.join(PACK, 'skills');
const NAMES = ['ccc', 'ccc-code', 'ccc-code-review', 'ccc-plan', 'ccc-plan-review'];
const STAGE_OF = {
	'ccc-code': 'code',
	'ccc-code-review': 'code-review',
	'ccc-plan': 'plan',
	'ccc-plan-review': 'plan-review',
};

function readSkill(name: string): { text: string; front: Record<string, unknown>; body: string } {
	const text = readFileSync(path.join(SKILLS, name, 'SKILL.md'), 'utf8');
	const [, front = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
	return { text, front: yaml.safeLoad(front, { schema: yaml.FAILSAFE_SCHEMA }) as Record<string, unknown>, body };
}

it('skills/ holds these five', () => {
	expect(readdirSync(SKILLS).sort()).toEqual(NAMES);
});

describe.each(NAMES)('the skill %s', (name) => {
	const { text, front, body } = readSkill(name);

	it('is small, and its front matter is what both hosts take', () => {
		expect(Buffer.byteLength(text.replaceAll('\n', '\r\n'))).toBeLessThan(3000);
		expect(Object.keys(front)).toEqual(['name', 'description', 'allowed-tools']);
		expect(front.name).toBe(name);
		expect(front.description).toMatch(/^[\x20-\x7e]{20,300}$/);
		expect(front.description).not.toMatch(/[<>]|---/);
		expect(text).toMatch(/^---\nname: "[a-z-]+"\ndescription: "/);
	});

	it('holds nothing that a host or a shell puts something else in the place of', () => {
		expect(body).not.toMatch(/\$\(|\$\{|\$[0-9]|\$ARGUMENTS|!`|^---$/m);
		expect(body).not.toMatch(/[^\x00-\x7f]/);
	});

	it('hands the words to begin through a quoted here-document', () => {
		const stage = name in STAGE_OF ? ` --stage ${STAGE_OF[name as keyof typeof STAGE_OF]}` : '';
		const [, mark] = /begin --session <agent>(?: --stage [a-z-]+)? <<'(\w+)'\n<words>\n\1\n/.exec(body) ?? [];
		expect(mark).toBeDefined();
		expect(body).toContain(`begin --session <agent>${stage} <<'${mark}'`);
	});

	it('has the launcher and a readable openai.yaml', () => {
		const launcher = (of: string): string => readFileSync(path.join(SKILLS, of, 'ccc.sh'), 'utf8');
		expect(launcher(name)).toBe(launcher('ccc'));
		const file = path.join(SKILLS, name, 'agents', 'openai.yaml');
		const value = yaml.safeLoad(readFileSync(file, 'utf8')) as { interface: Record<string, string>; policy: unknown };
		expect(value.interface.display_name).toMatch(/^CCC/);
		expect(value.interface.short_description?.length).toBeGreaterThanOrEqual(25);
		expect(value.interface.short_description?.length).toBeLessThanOrEqual(64);
		expect(value.policy).toEqual({ allow_implicit_invocation: false });
	});
});

describe('ccc.sh', () => {
	/** A pack whose command says which pack it is, what it was called as, and its words. */
	function makePack(folder: string): void {
		mkdirSync(path.join(folder, 'protocol'), { recursive: true });
		mkdirSync(path.join(folder, 'scripts'), { recursive: true });
		writeFileSync(path.join(folder, 'protocol', 'CCC_PROTOCOL.md'), 'x');
		const say = '[import.meta.dirname, process.env.CCC_CALLED_AS, ...process.argv.slice(2)]';
		writeFileSync(path.join(folder, 'scripts', 'ccc.mjs'), `console.log(JSON.stringify(${say}))`);
	}
	function makeSkill(folder: string): string {
		mkdirSync(folder, { recursive: true });
		cpSync(path.join(SKILLS, 'ccc', 'ccc.sh'), path.join(folder, 'ccc.sh'));
		return path.join(folder, 'ccc.sh');
	}
	async function run(file: string, over: { env?: Record<string, string>; cwd?: string } = {}) {
		const env = { PATH: process.env.PATH ?? '', ...over.env };
		const words = ['begin', 'a b', "$HOME 'q'", ''];
		const ran = await execa('/bin/sh', [file, ...words], {
			env,
			extendEnv: false,
			cwd: over.cwd ?? '/',
			reject: false,
		});
		if (ran.exitCode !== 0) return { code: ran.exitCode, said: ran.stderr, home: '', as: '', words: [] };
		const [scripts, as, ...got] = JSON.parse(ran.stdout) as string[];
		expect(got).toEqual(words);
		return { code: 0, said: ran.stderr, home: path.dirname(scripts as string), as };
	}

	it('looks in CCC_HOME, its own folder, the skill ccc beside it, and above, in this order', async () => {
		const root = path.join(await tempFolder(), 'a b$c');
		const checkout = path.join(root, 'checkout');
		const skill = path.join(checkout, 'skills', 'ccc-plan');
		const file = makeSkill(skill);
		const candidates = [path.join(root, 'home'), skill, path.join(checkout, 'skills', 'ccc'), checkout];
		for (const home of [...candidates].reverse()) {
			makePack(home);
			const env = { CCC_HOME: path.join(root, 'home') };
			expect(await run(file, { env })).toEqual({ code: 0, said: '', home, as: file });
		}
		expect((await run(file)).home).toBe(skill);
		expect((await run('ccc.sh', { cwd: skill })).home).toBe(skill);
	});

	it('finds the pack through a link to the skill’s folder', async () => {
		const root = await tempFolder();
		makePack(path.join(root, 'the pack'));
		makeSkill(path.join(root, 'the pack', 'skills', 'ccc'));
		const links = path.join(root, 'my skills');
		mkdirSync(links);
		symlinkSync(path.join(root, 'the pack', 'skills', 'ccc'), path.join(links, 'ccc'));
		const file = path.join(links, 'ccc', 'ccc.sh');
		expect(await run(file)).toEqual({ code: 0, said: '', home: path.join(root, 'the pack'), as: file });
	});

	it('says what is missing, and where it looked', async () => {
		const root = await tempFolder();
		const file = makeSkill(path.join(root, 'skills', 'ccc'));
		const half = path.join(root, 'half');
		makePack(half);
		rmSync(path.join(half, 'scripts'), { recursive: true });
		for (const home of ['', half, 'relative']) {
			const { code, said } = await run(file, { env: { CCC_HOME: home } });
			expect(code).toBe(3);
			expect(said).toMatch(/^Status: blocked\n/);
			expect(said).toContain(path.dirname(file));
			if (home) expect(said).toContain(home);
			expect(said).toContain('<CCC_HOME>/scripts/ccc-install.sh');
		}
		makePack(root);
		const bin = path.join(root, 'no node');
		mkdirSync(bin);
		const { stdout: dirname } = await execa('sh', ['-c', 'command -v dirname']);
		symlinkSync(dirname, path.join(bin, 'dirname'));
		const { code, said } = await run(file, { env: { PATH: bin } });
		expect({ code, said }).toEqual({ code: 70, said: 'ccc needs node in PATH. [no-node]' });
	});
});
