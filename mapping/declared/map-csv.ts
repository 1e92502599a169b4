/** Applies a mapping: the rows of a CSV file or JSON document become ingest records, or refusals that name their line. */

import type { MarketRecord } from '../../contract/ingest/ingest-records.ts';
import { holdsHidden, quotedText } from '../../contract/problems/row-refusal-text.ts';
import { withoutInvisible } from '../../contract/values/public-text.ts';
import type { CsvInput } from '../input/csv-input.ts';
import { type CsvFault, type CsvRow, readCsv } from '../input/csv-rows.ts';
import { readJsonRows } from '../input/json-rows.ts';
import { RowColumns, type RowPart, type RowRefusal } from '../input/row-columns.ts';
import { rowMelter, unpivotedColumns } from '../input/wide-rows.ts';
import { isRunColumn, RUN_COLUMNS, type RunColumns } from '../values/template.ts';
import { bothHours } from './both-hours.ts';
import { type CsvMapping, isExact, metricsOf } from './csv-mapping.ts';
import { withQuantities } from './exact-quantities.ts';
import { attributeMapper } from './map-attributes.ts';
import { momentMapper, type RowMoment } from './map-date.ts';
import { marketMapper } from './map-market.ts';
import { observationMapper } from './map-observation.ts';
import { leftOutTest } from './map-value.ts';
import type { MappedRecord, MappedRefusal, MappedRow } from './mapped-rows.ts';
import { addedColumns, factColumns, optionalColumns, requiredColumns } from './mapping-references.ts';
import { RepeatedRecords, repeatFault } from './repeated-records.ts';

/** The names of the file's columns. */
interface MappedHeader {
  readonly kind: 'header';
  readonly columns: readonly string[];
  /** The columns of facts that the file lacks. */
  readonly lacking: readonly MappedRefusal[];
}

/** The columns that a file may lack: none, those of facts alone (each is named), or all of `optionalColumns`. */
export type MayLack = 'nothing' | 'facts' | 'optional';

/**
 * Maps a file, row by row, in the order of its lines. Keeps only the current piece of text and one entry for each market in
 * memory; of a JSON document, the whole. All faults of a row are reported at once. Faults of the whole file (no header, columns
 * missing or named twice, an open quote) are refusals of their line and end the reading. With exact quantities, the records of
 * the whole file are in memory. Of two rows about one observation, the later one is refused; `ContradictedRecords` finds the first.
 *
 * @param run the columns of the run that fetched the file, some of which the mapping may use; null for other files
 * @param mayLack `optional` for a file from before such columns were added
 */
export async function* mapCsv(
  mapping: CsvMapping,
  csv: CsvInput,
  run: RunColumns | null = null,
  mayLack: MayLack = 'nothing',
): AsyncGenerator<MappedRecord | MappedRefusal> {
  let number = 0;
  let lacking: readonly MappedRefusal[] = [];
  for await (const row of mapCsvRows(mapping, csv, run, mayLack)) {
    if (row.kind === 'header') {
      lacking = row.lacking;
      continue;
    }
    number += 1;
    // `yield*` would create one more promise for each record.
    for (const result of row.results) yield result.kind === 'refusal' ? { ...result, row: number } : result;
  }
  yield* lacking;
}

/** As `mapCsv`: first the columns, then the results of each row together. */
export function mapCsvRows(
  mapping: CsvMapping,
  csv: CsvInput,
  run: RunColumns | null = null,
  mayLack: MayLack = 'nothing',
): AsyncGenerator<MappedHeader | MappedRow> {
  const rows = mappedRows(mapping, csv, run, mayLack);
  return isExact(mapping) ? withQuantities(rows) : rows;
}

