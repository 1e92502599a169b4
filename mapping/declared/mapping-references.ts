/** The columns that a CSV mapping needs, and a check that each placeholder can be filled in. */

import { pointerOf } from '../../contract/values/zod-pointers.ts';
import { signFaults } from '../values/currency-signs.ts';
import { ambiguousDate, dateReader, hasDay, hasMonth, hasOffset, hasQuarter, hasTime } from '../values/date-format.ts';
import { columnsOf, OBSERVED_DATE, parseTemplate } from '../values/template.ts';
import {
  type CsvMapping,
  columnsOfDate,
  isExact,
  type MappedDate,
  type MappedMetric,
  type MappingFault,
  metricsOf,
  NO_CURRENCY,
} from './csv-mapping.ts';

/**
 * A place of a mapping that reads columns. `market` may read only columns that are the same for all rows of a market.
 */
interface Use {
  readonly pointer: string;
  readonly scope: 'row' | 'market' | 'provenance';
  readonly columns: readonly string[];
  readonly template?: string;
}

/** The columns that the CSV file itself must have. */
export function requiredColumns(mapping: CsvMapping): ReadonlySet<string> {
  const added = new Set(addedColumns(mapping));
  const needed = listUses(mapping).flatMap((use) => use.columns);
  return new Set(needed.filter((column) => !added.has(column)));
}

/**
 * The columns of `requiredColumns` without which a row only has fewer parts: those of facts, and of values that are left out if
 * blank.
 */
export function optionalColumns(mapping: CsvMapping): ReadonlySet<string> {
  const leftOut = metricsOf(mapping).flatMap(({ value }, index) =>
    value.blank === 'leave-out' ? [`${metricPointer(index)}/value/column`] : [],
  );
  return columnsOnlyIn(mapping, (use) => isOfFact(use) || leftOut.includes(use.pointer));
}

/** The columns of `requiredColumns` that only facts read. Without one, its facts are left out, and the run names the column. */
export function factColumns(mapping: CsvMapping): ReadonlySet<string> {
  return columnsOnlyIn(mapping, isOfFact);
}

const isOfFact = ({ pointer }: Use): boolean => pointer.startsWith('/market/attributes/');

function columnsOnlyIn(mapping: CsvMapping, isSoft: (use: Use) => boolean): ReadonlySet<string> {
  const hard = new Set(listUses(mapping).flatMap((use) => (isSoft(use) ? [] : use.columns)));
  return new Set([...requiredColumns(mapping)].filter((column) => !hard.has(column)));
}

/** The columns that the mapping adds. The CSV file must not have them. */
export function addedColumns(mapping: CsvMapping): readonly string[] {
  const unpivoted = mapping.unpivot === undefined ? [] : [mapping.unpivot.name, mapping.unpivot.value];
  return [...unpivoted, ...mapping.tables.flatMap((table) => table.columns), OBSERVED_DATE];
}

/**
 * The columns of `sourceUrl` that neither distinguish markets nor give the date. If one changes between two versions of a file,
 * corrections become observations of another source.
 */
export function looseUrlColumns(mapping: CsvMapping): readonly string[] {
  const { date, sourceUrl } = mapping.observation;
  const dates = [...columnsOfDate(date), ...columnsOfDate(date.whenBlank ?? {})];
  const firm = new Set([...marketColumns(mapping), OBSERVED_DATE, ...dates]);
  return [...new Set(columnsOf(sourceUrl))].filter((column) => !firm.has(column));
}

/** Faults that the schema alone does not find. */
export function findReferenceFaults(mapping: CsvMapping): MappingFault[] {
  return [
    ...jsonFaults(mapping),
    ...unpivotFaults(mapping),
    ...tableFaults(mapping),
    ...useFaults(mapping),
    ...metricFaults(mapping),
    ...dateFaults(mapping.observation.date, '/observation/date'),
    ...orderFaults(mapping),
    ...releaseFaults(mapping),
  ];
}

/** The JSON Pointer of a metric of `metricsOf`. */
const metricPointer = (index: number) => (index === 0 ? '/observation' : `/observation/also/${index - 1}`);

