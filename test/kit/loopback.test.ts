import { createServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isListeningRefused } from '../../scripts/lib/kit/loopback.ts';

describe('isListeningRefused', () => {
	afterEach(() => vi.restoreAllMocks());

	it('listens where it may', async () => {
		expect(await isListeningRefused()).toBe(false);
	});

	it.each([
		['EPERM', true],
		['EACCES', true],
		['EADDRNOTAVAIL', false],
	])('%s: %s', async (code, refused) => {
		const prototype = Object.getPrototypeOf(createServer());
		vi.spyOn(prototype, 'listen').mockImplementation(function (this: NodeJS.EventEmitter) {
			process.nextTick(() => this.emit('error', Object.assign(new Error(`listen ${code}`), { code })));
			return this;
		});
		expect(await isListeningRefused()).toBe(refused);
	});
});
