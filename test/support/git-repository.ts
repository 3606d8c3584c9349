import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { tempFolder } from './temp-folder.ts';

/** What git children of tests see: no configuration of the machine, and a fixed author. */
export const GIT_TEST_ENV: NodeJS.ProcessEnv = {
	PATH: process.env.PATH,
	LC_ALL: 'C',
	GIT_CONFIG_GLOBAL: '/dev/null',
	GIT_CONFIG_NOSYSTEM: '1',
	GIT_AUTHOR_NAME: 'Test',
	GIT_AUTHOR_EMAIL: 'test@example.invalid',
	GIT_COMMITTER_NAME: 'Test',
	GIT_COMMITTER_EMAIL: 'test@example.invalid',
	GIT_AUTHOR_DATE: '2024-01-01T00:00:00Z',
	GIT_COMMITTER_DATE: '2024-01-01T00:00:00Z',
};

export interface TestRepository {
	readonly root: string;
	/** Runs git in the repository and returns its stdout. */
	git(...args: string[]): string;
	/** Writes a file, with its folders. */
	write(name: string, content: string | Uint8Array): void;
	/** Stages everything and commits it; returns the commit's id. */
	commit(): string;
}

/** Runs git in a folder, as tests do. */
export function runTestGit(folder: string, ...args: string[]): string {
	return execFileSync('git', args, {
		cwd: folder,
		env: GIT_TEST_ENV,
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'pipe'],
	});
}

/** A real repository without commits, gone when the current test has ended, or at `folder`. */
export async function makeRepository(options: { folder?: string; sha256?: boolean } = {}): Promise<TestRepository> {
	const root = options.folder ?? path.join(await tempFolder(), 'repo');
	mkdirSync(root, { recursive: true });
	runTestGit(root, 'init', '-q', '-b', 'main', `--object-format=${options.sha256 ? 'sha256' : 'sha1'}`);
	return testRepositoryAt(root);
}

/** The same handle for a repository that is there already: a worktree, a submodule. */
export function testRepositoryAt(root: string): TestRepository {
	const git = (...args: string[]): string => runTestGit(root, ...args);
	return {
		root,
		git,
		write: (name, content) => {
			mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
			writeFileSync(path.join(root, name), content);
		},
		commit: () => {
			git('add', '-A');
			git('commit', '-q', '-m', 'commit');
			return git('rev-parse', 'HEAD').trim();
		},
	};
}

/** Adds `inner` as the submodule `name` of `outer`, commits it, and returns a handle on the copy in `outer`. */
export function addSubmodule(outer: TestRepository, inner: TestRepository, name: string): TestRepository {
	outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.root, name);
	outer.commit();
	return testRepositoryAt(path.join(outer.root, name));
}

/** The same without `.gitmodules`, in a third of the time: a clone whose commit is tracked. */
export function addClone(outer: TestRepository, inner: TestRepository, name: string): TestRepository {
	outer.git('clone', '-q', inner.root, name);
	outer.git('-c', 'advice.addEmbeddedRepo=false', 'add', name);
	return testRepositoryAt(path.join(outer.root, name));
}

/** Makes a FIFO. */
export function makeFifo(file: string): void {
	const command = 'mkfifo';
	execFileSync(command, [file]);
}
