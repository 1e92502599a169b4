/** Applies a CSV mapping: rows become ingest records, or refusals that name their line. */

import type { IngestRecordInput } from '../contract/ingest-records.ts';
import type { CsvMapping } from './csv-mapping.ts';
import { type CsvText, readCsv } from './csv-rows.ts';
import { marketMapper } from './map-market.ts';
import { observationMapper } from './map-observation.ts';
import { addedColumns, requiredColumns } from './mapping-references.ts';
import { RowColumns, type RowRefusal } from './row-columns.ts';

/** A record from a line of the file. A market's record comes directly before its first observation. */
export interface MappedRecord {
  readonly kind: 'record';
  readonly line: number;
  readonly record: IngestRecordInput;
}

/** Why a line of the file gave no record. */
export interface MappedRefusal extends RowRefusal {
  readonly kind: 'refusal';
  readonly line: number;
}

/**
 * Maps a file, row by row, in the order of its lines. Keeps only the current piece of text and one entry for each
 * market in memory. All faults of a row are reported at once. Faults of the whole file (no header, columns missing or
 * named twice, an open quote) are refusals of their line and end the reading.
 */
export async function* mapCsv(mapping: CsvMapping, text: CsvText): AsyncGenerator<MappedRecord | MappedRefusal> {
  const toMarket = marketMapper(mapping);
  const toObservation = observationMapper(mapping);
  let columns: RowColumns | null = null;
  for await (const row of readCsv(text, mapping.csv.delimiter)) {
    const { line } = row;
    if (row.kind === 'fault') {
      yield { kind: 'refusal', line, column: row.column, pointer: '', code: 'record.invalid', detail: row.detail };
    } else if (row.kind === 'header') {
      const refusals = headerRefusals(mapping, row.fields);
      for (const refusal of refusals) yield { kind: 'refusal', line, ...refusal };
      if (refusals.length > 0) return;
      columns = new RowColumns(mapping, row.fields);
    } else if (columns !== null) {
      const unlisted = columns.fill(row.fields);
      const market = unlisted.length > 0 ? { refusals: unlisted } : toMarket(columns);
      if ('refusals' in market) {
        for (const refusal of market.refusals) yield { kind: 'refusal', line, ...refusal };
        continue;
      }
      if (market.isNew) yield { kind: 'record', line, record: market.record };
      const observation = toObservation(columns, market.record);
      if ('record' in observation) yield { kind: 'record', line, record: observation.record };
      else for (const refusal of observation.refusals) yield { kind: 'refusal', line, ...refusal };
    }
  }
}

function headerRefusals(mapping: CsvMapping, header: readonly string[]): RowRefusal[] {
  const refuse = (column: string, detail: string): RowRefusal => ({
    column,
    pointer: '',
    code: 'record.invalid',
    detail,
  });
  const missing = [...requiredColumns(mapping)].filter((column) => !header.includes(column));
  const clashing = addedColumns(mapping).filter((column) => header.includes(column));
  return [
    ...missing.map((column) => refuse(column, `there is no column "${column}"; the file has: ${header.join(', ')}`)),
    ...clashing.map((column) =>
      refuse(column, `the mapping adds a column "${column}", but the file already has a column of that name`),
    ),
  ];
}
