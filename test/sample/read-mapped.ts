/** Reads a mapping and a CSV file, and sorts the results. */
import { readFileSync } from 'node:fs';
import type { IngestRecordInput, MarketRecord } from '../../contract/ingest/ingest-records.ts';
import type { CsvMapping } from '../../mapping/declared/csv-mapping.ts';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import type { MappedRefusal } from '../../mapping/declared/mapped-rows.ts';
import { parseMapping } from '../../mapping/declared/parse-mapping.ts';

export type MoneyObservation = Extract<IngestRecordInput, { amountMinor: number | null }>;

export interface Mapped {
  readonly markets: Map<string, MarketRecord>;
  readonly observations: { readonly line: number; readonly record: MoneyObservation }[];
  readonly refusals: MappedRefusal[];
}

export function readMapping(url: URL): CsvMapping {
  const result = parseMapping(JSON.parse(readFileSync(url, 'utf8')));
  if ('faults' in result) throw new Error(`${url.pathname}: ${JSON.stringify(result.faults)}`);
  return result.mapping;
}

export async function readMapped(mapping: CsvMapping, csv: URL): Promise<Mapped> {
  const mapped: Mapped = { markets: new Map(), observations: [], refusals: [] };
  for await (const row of mapCsv(mapping, readFileSync(csv, 'utf8'))) {
    if (row.kind === 'refusal') mapped.refusals.push(row);
    else if (row.record.type === 'market') mapped.markets.set(row.record.slug, row.record as MarketRecord);
    else mapped.observations.push({ line: row.line, record: row.record as MoneyObservation });
  }
  return mapped;
}
