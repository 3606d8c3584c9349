/** Which files a reader can do without when a review grows too long: never source or tests. */

export type SummaryReason = 'lockfile' | 'generated' | 'vendored' | 'binary' | 'too-large';

const LOCKFILES = new Set([
	'package-lock.json',
	'npm-shrinkwrap.json',
	'yarn.lock',
	'pnpm-lock.yaml',
	'bun.lock',
	'bun.lockb',
	'deno.lock',
	'cargo.lock',
	'gemfile.lock',
	'poetry.lock',
	'uv.lock',
	'pdm.lock',
	'pixi.lock',
	'pipfile.lock',
	'conda-lock.yml',
	'composer.lock',
	'go.sum',
	'go.work.sum',
	'flake.lock',
	'mix.lock',
	'pubspec.lock',
	'packages.lock.json',
	'gradle.lockfile',
	'podfile.lock',
	'cartfile.resolved',
	'package.resolved',
	'chart.lock',
	'.terraform.lock.hcl',
	'module.bazel.lock',
]);
const VENDORED = new Set(['vendor', 'third_party', 'third-party', 'node_modules', 'bower_components']);
const TEST_FOLDERS = new Set(['test', 'tests', '__tests__']);
const TEST_NAME = /[._-](?:test|spec)\.|^test_.*\.py$/i;
const GENERATED_NAME =
	/(?:\.min\.(?:js|mjs|cjs|css)|\.(?:[cm]?[jt]sx?|css|wasm)\.map|\.snap|\.pb\.go|\.pb\.(?:cc|h)|_pb2(?:_grpc)?\.pyi?|\.g\.dart|\.designer\.cs|\.generated\.[a-z0-9]+)$/i;
/** People keep sources in these too: only what is also named like a product of a build counts. */
const BUILD_FOLDERS = new Set(['dist', 'build']);
const BUILD_PRODUCT = /\.(?:map|(?:bundle|chunk)\.(?:js|mjs|cjs|css))$/i;

const SOURCE_EXTENSIONS = new Set(
	`js mjs cjs jsx ts mts cts tsx vue svelte astro coffee py pyi pyx rb rs go java kt kts scala groovy gradle clj cljs
	c h cc cpp cxx hh hpp hxx m mm swift cs fs fsx vb php pl pm lua r jl dart ex exs erl hrl hs ml mli elm nim zig v sv
	vhd vhdl asm s d pas f90 sol sh bash zsh fish ps1 psm1 bat cmd sql graphql gql proto tf nix cmake mk awk tcl lisp el
	scm rkt html htm css scss sass less hbs ejs pug twig jinja j2 mdx`.split(/\s+/),
);

/** The reason for which a file may be summarised, by its path alone. */
export function kindOfPath(path: string): SummaryReason | undefined {
	const folders = path.split('/');
	const name = folders.pop() ?? '';
	const isIn = (names: ReadonlySet<string>): boolean => folders.some((folder) => names.has(folder));
	if (LOCKFILES.has(name.toLowerCase())) return 'lockfile';
	if (isIn(VENDORED) && !TEST_NAME.test(name) && !isIn(TEST_FOLDERS)) return 'vendored';
	if (GENERATED_NAME.test(name) || folders.includes('__generated__')) return 'generated';
	if (folders.includes('__snapshots__') && !isSource(path)) return 'generated';
	return isIn(BUILD_FOLDERS) && BUILD_PRODUCT.test(name) ? 'generated' : undefined;
}

/**
 * Whether the name is that of a program's source or test: a known extension, a test's name, or no extension at all
 * (`Makefile`, scripts). Data files are not, wherever they are.
 */
export function isSource(path: string): boolean {
	const name = path.slice(path.lastIndexOf('/') + 1);
	const dot = name.lastIndexOf('.');
	return dot <= 0 || TEST_NAME.test(name) || SOURCE_EXTENSIONS.has(name.slice(dot + 1).toLowerCase());
}

const COMMENT = /^\s*(?:\/\/|\/\*|\*|#|--|;|<!--|%|"""|')/;

/**
 * Whether the comments of a file's first lines say that a program wrote it: with the tag `@generated`, or with "do not
 * edit" together with "generated". Either of these two words alone is what people write about a part of their code.
 */
export function saysGenerated(head: string): boolean {
	const lines = head.split('\n', 10).filter((line) => COMMENT.test(line));
	const says = (words: RegExp): boolean => lines.some((line) => words.test(line));
	return says(/(?:^|[\s*/#])@generated\b/) || (says(/\bdo not edit\b/i) && says(/\b(?:auto)?generated\b/i));
}
