/** Maps files as an ingest does, by mappings that tests change. */
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import type { MappedRecord, MappedRefusal } from '../../mapping/declared/mapped-rows.ts';
import { parseMapping } from '../../mapping/declared/parse-mapping.ts';
import type { CsvInput } from '../../mapping/input/csv-input.ts';
import { withChange } from './example-mapping.ts';

/** Other values, or none (undefined), by their paths. */
export type Changes = Readonly<Record<string, unknown>>;

/** The document with these values at these paths. */
export function changed(document: unknown, changes: Changes): unknown {
  return Object.entries(changes).reduce((before, [path, value]) => withChange(before, path, value), document);
}

/** The pointers of the mapping's faults; none if it is taken. */
export function pointersOf(document: unknown): string[] {
  const parsed = parseMapping(document);
  return 'faults' in parsed ? parsed.faults.map(({ pointer }) => pointer) : [];
}

/** @throws Error with the faults of the mapping */
export function taken(document: unknown) {
  const parsed = parseMapping(document);
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  return parsed.mapping;
}

/** Every record and refusal that a file gives. @throws Error with the faults of the mapping */
export async function mapped(document: unknown, input: CsvInput): Promise<(MappedRecord | MappedRefusal)[]> {
  const results: (MappedRecord | MappedRefusal)[] = [];
  for await (const result of mapCsv(taken(document), input)) results.push(result);
  return results;
}