async function* mappedRows(
  mapping: CsvMapping,
  csv: CsvInput,
  run: RunColumns | null,
  mayLack: MayLack,
): AsyncGenerator<MappedHeader | MappedRow> {
  const required = requiredColumns(mapping);
  const names = run === null ? [] : RUN_COLUMNS.filter((name) => required.has(name));
  let added = names.map((name) => (run as RunColumns)[name]);
  let toResults: ((row: CsvRow, number: number) => MappedRow) | null = null;
  let number = -1;
  const rows = rowsOf(mapping, csv);
  for await (const row of mapping.observation.date.overlap === 'in-order' ? bothHours(mapping, rows) : rows) {
    number += 1;
    if (row.kind === 'fault') {
      const { line, column, detail } = row;
      const results = refusalsOf(line, [{ column, pointer: '', code: 'record.invalid', detail }]);
      yield { kind: 'row', line, values: 0, leftOut: 0, results };
    } else if (toResults === null) {
      const present = [...row.fields, ...names];
      const missing = [...columnsToLack(mapping, mayLack)].filter((name) => !present.includes(name));
      added = [...added, ...missing.map(() => '')];
      const header = [...present, ...missing];
      const refusals = headerRefusals(mapping, header, row.fields);
      const lacking = mayLack === 'facts' && refusals.length === 0 ? missing.map(withoutFact) : [];
      const notes = refusalsOf(row.line, lacking).map((refusal) => ({ ...refusal, isOfFacts: true }) as const);
      yield { kind: 'header', columns: row.fields, lacking: notes };
      if (refusals.length > 0) {
        yield { kind: 'row', line: row.line, values: 0, leftOut: 0, results: refusalsOf(row.line, refusals) };
        return;
      }
      toResults = rowMapper(mapping, header);
    } else {
      yield toResults(added.length === 0 ? row : { ...row, fields: [...row.fields, ...added] }, number);
    }
  }
}

async function* rowsOf({ csv, json, xml, invisible }: CsvMapping, input: CsvInput): AsyncGenerator<CsvRow | CsvFault> {
  const rows = json ? readJsonRows(input, json) : xml ? await xmlRows(input, xml) : readCsv(input, csv);
  if (invisible === 'refuse') return yield* rows;
  for await (const row of rows) {
    yield row.kind === 'fault' ? row : { ...row, fields: row.fields.map((cell) => withoutInvisible(cell).trim()) };
  }
}

/** The parser is loaded only for XML documents. */
async function xmlRows(
  input: CsvInput,
  xml: NonNullable<CsvMapping['xml']>,
): Promise<AsyncIterable<CsvRow | CsvFault>> {
  const { readXmlRows } = await import('../input/xml-rows.ts');
  return readXmlRows(input, xml);
}

function rowMapper(mapping: CsvMapping, header: readonly string[]): (row: CsvRow, number: number) => MappedRow {
  const melter = rowMelter(mapping, header);
  const columns = new RowColumns(mapping, melter.header);
  const toMarket = marketMapper(mapping);
  const readDate = momentMapper(mapping.observation.date, '/observedAt');
  /** The date of a row's first metric applies to all its metrics. */
  let moment: RowPart<RowMoment> | null = null;
  let meant: number | undefined;
  const dateOf = () => {
    moment ??= readDate(columns, meant);
    return moment;
  };
  const metrics = metricsOf(mapping).map((metric) => ({
    isLeftOut: leftOutTest(metric),
    toObservation: observationMapper(mapping, metric, dateOf),
  }));
  const withAttributes = attributeMapper(mapping);
  const repeated = new RepeatedRecords();
  // A document may be one long line.
  const unit = mapping.json === undefined && mapping.xml === undefined ? 'line' : 'row';
  const defined = new Set<MarketRecord>();
  const isAdded = (column: string | null) => column === mapping.unpivot?.name || column === mapping.unpivot?.value;
  return ({ line, fields, meantMs }, number) => {
    const results: (MappedRecord | MappedRefusal)[] = [];
    meant = meantMs;
    let values = 0;
    let leftOut = 0;
    for (const { fields: long, from } of melter.melt(fields)) {
      values += metrics.length;
      moment = null;
      columns.load(long);
      const stated = metrics.filter(({ isLeftOut }) => !isLeftOut(columns));
      const unlisted = stated.length === 0 ? 'leave-out' : columns.lookUp();
      if (unlisted === 'leave-out') {
        leftOut += metrics.length;
        continue;
      }
      leftOut += metrics.length - stated.length;
      const market = unlisted.length > 0 ? { refusals: unlisted } : toMarket(columns);
      if (!('record' in market)) {
        results.push(...refusalsOf(line, market.refusals, (column) => (isAdded(column) ? from : column)));
        continue;
      }
      for (const { toObservation } of stated) {
        const result = toObservation(columns, market.record);
        if ('refusals' in result) {
          const refusals = refusalsOf(line, result.refusals, (column) => (isAdded(column) ? from : column));
          results.push(...refusals.map((refusal) => ({ ...refusal, market: market.record.slug })));
          continue;
        }
        const { record } = result;
        if (!defined.has(market.record)) {
          const definition = withAttributes(columns, market.record, record);
          if ('refusals' in definition) {
            results.push(...refusalsOf(line, definition.refusals));
            break;
          }
          defined.add(market.record);
          results.push({ kind: 'record', line, record: definition.value });
        }
        const earlier = repeated.earlierOf(record, unit === 'row' ? number : line);
        if (earlier?.isSame && mapping.observation.repeats === 'leave-out') leftOut += 1;
        else if (earlier !== null) results.push({ kind: 'refusal', line, ...repeatFault(earlier, unit, LEAVE_OUT) });
        else results.push({ kind: 'record', line, record });
      }
    }
    return { kind: 'row', line, values, leftOut, results };
  };
}