function metricFaults(mapping: CsvMapping): MappingFault[] {
  const faults: MappingFault[] = [];
  const seen = new Set<string>();
  for (const [index, { metric, value, currency, unit }] of metricsOf(mapping).entries()) {
    const pointer = metricPointer(index);
    if (seen.has(metric)) faults.push({ pointer: `${pointer}/metric`, detail: 'is the name of an earlier metric' });
    seen.add(metric);
    faults.push(...numberFaults(value, `${pointer}/value`, mapping.json !== undefined));
    const own = index === 0 ? mapping.observation : mapping.observation.also[index - 1];
    if (unit === undefined) {
      if (currency === undefined) faults.push({ pointer: `${pointer}/currency`, detail: NO_CURRENCY });
      else faults.push(...signFaults(value, currency, `${pointer}/value`));
    } else if (metric === 'price') {
      faults.push({
        pointer: `${pointer}/unit`,
        detail: 'has no use: a price is money. Give another number a "metric"',
      });
    } else if (own?.currency !== undefined) {
      faults.push({ pointer: `${pointer}/unit`, detail: 'stands beside "currency": keep one of the two' });
    }
  }
  const { atLeast } = mapping.market.unit;
  if (atLeast !== undefined && !isExact(mapping)) {
    faults.push({ pointer: '/market/unit/atLeast', detail: 'has no use without "quantity": "exact"' });
  }
  return faults;
}

function jsonFaults({ csv, json, xml }: CsvMapping): MappingFault[] {
  const faults: MappingFault[] = [];
  const isSet =
    csv.delimiter !== ',' || csv.encoding !== 'utf-8' || csv.linesBeforeHeader > 0 || csv.rowsAfterHeader > 0;
  if (json !== undefined && xml !== undefined) faults.push({ pointer: '/xml', detail: NO_USE });
  else if (xml !== undefined && isSet) faults.push({ pointer: '/csv', detail: NO_USE.replace('json', 'xml') });
  if (json === undefined) return faults;
  if (isSet) faults.push({ pointer: '/csv', detail: NO_USE });
  const exists = (added: string) => `"${added}" exists already: rename it`;
  if (json.name !== undefined && json.name in json.columns)
    faults.push({ pointer: '/json/name', detail: exists(json.name) });
  if (json.parallel === true && (json.name ?? json.value) !== undefined) {
    faults.push({ pointer: '/json/parallel', detail: 'stands beside "name" or "value": its rows have no names' });
  }
  if (json.value !== undefined && (json.value === json.name || json.value in json.columns)) {
    faults.push({ pointer: '/json/value', detail: exists(json.value) });
  }
  return faults;
}

function unpivotFaults({ unpivot }: CsvMapping): MappingFault[] {
  if (unpivot === undefined) return [];
  const { columns, name, value } = unpivot;
  const taken = [OBSERVED_DATE, ...('except' in columns ? columns.except : columns)];
  const faults: MappingFault[] = [];
  const exists = (added: string) => `"${added}" exists already: rename it`;
  if (taken.includes(name)) faults.push({ pointer: '/unpivot/name', detail: exists(name) });
  if ([name, ...taken].includes(value)) faults.push({ pointer: '/unpivot/value', detail: exists(value) });
  return faults;
}

function numberFaults({ number }: MappedMetric['value'], pointer: string, isJson: boolean): MappingFault[] {
  const { decimalMark: mark, groupMark } = number;
  // The point of a JSON number could be mistaken for a group mark.
  if (isJson && (mark !== '.' || groupMark !== undefined)) return [{ pointer: `${pointer}/number`, detail: NO_USE }];
  const isEither = mark === 'either' && (groupMark === '.' || groupMark === ',');
  if (groupMark === undefined || !(isEither || mark === groupMark)) return [];
  const detail = 'is the decimal mark too: which one separates groups?';
  return [{ pointer: `${pointer}/number/groupMark`, detail }];
}

const NO_USE = 'has no use beside "json": remove it';

function tableFaults(mapping: CsvMapping): MappingFault[] {
  const faults: MappingFault[] = [];
  const seen = new Set([OBSERVED_DATE, ...(mapping.unpivot ? [mapping.unpivot.name, mapping.unpivot.value] : [])]);
  for (const [index, table] of mapping.tables.entries()) {
    const pointer = `/tables/${index}`;
    const later = new Set(mapping.tables.slice(index).flatMap((other) => other.columns));
    for (const column of columnsOf(table.key)) {
      if (!later.has(column)) continue;
      faults.push({
        pointer: `${pointer}/key`,
        detail: `{${column}} does not exist yet: this or a later table adds it`,
      });
    }
    for (const [position, column] of table.columns.entries()) {
      if (seen.has(column)) {
        faults.push({ pointer: `${pointer}/columns/${position}`, detail: `"${column}" exists already: rename it` });
      }
      seen.add(column);
    }
    const rows: [place: string, row: string[]][] = Object.entries(table.rows).map(([key, row]) => [
      `/rows${pointerOf([key])}`,
      row,
    ]);
    if (Array.isArray(table.otherwise)) rows.push(['/otherwise', table.otherwise]);
    for (const [place, row] of rows) {
      if (row.length === table.columns.length) continue;
      const detail = `has ${row.length} values for ${table.columns.length} columns (${table.columns.join(', ')})`;
      faults.push({ pointer: pointer + place, detail });
    }
  }
  return faults;
}

