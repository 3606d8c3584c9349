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
const GENERATED_FOLDERS = new Set(['dist', 'build', '__snapshots__', '__generated__']);
const GENERATED_NAME =
	/(?:\.min\.(?:js|mjs|cjs|css)|\.map|\.snap|\.pb\.go|\.pb\.(?:cc|h)|_pb2(?:_grpc)?\.pyi?|\.g\.dart|\.designer\.cs|\.generated\.[a-z0-9]+)$/i;

/** The reason for which a file may be summarised, by its path alone. */
export function kindOfPath(path: string): SummaryReason | undefined {
	const parts = path.split('/');
	const name = parts.pop() ?? '';
	if (LOCKFILES.has(name.toLowerCase())) return 'lockfile';
	if (parts.some((part) => VENDORED.has(part))) return 'vendored';
	if (GENERATED_NAME.test(name) || parts.some((part) => GENERATED_FOLDERS.has(part))) return 'generated';
	return undefined;
}

/** Whether a file says in a comment of its first lines that a program wrote it. */
export function saysGenerated(head: string): boolean {
	return head
		.split('\n', 10)
		.some(
			(line) =>
				/^\s*(?:\/\/|\/\*|\*|#|--|;|<!--|%|"""|')/.test(line) &&
				/@generated\b|\bdo not (?:edit|modify)\b|\b(?:code|auto(?:matically)?)[- ]?generated\b/i.test(line),
		);
}