const LEAVE_OUT = ', or write "repeats": "leave-out" in the observation of the mapping';

function refusalsOf(
  line: number,
  refusals: readonly RowRefusal[],
  inFile: (column: string | null) => string | null = (column) => column,
): MappedRefusal[] {
  return refusals.map((refusal) => ({ kind: 'refusal', line, ...refusal, column: inFile(refusal.column) }));
}

function columnsToLack(mapping: CsvMapping, mayLack: MayLack): ReadonlySet<string> {
  if (mayLack === 'nothing') return new Set();
  return mayLack === 'facts' ? factColumns(mapping) : optionalColumns(mapping);
}

/** A price matters more than a fact beside it. */
function withoutFact(column: string): RowRefusal {
  const detail = `there is no column ${quotedText(column)}: the attributes of markets that read it are left out`;
  return { column, pointer: '', code: 'record.invalid', detail };
}

/** Names stay unchanged, unless they contain invisible characters. */
function nameInWords(name: string): string {
  return holdsHidden(name) ? quotedText(name) : name;
}

/** @param header with the columns that are added @param own the file's own columns */
function headerRefusals(mapping: CsvMapping, header: readonly string[], own: readonly string[]): RowRefusal[] {
  const refuse = (column: string | null, detail: string): RowRefusal => ({
    column,
    pointer: '',
    code: 'record.invalid',
    detail,
  });
  const missing = [...requiredColumns(mapping)].filter((column) => !header.includes(column));
  const isCsv = mapping.json === undefined && mapping.xml === undefined;
  const [, form] = /^\uFEFF?([{[<])/.exec(header[0] ?? '') ?? [];
  if (missing.length > 0 && isCsv && form !== undefined) {
    const name = form === '<' ? 'xml' : 'json';
    const detail = `begins like ${name.toUpperCase()}: say where its rows are, by "${name}" in the mapping in place of "csv"`;
    return [refuse(null, detail)];
  }
  if (missing.length > 0 && isCsv && header.some((name) => /[\0\uFFFD]/.test(name))) {
    const detail = `is not written in ${mapping.csv.encoding}: give the file's encoding as csv.encoding, e.g. "utf-16le" or "windows-1252"`;
    return [refuse(null, detail)];
  }
  const twice = RUN_COLUMNS.filter((name) => header.indexOf(name) !== header.lastIndexOf(name));
  const named = header.filter((name) => name !== '' && !isRunColumn(name));
  // Names that differ only in stripped characters become equal.
  const same = new Set(named.filter((name, index) => named.indexOf(name) !== index));
  const clashing = [...addedColumns(mapping).filter((column) => header.includes(column)), ...twice];
  return [
    ...missing.map((column) =>
      refuse(
        column,
        isRunColumn(column)
          ? `only an answer that a recipe fetched has "${column}": see docs/sources.md`
          : `there is no column ${quotedText(column)}; the file has: ${own.map(nameInWords).join(', ')}`,
      ),
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
