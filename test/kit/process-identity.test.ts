import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identityOf, liveness, ownIdentity } from '../../scripts/lib/kit/process-identity.ts';

describe('an identity', () => {
	it('is the same whoever asks', async () => {
		const own = await ownIdentity();
		expect(own).toMatchObject({ pid: process.pid, host: hostname() });
		expect(await identityOf(process.pid)).toEqual(own);
		expect(await liveness(own)).toBe('alive');
	});

	it('is that of a process while it runs, and of none afterwards', async () => {
		const child = spawn('sleep', ['996'], { stdio: 'ignore' });
		onTestFinished(() => void child.kill('SIGKILL'));
		const identity = await identityOf(child.pid!);
		expect(await liveness(identity!)).toBe('alive');
		child.kill('SIGKILL');
		await once(child, 'exit');
		expect(await liveness(identity!)).toBe('dead');
		expect(await identityOf(child.pid!)).toBeUndefined();
	});

	it('is dead as a zombie', async () => {
		// The shell starts a child, becomes a program that never collects it, and the child ends.
		const child = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 996'], { stdio: ['ignore', 'pipe', 'ignore'] });
		onTestFinished(() => void child.kill('SIGKILL'));
		const pid = Number(await once(child.stdout, 'data'));
		const identity = await identityOf(pid);
		expect(await liveness(identity!)).toBe('alive');
		await expect.poll(() => liveness(identity!), { timeout: 5000 }).toBe('dead');
		expect(process.kill(pid, 0)).toBe(true);
		expect(await identityOf(pid)).toBeUndefined();
	});
});

describe('liveness', () => {
	it('is dead for another start time', async () => {
		expect(await liveness({ ...(await ownIdentity()), startTime: '1' })).toBe('dead');
	});

	it.each(['bootId', 'pidNamespace'] as const)('is unknown for another %s', async (field) => {
		expect(await liveness({ ...(await ownIdentity()), [field]: 'other' })).toBe('unknown');
		expect(await liveness({ ...(await ownIdentity()), [field]: 'unknown' })).toBe('unknown');
	});

	it('is unknown without a start time', async () => {
		expect(await liveness({ ...(await ownIdentity()), startTime: 'unknown' })).toBe('unknown');
	});
});
