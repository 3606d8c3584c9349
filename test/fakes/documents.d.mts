export function planDocument(version: number, ids?: readonly string[]): string;
export function codeDocument(
	version: number,
	facts: { readonly ref: string; readonly head: string; readonly ids?: readonly string[] },
): string;
