/** Turns an agent's final message into the artifact text it was asked for, where only its wrapping is off. */

/**
 * Unwraps a message that is one single code fence, drops what was said before the title line, and ends the text in one
 * newline. The message itself stays in the call's folder. What has no title line is returned as it is, so that the
 * validator can say what is missing.
 * @param title the artifact's title line, `# Plan v0`
 */
export function artifactFromAnswer(answer: string, title: string): string {
	let text = answer
		.replace(/^\uFEFF/, '')
		.replace(/\r\n?/g, '\n')
		.trim();
	text = unwrapFence(text, title);
	const lines = text.split('\n');
	const start = lines.findIndex((line) => line.trimEnd() === title);
	// A title inside an example would cut the real one off: only a lead-in without fences is dropped.
	const leadIn = lines.slice(0, Math.max(start, 0));
	if (start > 0 && !leadIn.some((line) => /^\s{0,3}(`{3,}|~{3,}|#)/.test(line))) text = lines.slice(start).join('\n');
	return `${text}\n`;
}

function unwrapFence(text: string, title: string): string {
	const lines = text.split('\n');
	const open = lines.findIndex((line) => /^(`{3,}|~{3,})(markdown|md)?\s*$/i.test(line));
	const fence = /^(`{3,}|~{3,})/.exec(lines[open] ?? '')?.[1];
	if (open === -1 || fence === undefined) return text;
	const first = lines.slice(open + 1).find((line) => line.trim() !== '');
	if (first?.trimEnd() !== title || lines.slice(0, open).some((line) => line.trimEnd() === title)) return text;
	const close = lines.findLastIndex((line) => line.trimEnd() === fence);
	const isLast = close > open && lines.slice(close + 1).every((line) => line.trim() === '');
	return isLast
		? lines
				.slice(open + 1, close)
				.join('\n')
				.trim()
		: text;
}
