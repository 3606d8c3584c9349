/** What each kind of artifact has to hold, as data (protocol: Artifact Contracts). */
import type { Stage, StageKind } from './stages.ts';

export interface Contract {
	/** Text of the `# ` heading. */
	readonly title: string;
	/** Texts of the `## ` headings, in the order the artifact must have them. */
	readonly sections: readonly string[];
	/** The section that says what changed, and the whole text it has in version 0. */
	readonly changes?: { readonly section: string; readonly initial: string };
	/** The section that ties the artifact to the run's baseline, and its keys. */
	readonly baseline?: { readonly section: string; readonly keys: readonly ('run_start_ref' | 'current_head')[] };
	/** The section that holds a table, and the cells of its header. */
	readonly table?: { readonly section: string; readonly header: readonly [string, string] };
}

type Template = Omit<Contract, 'title'>;

const TITLES: Record<StageKind, (version: number) => string> = {
	plan: (version) => `Plan v${version}`,
	plan_review: (version) => `Plan v${version} Review`,
	code: (version) => `Code v${version}`,
	review: (version) => `Review v${version}`,
};

const TEMPLATES: Record<StageKind, Template> = {
	plan: {
		sections: [
			'Summary',
			'Scope',
			'Proposed Changes',
			'Files and Areas',
			'Verification Plan',
			'Risks and Questions',
			'Changes Since Previous Plan Version',
		],
		changes: { section: 'Changes Since Previous Plan Version', initial: 'Initial plan.' },
	},
	plan_review: { sections: ['Summary', 'Findings', 'Questions', 'Verdict'] },
	code: {
		sections: [
			'Overview',
			'What Changed',
			'Implementation Details',
			'Files Changed',
			'Git Baseline',
			'Verification',
			'Review Focus',
			'Risks and Unknowns',
			'Changes Since Previous Code Version',
		],
		changes: { section: 'Changes Since Previous Code Version', initial: 'Initial implementation.' },
		baseline: { section: 'Git Baseline', keys: ['run_start_ref', 'current_head'] },
		table: { section: 'Files Changed', header: ['File', 'Purpose'] },
	},
	review: {
		sections: ['Summary', 'Diff Baseline', 'Findings', 'Tests to Add', 'Questions', 'Verdict'],
		baseline: { section: 'Diff Baseline', keys: ['run_start_ref'] },
	},
};

/** The contract of the stage's artifact. */
export function contractOf(stage: Stage): Contract {
	return { title: TITLES[stage.kind](stage.version), ...TEMPLATES[stage.kind] };
}
