/** Writes the starting mapping from the guesses. */
import type { CsvMapping } from '../declared/csv-mapping.ts';
import { FILL_IN } from '../declared/parse-jsonc.ts';
import { numberReader } from '../values/number-format.ts';
import { type CommentedObject, field, object, writeCommentedJson } from './commented-json.ts';
import type { Dialect } from './dialect.ts';
import type { MappingDraft } from './draft.ts';
import { draftDate } from './draft-date.ts';
import { draftCurrency, draftMarket, draftQuantity, draftUnit } from './draft-market.ts';
import { draftMetrics, draftValue } from './draft-value.ts';
import type { ColumnGuess } from './guess-columns.ts';
import type { QuantityGuess } from './guess-quantity.ts';
import { linkColumn, type TableProfile } from './table-profile.ts';

export function writeMapping(
  fileName: string,
  form: Dialect | NonNullable<CsvMapping['json'] | CsvMapping['xml']>,
  draft: MappingDraft,
  quantities: QuantityGuess,
  isCut: boolean,
): string {
  const { table, added } = draft;
  const link = linkColumn(table);
  const currency = draftCurrency(draft);
  const quantity = draftQuantity(quantities, draft);
  const { unit, table: packs, quoted } = draftUnit(draft, quantity);
  const value = draftValue(draft, quantity, quoted);
  const { metric, also } = draftMetrics(draft, value);
  const tables = [currency.table, packs ?? quantity.table].flatMap((fields) =>
    fields === null ? [] : [object(...fields)],
  );
  const document = object(
    'columns' in form
      ? field('json', draftJson(form), JSON_ROWS)
      : 'rows' in form
        ? field('xml', object(field('rows', form.rows)), XML_ROWS)
        : field('csv', draftDialect(draft, form), faultsOf(table)),
    added !== null && field('unpivot', draftUnpivot(draft, added), UNPIVOT),
    field('match', draftMatch(draft), matchComment(draft)),
    field('market', draftMarket(draft, fileName, currency.template, unit, quantity.comment)),
    field(
      'observation',
      object(
        metric,
        field('value', value),
        field('currency', currency.template),
        also,
        field('date', draftDate(draft)),
        field('sourceLabel', `${FILL_IN}: the same label as above`),
        field(
          'sourceUrl',
          link !== null && link.name !== ''
            ? `{${link.name}}`
            : `${FILL_IN}: the page or file from which a number was read; {observedDate} and {columns} may be part of it`,
        ),
        field('confidence', `${FILL_IN}: high, medium or low: how far do you trust these numbers?`),
        field(
          'status',
          'final',
          'Or provisional (may still be revised), estimated, or aggregate (such as an average).',
        ),
      ),
    ),
    tables.length > 0 &&
      field('tables', tables, 'Columns that are looked up. A key that is not listed refuses its row.'),
  );
  const title = [
    `// A starting mapping for ${fileName.replaceAll(/[\s\p{Cc}]+/gu, ' ')}, from a look at its ${isCut ? 'first ' : ''}${table.rows} rows.`,
    `// A text that begins with ${FILL_IN} waits for your decision. Everything else is a guess: change it if it is wrong.`,
    '// Comments may stay. docs/mapping.md explains the fields.',
  ];
  return `${title.join('\n')}\n${writeCommentedJson(document)}\n`;
}

const UNPIVOT =
  'Each of these columns has a value in each row. "name" and "value" are the two columns that replace them.';

const XML_ROWS = 'The elements that are rows. "../@time" is an attribute of the element around a row.';

const JSON_ROWS =
  'Where the rows are (a JSON Pointer). "name" and "value" are columns for the name and the value of a member, "columns" those that all rows share.';

function draftJson({ rows, name, value, parallel, columns }: NonNullable<CsvMapping['json']>): CommentedObject {
  const shared = Object.entries(columns).map(([column, pointer]) => field(column, pointer));
  return object(
    field('rows', rows),
    parallel === true && field('parallel', parallel),
    name !== undefined && field('name', name),
    value !== undefined && field('value', value),
    shared.length > 0 && field('columns', object(...shared)),
  );
}

function draftDialect({ guess, table }: MappingDraft, dialect: Dialect): CommentedObject {
  const rowsAfterHeader = unitRows(table, guess);
  return object(
    field('delimiter', dialect.delimiter),
    dialect.encoding !== 'utf-8' &&
      field(
        'encoding',
        dialect.encoding,
        dialect.encoding.startsWith('utf')
          ? ''
          : 'The file is not UTF-8. This is the most frequent other encoding: look at letters with accents.',
      ),
    dialect.linesBeforeHeader > 0 && field('linesBeforeHeader', dialect.linesBeforeHeader, 'A title, not read.'),
    rowsAfterHeader > 0 && field('rowsAfterHeader', rowsAfterHeader, 'A second header, or units: not read.'),
  );
}

/** Rows directly after the header that have neither a date nor a number, where the next one has. */
function unitRows({ columns, sample }: TableProfile, { date, values, number }: ColumnGuess): number {
  const datePlace = date?.column == null ? -1 : columns.indexOf(date.column);
  const places = values.map((column) => columns.indexOf(column));
  const read = numberReader(number?.formats[0] ?? { decimalMark: '.' });
  const isData = (row: readonly string[]) =>
    /\d/.test(row[datePlace] ?? '') || places.some((place) => read(row[place] as string) !== null);
  return Math.max(0, sample.slice(0, 5).findIndex(isData));
}

function faultsOf({ faults, firstFault }: TableProfile): string {
  if (firstFault === null) return '';
  return `Rows that are not readable: ${faults}. The first one is on line ${firstFault.line}: ${firstFault.detail}`;
}

function draftUnpivot(
  { table, guess }: MappingDraft,
  { name, value }: NonNullable<MappingDraft['added']>,
): CommentedObject {
  const wide = guess.wide ?? [];
  const except = table.columns.flatMap((column) => (wide.includes(column) || column.name === '' ? [] : [column.name]));
  return object(
    field('columns', object(field('except', except)), `All columns but these: ${wide.length} columns.`),
    field('name', name),
    field('value', value),
  );
}

/** The columns that are likely, and a mark if the file leaves a doubt. */
function draftMatch({ guess, added, match }: MappingDraft): readonly string[] {
  const { isSure, others } = guess.market;
  if (isSure || (added !== null && match.includes(added.name))) return match;
  const also = others.map(({ name, distinct }) => `${name} (${distinct?.size ?? 'many'})`).join(', ');
  const list = match.length === 0 ? 'which columns identify a market?' : 'do these, and only these, identify a market?';
  return [...match, `${FILL_IN}: ${list} Correct the list, and remove this text. Others: ${also || 'none'}`];
}

function matchComment({ guess, added, match }: MappingDraft): string {
  if (match.length === 0) {
    return guess.market.isSure
      ? 'The whole file is one market: no column names it.'
      : 'The columns that identify a market.';
  }
  const columns = guess.market.match.map(({ name, distinct }) => `${name} (${distinct?.size ?? 'many'})`).join(', ');
  const counts = added === null || columns !== '' ? ` Different values: ${columns}.` : '';
  return `The columns that identify a market.${counts}`;
}
