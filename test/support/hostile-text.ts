import fc from 'fast-check';

const MARKS = [
	...['# Plan v0 Review', '## Findings', '## Verdict', '## Summary', '### x', 'VERDICT: APPROVE', 'AUTO OVERRIDE: x'],
	...[
		'READY: yes',
		'BLOCKED: x',
		'- ',
		'- P1 [minor] x',
		'* ',
		'+ ',
		'1. ',
		'2) ',
		'> ',
		'```',
		'````',
		'~~~',
		'---',
		'===',
	],
	...[
		'<!--',
		'-->',
		'<div>',
		'<pre>',
		'</pre>',
		'<script>',
		'[a]: b',
		'[a]: b "',
		'"',
		'| a | b |',
		'|---|---|',
		'\\',
		'`',
		'**',
	],
	...['[major]', '[minor]', 'text', 'é', '\u00a0', '\u2028', '{{stage}}', '$&', '\n', '\n\n', ' ', '  ', '\t', '    '],
];

/** Text in which whatever means something to Markdown or to an artifact turns up often. LF line ends, no NUL. */
export const hostileText = (maxLength = 20): fc.Arbitrary<string> =>
	fc
		.array(
			fc.oneof(
				{ weight: 6, arbitrary: fc.constantFrom(...MARKS) },
				{ weight: 2, arbitrary: fc.constant('\n') },
				{ weight: 1, arbitrary: fc.string({ maxLength: 4 }) },
			),
			{ maxLength },
		)
		.map((parts) => parts.join('').replace(/[\r\0]/g, ''));
