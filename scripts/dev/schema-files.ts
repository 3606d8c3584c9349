/** The JSON schemas of the pack, generated from their zod definitions. Pure. */
import { z } from 'zod';
import { errorOutput, outputs } from '../ccc/outputs.ts';

/** Text by file name, as it stands in schemas/. */
export function schemaFiles(): Map<string, string> {
	const files = new Map<string, string>();
	for (const [command, output] of Object.entries(outputs)) {
		files.set(
			`ccc-${command}.schema.json`,
			render(`What \`ccc ${command} --json\` prints`, z.union([output, errorOutput])),
		);
	}
	return files;
}

function render(title: string, schema: z.ZodType): string {
	const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'output' });
	return `${JSON.stringify({ $schema, title, ...rest }, null, 2)}\n`;
}
