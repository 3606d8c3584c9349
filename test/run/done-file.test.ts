import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDone, renderDone } from '../../scripts/lib/run/done-file.ts';
import type { Stage } from '../../scripts/lib/run/stages.ts';

const STAGE: Stage = { kind: 'plan_review', version: 2 };
const check = (text: string) =>
	parseDone(new TextEncoder().encode(text), 'state/x.done', STAGE).map(({ line, code }) => `${line} ${code}`);

describe('a .done file', () => {
	it('is to the letter what the protocol gives', () => {
		expect(renderDone(STAGE)).toBe(
			'---\nstage: plan_v2_review\nartifact: artifacts/plan_v2_review.md\nstatus: complete\n---\nCompleted by CCC coordinator after artifact validation.\n',
		);
	});

	it('is valid as rendered, for every stage and in every spelling', () => {
		const stages = fc.record({
			kind: fc.constantFrom('plan', 'plan_review', 'code', 'review'),
			version: fc.nat(99),
		}) as fc.Arbitrary<Stage>;
		fc.assert(
			fc.property(stages, (stage) => {
				const text = renderDone(stage);
				for (const spelling of [text, text.replaceAll('\n', '\r\n'), text.replaceAll('\n', '\r'), `\uFEFF${text}`]) {
					expect(parseDone(new TextEncoder().encode(spelling), 'f', stage)).toEqual([]);
				}
			}),
		);
	});

	it.each([
		['another stage', (text: string) => text.replace('stage: plan_v2_review', 'stage: plan_v2'), ['2 wrong-stage']],
		['another artifact', (text: string) => text.replace('artifacts/', ''), ['3 wrong-artifact']],
		['another status', (text: string) => text.replace('status: complete', 'status: done'), ['4 wrong-status']],
		['a missing key', (text: string) => text.replace('status: complete\n', ''), ['1 missing-key']],
		['a further key', (text: string) => text.replace('status:', 'by: me\nstatus:'), ['4 unknown-key']],
		['a key twice', (text: string) => text.replace('status:', 'status: complete\nstatus:'), ['5 bad-front-matter']],
		['another closing line', (text: string) => text.replace('after', 'before'), ['6 wrong-closing']],
		['no closing line', (text: string) => text.replace(/Completed.*/, ''), ['6 wrong-closing']],
		['no front matter', () => 'done\n', ['1 bad-front-matter']],
		['nothing', () => '', ['1 bad-front-matter']],
		['NUL', (text: string) => text.replace('C', '\0'), ['6 nul-byte']],
	])('is reported with its line: %s', (_, change, expected) => {
		expect(check(change(renderDone(STAGE)))).toEqual(expected);
	});
});
