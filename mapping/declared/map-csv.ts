/** Applies a mapping: the rows of a CSV file or JSON document become ingest records, or refusals that name their line. */

import type { IngestRecordInput, MarketRecord } from '../../contract/ingest/ingest-records.ts';
import { holdsHidden, quotedText } from '../../contract/problems/row-refusal-text.ts';
import { withoutInvisible } from '../../contract/values/public-text.ts';
import type { CsvInput } from '../input/csv-input.ts';
import { type CsvFault, type CsvRow, readCsv } from '../input/csv-rows.ts';
import { readJsonRows } from '../input/json-rows.ts';
import { RowColumns, type RowRefusal } from '../input/row-columns.ts';
import { rowMelter, unpivotedColumns } from '../input/wide-rows.ts';
import { RUN_DATE } from '../values/template.ts';
import type { CsvMapping } from './csv-mapping.ts';
import { dateMapper } from './map-date.ts';
import { marketMapper } from './map-market.ts';
import { leftOutTest, observationMapper } from './map-observation.ts';
import { addedColumns, requiredColumns } from './mapping-references.ts';

/**
 * A record from a line of the file. A market's record comes directly before its first observation that is not refused:
 * rows that give no observation define no market.
 */
export interface MappedRecord {
  readonly kind: 'record';
  readonly line: number;
  readonly record: IngestRecordInput;
  /** More than milliseconds were dropped from one of its times. */
  readonly isTimeCut?: true;
}

/** Why a line of the file gave no record. */
export interface MappedRefusal extends RowRefusal {
  readonly kind: 'refusal';
  readonly line: number;
}

/** The results of one row. */
export interface MappedRow {
  readonly kind: 'row';
  readonly line: number;
  /** Values that the row has: more than one in a wide table, none in a row that is not readable. */
  readonly values: number;
  /** Values that the mapping leaves out: blank ones, and rows that a table does not list. */
  readonly leftOut: number;
  readonly results: readonly (MappedRecord | MappedRefusal)[];
}

/** The names of the file's columns. */
interface MappedHeader {
  readonly kind: 'header';
  readonly columns: readonly string[];
}

/**
 * Maps a file, row by row, in the order of its lines. Keeps only the current piece of text and one entry for each
 * market in memory; of a JSON document, the whole. All faults of a row are reported at once. Faults of the whole file (no header, columns missing or
 * named twice, an open quote) are refusals of their line and end the reading.
 *
 * @param runDate the value of the column `runDate`, if the mapping reads it; null for files that no run has fetched
 */
export async function* mapCsv(
  mapping: CsvMapping,
  csv: CsvInput,
  runDate: string | null = null,
): AsyncGenerator<MappedRecord | MappedRefusal> {
  for await (const row of mapCsvRows(mapping, csv, runDate)) {
    // `yield*` would make a promise more for each record.
    if (row.kind === 'row') for (const result of row.results) yield result;
  }
}

/** As `mapCsv`, with the columns first, and then the results of each row together. */
export async function* mapCsvRows(
  mapping: CsvMapping,
  csv: CsvInput,
  runDate: string | null = null,
): AsyncGenerator<MappedHeader | MappedRow> {
  const added = runDate !== null && requiredColumns(mapping).has(RUN_DATE) ? [runDate] : [];
  let toResults: ((row: CsvRow) => MappedRow) | null = null;
  for await (const row of rowsOf(mapping, csv)) {
    if (row.kind === 'fault') {
      const { line, column, detail } = row;
      const results = refusalsOf(line, [{ column, pointer: '', code: 'record.invalid', detail }]);
      yield { kind: 'row', line, values: 0, leftOut: 0, results };
    } else if (toResults === null) {
      yield { kind: 'header', columns: row.fields };
      const header = [...row.fields, ...added.map(() => RUN_DATE)];
      const refusals = headerRefusals(mapping, header);
      if (refusals.length > 0) {
        yield { kind: 'row', line: row.line, values: 0, leftOut: 0, results: refusalsOf(row.line, refusals) };
        return;
      }
      toResults = rowMapper(mapping, header);
    } else {
      yield toResults(added.length === 0 ? row : { ...row, fields: [...row.fields, ...added] });
    }
  }
}

async function* rowsOf({ csv, json, invisible }: CsvMapping, input: CsvInput): AsyncGenerator<CsvRow | CsvFault> {
  const rows = json === undefined ? readCsv(input, csv) : readJsonRows(input, json);
  if (invisible === 'refuse') return yield* rows;
  for await (const row of rows) {
    yield row.kind === 'fault' ? row : { ...row, fields: row.fields.map((cell) => withoutInvisible(cell).trim()) };
  }
}

