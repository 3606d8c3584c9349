// A verify command that takes a moment, at most FAKE_VERIFY_MS (60).
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const longest = Number(process.env.FAKE_VERIFY_MS ?? 60);
await sleep(longest / 2 + (Math.random() * longest) / 2);
process.exitCode = readFileSync('value.txt', 'utf8').startsWith('value ') ? 0 : 1;
