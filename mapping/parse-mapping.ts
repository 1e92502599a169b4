/** Validates a mapping document. */
import { flattenIssues, pointerOf } from '../contract/zod-pointers.ts';
import { type CsvMapping, csvMappingSchema, type MappingFault } from './csv-mapping.ts';
import { findReferenceFaults } from './mapping-references.ts';

export type MappingResult =
  | { readonly mapping: CsvMapping }
  | { readonly faults: readonly [MappingFault, ...MappingFault[]] };

/** Checks the shape, and that every placeholder names an available column. Reports all faults at once. */
export function parseMapping(input: unknown): MappingResult {
  const parsed = csvMappingSchema.safeParse(input);
  const faults = parsed.success
    ? findReferenceFaults(parsed.data)
    : flattenIssues(parsed.error.issues).map((issue) => ({ pointer: pointerOf(issue.path), detail: issue.message }));
  const [first, ...others] = faults;
  if (first !== undefined) return { faults: [first, ...others] };
  return { mapping: parsed.data as CsvMapping };
}