function useFaults(mapping: CsvMapping): MappingFault[] {
  const ofMarket = marketColumns(mapping);
  const faults: MappingFault[] = [];
  for (const { pointer, scope, columns, template } of listUses(mapping)) {
    if (template !== undefined && parseTemplate(template) === null) {
      faults.push({ pointer, detail: 'has a brace that does not enclose a column name: write {column}' });
    }
    for (const column of columns) {
      if (column === OBSERVED_DATE && scope !== 'provenance') {
        faults.push({ pointer, detail: `{${column}} may be used in sourceUrl, sourceLabel and releasedAt only` });
      } else if (scope === 'market' && !ofMarket.has(column)) {
        const detail = `{${column}} may differ between rows of one market: add it to match, or look it up by columns of match`;
        faults.push({ pointer, detail });
      }
    }
  }
  return faults;
}

/** Faults that any date of a mapping may have. */
function dateFaults(date: MappedDate, pointer: string): MappingFault[] {
  const { precision, offset, whenBlank } = date;
  const faults = formatFaults(date.format, date, `${pointer}/format`);
  if (whenBlank) faults.push(...formatFaults(whenBlank.format, date, `${pointer}/whenBlank/format`));
  for (const clock of ['offset', 'timeZone'] as const) {
    if (date[clock] === undefined || precision === 'instant') continue;
    const detail = 'has no use: with this precision, the day counts as it is written';
    faults.push({ pointer: `${pointer}/${clock}`, detail });
  }
  if (offset !== undefined && date.timeZone !== undefined) {
    faults.push({ pointer: `${pointer}/offset`, detail: 'stands beside "timeZone": keep one of the two' });
  }
  if (date.overlap !== undefined && date.timeZone === undefined) {
    faults.push({ pointer: `${pointer}/overlap`, detail: 'has no use without "timeZone"' });
  }
  return [...faults, ...constantFaults(date, pointer)];
}

function orderFaults(mapping: CsvMapping): MappingFault[] {
  const { date } = mapping.observation;
  const added = columnsOfDate(date).filter((column) => addedColumns(mapping).includes(column));
  if (date.overlap !== 'in-order' || added.length === 0) return [];
  const detail = `"in-order" needs a date in the file's own columns, and the mapping adds ${added.join(', ')}`;
  return [{ pointer: '/observation/date/overlap', detail }];
}

function constantFaults({ column, constant, format, whenBlank }: MappedDate, pointer: string): MappingFault[] {
  if (constant === undefined) {
    return column === undefined ? [{ pointer, detail: 'has no "column": name it, or give a "constant" date' }] : [];
  }
  if (column !== undefined) return [{ pointer, detail: 'has both "column" and "constant": keep one of the two' }];
  if (whenBlank !== undefined)
    return [{ pointer: `${pointer}/whenBlank`, detail: 'has no use: a constant is never blank' }];
  if ([format].flat().some((each) => dateReader(each)(constant) !== null)) return [];
  return [{ pointer: `${pointer}/constant`, detail: `is not a date of the form ${[format].flat().join(' or ')}` }];
}

function releaseFaults({ observation: { releasedAt } }: CsvMapping): MappingFault[] {
  if (releasedAt === undefined || typeof releasedAt === 'string') return [];
  return dateFaults({ ...releasedAt, precision: 'instant', early: 'refuse' }, '/observation/releasedAt');
}

function missingPart(format: string, precision: MappedDate['precision']): string | null {
  if (precision === 'year' || (precision === 'quarter' && hasQuarter(format))) return null;
  if (!hasMonth(format)) return precision === 'quarter' ? 'quarter' : 'month';
  if (precision === 'day' && !hasDay(format)) return 'day';
  return precision === 'instant' && !hasTime(format) ? 'time' : null;
}

