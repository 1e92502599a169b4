/** Validates a mapping document. */
import { flattenIssues, pointerOf } from '../../contract/values/zod-pointers.ts';
import { plainWords } from '../../contract/values/zod-words.ts';
import { type CsvMapping, csvMappingSchema } from './csv-mapping.ts';
import { findReferenceFaults } from './mapping-references.ts';
import { isFaulty, type MappingFaults, readJsonc, withUnfilled } from './parse-jsonc.ts';

export type MappingResult = { readonly mapping: CsvMapping } | { readonly faults: MappingFaults };

/** Checks the shape, and that every placeholder names an available column. Reports all faults at once. */
export function parseMapping(input: unknown): MappingResult {
  const parsed = csvMappingSchema.safeParse(input, { error: plainWords });
  const faults = parsed.success
    ? findReferenceFaults(parsed.data)
    : flattenIssues(parsed.error.issues).map((issue) => ({ pointer: pointerOf(issue.path), detail: issue.message }));
  const all = withUnfilled(input, faults);
  return isFaulty(all) ? { faults: all } : { mapping: parsed.data as CsvMapping };
}

/** As `parseMapping`, from JSON with comments and trailing commas. Faults name the line of the text, too. */
export function parseMappingText(text: string): MappingResult {
  return readJsonc(text, parseMapping);
}
