/** What a coordinator tells whoever watches it; the command decides how to show it. */
import type { NumberedFinding } from './open-findings.ts';

export type ProgressEvent =
	| { readonly kind: 'stage-started'; readonly stage: string; readonly owner: string; readonly attached: boolean }
	/** While a companion works; `idleMs` since its last output. */
	| { readonly kind: 'stage-working'; readonly stage: string; readonly elapsedMs: number; readonly idleMs: number }
	| {
			readonly kind: 'stage-committed';
			readonly stage: string;
			readonly owner: string;
			readonly durationMs: number;
			readonly verdict?: string;
			/** What a review objects to. */
			readonly findings: readonly NumberedFinding[];
	  }
	| { readonly kind: 'correction'; readonly stage: string; readonly problems: readonly string[] }
	| {
			readonly kind: 'verified';
			readonly stage: string;
			readonly command: string;
			readonly timedOut: boolean;
			readonly exitCode: number | null;
			readonly durationMs: number;
	  }
	| { readonly kind: 'note' | 'warning'; readonly text: string };

export type Report = (event: ProgressEvent) => void;