function formatFaults(
  format: MappedDate['format'],
  { precision, offset, timeZone }: MappedDate,
  pointer: string,
): MappingFault[] {
  const faults: MappingFault[] = [];
  for (const each of [format].flat()) {
    const missing = missingPart(each, precision);
    if (missing !== null) {
      faults.push({ pointer, detail: `${each} has no ${missing}, but the precision is "${precision}"` });
    } else if (precision === 'instant' && !hasOffset(each) && (offset ?? timeZone) === undefined) {
      faults.push({
        pointer,
        detail: `${each} has no offset from UTC: give the date an "offset", e.g. "UTC", or a "timeZone"`,
      });
    }
  }
  const ambiguous = typeof format === 'string' ? null : ambiguousDate(format);
  if (ambiguous !== null) {
    faults.push({
      pointer,
      detail: `"${ambiguous.text}" is ${ambiguous.readings.join(', and ')}: keep one of the two`,
    });
  }
  return faults;
}

/** The columns that are the same for all rows of a market: those of `match`, and of tables keyed by them. */
function marketColumns(mapping: CsvMapping): ReadonlySet<string> {
  const known = new Set(mapping.match);
  for (const table of mapping.tables) {
    if (!columnsOf(table.key).every((column) => known.has(column))) continue;
    for (const column of table.columns) known.add(column);
  }
  return known;
}

function listUses(mapping: CsvMapping): Use[] {
  const { market, observation } = mapping;
  const inTemplate = (pointer: string, scope: Use['scope'], template: string | null | undefined): Use[] =>
    template == null ? [] : [{ pointer, scope, columns: columnsOf(template), template }];
  const inColumn = (pointer: string, column: string): Use => ({ pointer, scope: 'row', columns: [column] });
  const inChoice = (pointer: string, choice: string | { column: string }): Use[] =>
    typeof choice === 'string' ? [] : [inColumn(`${pointer}/column`, choice.column)];
  const inDate = (pointer: string, date: { readonly column?: string | readonly string[] | undefined }): Use[] =>
    columnsOfDate(date).map((column) => inColumn(`${pointer}/column`, column));
  const inRelease = (pointer: string, release: CsvMapping['observation']['releasedAt']): Use[] =>
    typeof release === 'object' ? inDate(pointer, release) : inTemplate(pointer, 'provenance', release);
  return [
    ...unpivotUses(mapping).map((column) => inColumn('/unpivot/columns', column)),
    ...mapping.match.map((column, index) => inColumn(`/match/${index}`, column)),
    ...mapping.tables.flatMap((table, index) => inTemplate(`/tables/${index}/key`, 'row', table.key)),
    ...(['slug', 'name', 'kind', 'nativeCurrency'] as const).flatMap((field) =>
      inTemplate(`/market/${field}`, 'market', market[field]),
    ),
    ...inTemplate('/market/unit/quantity', 'market', market.unit.quantity),
    ...inTemplate('/market/unit/of', 'market', market.unit.of),
    ...market.sources.flatMap((source, index) =>
      (['label', 'url', 'publisher', 'licence', 'attribution'] as const).flatMap((field) =>
        inTemplate(`/market/sources/${index}/${field}`, 'market', source[field]),
      ),
    ),
    ...Object.entries(market.attributes ?? {}).flatMap(([name, value]) =>
      inTemplate(`/market/attributes/${name}`, 'row', value),
    ),
    ...metricsOf(mapping).flatMap(({ value, currency }, index) => [
      inColumn(`${metricPointer(index)}/value/column`, value.column),
      ...inTemplate(`${metricPointer(index)}/value/quotedQuantity`, 'row', value.quotedQuantity),
      ...inTemplate(`${metricPointer(index)}/currency`, 'row', currency),
    ]),
    ...inDate('/observation/date', observation.date),
    ...inDate('/observation/date/whenBlank', observation.date.whenBlank ?? {}),
    ...inRelease('/observation/releasedAt', observation.releasedAt),
    ...inTemplate('/observation/publicReason', 'row', observation.publicReason),
    ...inTemplate('/observation/sourceLabel', 'provenance', observation.sourceLabel),
    ...inTemplate('/observation/sourceUrl', 'provenance', observation.sourceUrl),
    ...inChoice('/observation/confidence', observation.confidence),
    ...inChoice('/observation/status', observation.status),
    ...mapping.withhold.flatMap((rule, index) =>
      Object.keys(rule.where).map((column) => inColumn(`/withhold/${index}/where${pointerOf([column])}`, column)),
    ),
  ];
}

/** An excepted column must exist, too: otherwise it may be misspelt, and its numbers would become values. */
function unpivotUses({ unpivot }: CsvMapping): readonly string[] {
  if (unpivot === undefined) return [];
  return 'except' in unpivot.columns ? unpivot.columns.except : unpivot.columns;
}