function rowMapper(mapping: CsvMapping, header: readonly string[]): (row: CsvRow) => MappedRow {
  const melter = rowMelter(mapping, header);
  const columns = new RowColumns(mapping, melter.header);
  const isLeftOut = leftOutTest(mapping);
  const toMarket = marketMapper(mapping);
  const { date } = mapping.observation;
  const dateOf = dateMapper(date, '/observedAt', mapping.match);
  const toObservation = observationMapper(mapping, dateOf);
  /** A row that gives nothing is one of two equal times, too. */
  const passTime = () => date.overlap === 'in-order' && dateOf(columns);
  const defined = new Set<MarketRecord>();
  const isAdded = (column: string | null) => column === mapping.unpivot?.name || column === mapping.unpivot?.value;
  return ({ line, fields }) => {
    const results: (MappedRecord | MappedRefusal)[] = [];
    let values = 0;
    let leftOut = 0;
    for (const { fields: long, from } of melter.melt(fields)) {
      values += 1;
      columns.load(long);
      const isBlank = isLeftOut(columns);
      const unlisted = isBlank && date.overlap !== 'in-order' ? 'leave-out' : columns.lookUp();
      if (isBlank || unlisted === 'leave-out') {
        leftOut += 1;
        passTime();
        continue;
      }
      const market = unlisted.length > 0 ? { refusals: unlisted } : toMarket(columns);
      if (!('record' in market)) passTime();
      const result = 'record' in market ? toObservation(columns, market.record) : market;
      if ('refusals' in result) {
        results.push(...refusalsOf(line, result.refusals, (column) => (isAdded(column) ? from : column)));
        continue;
      }
      if ('record' in market && !defined.has(market.record)) {
        defined.add(market.record);
        results.push({ kind: 'record', line, record: market.record });
      }
      const { record, isTimeCut } = result;
      results.push({ kind: 'record', line, record, ...(isTimeCut ? { isTimeCut } : {}) });
    }
    return { kind: 'row', line, values, leftOut, results };
  };
}

function refusalsOf(
  line: number,
  refusals: readonly RowRefusal[],
  inFile: (column: string | null) => string | null = (column) => column,
): MappedRefusal[] {
  return refusals.map((refusal) => ({ kind: 'refusal', line, ...refusal, column: inFile(refusal.column) }));
}

/** Names stay as they are, unless they hold characters that nobody sees. */
function nameInWords(name: string): string {
  return holdsHidden(name) ? quotedText(name) : name;
}

function headerRefusals(mapping: CsvMapping, header: readonly string[]): RowRefusal[] {
  const refuse = (column: string | null, detail: string): RowRefusal => ({
    column,
    pointer: '',
    code: 'record.invalid',
    detail,
  });
  const missing = [...requiredColumns(mapping)].filter((column) => !header.includes(column));
  if (missing.length > 0 && mapping.json === undefined && /^[{[]/.test(header[0] ?? '')) {
    return [refuse(null, 'begins like JSON: say where its rows are, by "json" in the mapping in place of "csv"')];
  }
  if (missing.length > 0 && mapping.json === undefined && header.some((name) => /[\0\uFFFD]/.test(name))) {
    const detail = `is not written in ${mapping.csv.encoding}: give the file's encoding as csv.encoding, e.g. "utf-16le" or "windows-1252"`;
    return [refuse(null, detail)];
  }
  const twice = header.indexOf(RUN_DATE) === header.lastIndexOf(RUN_DATE) ? [] : [RUN_DATE];
  const named = header.filter((name) => name !== '' && name !== RUN_DATE);
  // Names that differ only in characters that are stripped.
  const same = new Set(named.filter((name, index) => named.indexOf(name) !== index));
  const clashing = [...addedColumns(mapping).filter((column) => header.includes(column)), ...twice];
  return [
    ...missing.map((column) =>
      refuse(column, `there is no column ${quotedText(column)}; the file has: ${header.map(nameInWords).join(', ')}`),
    ),
    ...[...same].map((column) => refuse(column, `two columns are named ${quotedText(column)}: rename one of them`)),
    ...clashing.map((column) =>
      refuse(column, `the mapping adds a column "${column}", but the file already has a column of that name`),
    ),
    ...(mapping.unpivot !== undefined && unpivotedColumns(mapping.unpivot, header).length === 0
      ? [
          refuse(
            mapping.unpivot.value,
            'unpivot excepts all columns of the file: leave at least one column with values',
          ),
        ]
      : []),
  ];
}
