/** Writes the first mapping from the guesses. */
import { FILL_IN } from '../declared/parse-jsonc.ts';
import { numberReader } from '../values/number-format.ts';
import type { Column } from './column.ts';
import { Commented, writeCommentedJson } from './commented-json.ts';
import { type Draft, freeName } from './draft.ts';
import { draftDate, draftMetrics, draftValue } from './draft-observation.ts';
import { guessQuantity, type QuantityGuess } from './guess-quantity.ts';
import { quantityNamedBy } from './guess-quoted.ts';
import { linkColumn } from './table.ts';

export function writeMapping(fileName: string, draft: Draft): string {
  const { table, added, guess } = draft;
  const link = linkColumn(table.columns);
  const quantity = guessQuantity(draft);
  const { currency, table: codes } = draftCurrency(draft);
  const value = draftValue(draft, quantity);
  const { metric, unit, also } = draftMetrics(draft, value);
  const except = table.columns
    .map(({ name }) => name)
    .filter((name) => name !== '' && !guess.wide?.some((each) => each.name === name));
  const { json, xml, csv } = table.place;
  const document = {
    json:
      json &&
      new Commented({ ...json, columns: Object.keys(json.columns).length === 0 ? undefined : json.columns }, JSON_ROWS),
    xml: xml && new Commented(xml, XML_ROWS),
    csv: csv && new Commented(draftDialect(draft, csv), unreadable(draft)),
    unpivot:
      added === null
        ? undefined
        : new Commented(
            {
              columns: new Commented({ except }, `All columns but these: ${guess.wide?.length} columns.`),
              ...added,
            },
            UNPIVOT,
          ),
    match: new Commented(draftMatch(draft), matchComment(draft)),
    market: draftMarket(draft, fileName, currency, quantity),
    observation: {
      metric,
      unit,
      value,
      currency: unit === undefined ? currency : undefined,
      also,
      date: draftDate(draft),
      sourceUrl:
        link !== null && link.name !== ''
          ? `{${link.name}}`
          : `${FILL_IN}: the page or file from which a number was read; {observedDate} and {columns} may be part of it`,
      confidence: `${FILL_IN}: high, medium or low: how far do you trust these numbers?`,
      status: new Commented('final', STATUS),
    },
    tables: codes === null ? undefined : new Commented([codes], TABLES),
  };
  const title = [
    `// A starting mapping for ${fileName.replaceAll(/[\s\p{Cc}]+/gu, ' ')}, from a look at its ${table.isCut ? 'first ' : ''}${table.rows} rows.`,
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
const STATUS = 'Or provisional (may still be revised), estimated, or aggregate (such as an average).';
const TABLES = 'Columns that are looked up. A key that is not listed refuses its row.';
const OTHER_ENCODING = 'The file is not UTF-8. This is the most frequent other encoding: look at letters with accents.';

function draftDialect(
  draft: Draft,
  { delimiter, encoding, linesBeforeHeader }: NonNullable<Draft['table']['place']['csv']>,
) {
  const rowsAfterHeader = unitRows(draft);
  return {
    delimiter,
    encoding:
      encoding === 'utf-8' ? undefined : new Commented(encoding, encoding.startsWith('utf') ? '' : OTHER_ENCODING),
    linesBeforeHeader: linesBeforeHeader === 0 ? undefined : new Commented(linesBeforeHeader, 'A title, not read.'),
    rowsAfterHeader:
      rowsAfterHeader === 0 ? undefined : new Commented(rowsAfterHeader, 'A second header, or units: not read.'),
  };
}

/** The number of rows directly after the header with neither a date nor a number, if the next row has both. */
function unitRows({ guess: { date, values, number } }: Draft): number {
  const read = numberReader(number?.formats[0] ?? { decimalMark: '.' });
  const isData = (row: number) =>
    /\d/.test(date?.column?.cells[row] ?? '') || values.some(({ cells }) => read(cells[row] ?? '') !== null);
  return Math.max(0, [0, 1, 2, 3, 4].findIndex(isData));
}

function unreadable({ table: { faults, firstFault, footers } }: Draft): string {
  const unread = faults === 0 ? [] : [`Rows that are not readable: ${faults}. The first one is on ${firstFault}.`];
  return [
    ...unread,
    ...(footers.length === 0 ? [] : [`No data, so they are refused: ${footers.join('; ')}. ${FOOTER}`]),
  ].join(' ');
}

const FOOTER =
  'Remove such rows, or store the others with --partial. If the mapping lists all names of markets in a table, "otherwise": ' +
  '"leave-out" in the table leaves these rows out.';

/** The likely columns, and a mark if there is a doubt. */
function draftMatch({ guess, added, match }: Draft): readonly string[] {
  const { isSure, others } = guess.market;
  if (isSure || (added !== null && match.includes(added.name))) return match;
  const also = others.map(({ name, distinct }) => `${name} (${distinct.size})`).join(', ');
  const list =
    match.length === 0
      ? 'which columns identify a market? None, if the file is about one.'
      : 'do these, and only these, identify a market?';
  return [...match, `${FILL_IN}: ${list} Correct the list, and remove this text. Other columns: ${also || 'none'}`];
}

function matchComment({ guess: { market }, match }: Draft): string {
  if (match.length === 0 && market.isSure) return 'The whole file is one market: no column names it.';
  const columns = market.match.map(({ name, distinct }) => `${name} (${distinct.size})`).join(', ');
  return `The columns that identify a market.${columns === '' ? '' : ` Different values: ${columns}.`}`;
}

/** The template of the currency, and the table that lower-case codes need. */
function draftCurrency({ guess: { currency }, added, table: { columns } }: Draft) {
  if (currency.kind === 'named') return { currency: currency.code, table: null };
  if (currency.kind === 'unknown') {
    const from = currency.candidates.map((column) => `{${column}}`).join(' or ');
    const which =
      from === ''
        ? 'the ISO 4217 code of the prices, such as USD'
        : `${from}: which column has the currency of the prices?`;
    return { currency: `${FILL_IN}: ${which}`, table: null };
  }
  const { codes } = currency;
  const column = currency.kind === 'header' && added !== null ? added.name : currency.column;
  const isUpper = codes.every((code) => code === code.toUpperCase());
  const name = isUpper ? column : freeName(columns, 'currencyCode');
  const template = currency.isAmbiguous
    ? `${FILL_IN}: {${name}} if a number is an amount of ${codes[0]}, so many for one of another currency; or that other currency, such as GBP, if a number is the price of ${codes[0]} in it`
    : `{${name}}`;
  if (isUpper) return { currency: template, table: null };
  return {
    currency: template,
    table: {
      key: `{${column}}`,
      columns: new Commented([name], 'ISO 4217 spells them in capitals.'),
      rows: Object.fromEntries(codes.toSorted().map((code) => [code, [code.toUpperCase()]])),
    },
  };
}

/** Names of a column whose texts are addresses, or names for people. */
export const SLUG_NAME = /(^|[^a-z])(slug|id|code|key|symbol|ticker|sku)$/i;
export const MARKET_NAME = /(^|[^a-z])(name|title|label)$/i;
const UNIT_NAME = /^(unit|uom|unit[_ ]?of[_ ]?measure)$/i;

function draftMarket(draft: Draft, fileName: string, currency: string, quantity: QuantityGuess) {
  const { guess, match, isList, isPercent } = draft;
  const file = fileName
    .replace(/\.[^.]*?(\.gz|\.zst)?$/i, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const names = match.filter((column) => MARKET_NAME.test(column));
  const identifiers = match.length > names.length ? match.filter((column) => !names.includes(column)) : match;
  const places = (columns: readonly string[]) => columns.map((column) => `{${column}}`);
  const prefix = match.some((column) => /^slug$/i.test(column)) ? [] : [file?.join('-') ?? 'market'];
  const slug = [...prefix, ...places(identifiers)].join('-');
  const unitColumn = guess.market.match.find(({ name }) => UNIT_NAME.test(name));
  const thingOf = ({ name, signs }: Column) => {
    return [name, ...signs].map((text) => quantityNamedBy(text)?.of ?? null).find((of) => of !== null) ?? null;
  };
  const things = new Set(guess.values.map(thingOf));
  const [named = null] = things.size === 1 ? things : [];
  const isExact = !isPercent && (isList || quantity.all === null);
  const template = /^FILL IN: (\{.*?\}) if/.exec(currency)?.[1];
  const ofCurrency = template === undefined ? '' : `; or ${template}, if a number is the price of it`;
  // Köln and Koln, or gpt-4.1 and gpt-4-1, would be one slug, and in two runs nothing would notice it.
  const hasSpecialCharacters = guess.market.match.some(({ distinct }) => /[^a-z0-9 -]/i.test([...distinct].join('')));
  const hasCurrency = unitColumn !== undefined && unitColumn === guess.hundredths?.column;
  const unit = {
    quantity: isExact ? 'exact' : isPercent ? '1' : String(quantity.all),
    atLeast: isList && isExact ? String(quantity.usual) : undefined,
    of:
      unitColumn === undefined || hasCurrency
        ? (named ?? `${FILL_IN}: the thing that the price buys, such as barrel, kg or EUR${ofCurrency}`)
        : `{${unitColumn.name}}`,
  };
  return {
    slug: new Commented(
      guess.market.isSure || match.length > 0 ? slug : `${FILL_IN}: such as ${slug}, with each column of match`,
      'Becomes the public address of a market, and cannot change later.',
    ),
    slugDigest:
      isList || hasSpecialCharacters
        ? new Commented(
            'unless-exact',
            'A name with a dot, a capital or another special character gets eight characters of a digest.',
          )
        : undefined,
    name:
      match.length === 0 ? `${FILL_IN}: the name of the market` : places(names.length > 0 ? names : match).join(', '),
    kind: `${FILL_IN}: a word such as fx, metal, commodity or food`,
    nativeCurrency: isPercent
      ? new Commented(currency, 'Rates are no money, but each market has a currency.')
      : undefined,
    unit: new Commented(unit, isExact ? EXACT : isPercent ? '' : quantityComment(quantity)),
    sources: [
      {
        label: `${FILL_IN}: the name of the source, as readers see it`,
        url: `${FILL_IN}: the home page of the data`,
        publisher: `${FILL_IN}: who publishes the data; or null`,
        licence: `${FILL_IN}: its SPDX identifier, such as CC0-1.0; or null`,
        attribution: `${FILL_IN}: the words that the licence asks for; or null`,
        cadence: isList ? undefined : new Commented(null, 'How often the source publishes, as docs/mapping.md shows.'),
      },
    ],
  };
}

const EXACT =
  'How many one price buys: for each market, the smallest power of ten (from "atLeast" on, if it is there) for which each number is a whole number of minor units.';

function quantityComment({ all, otherwise, unfit, numbers, example }: QuantityGuess): string {
  const other = otherwise === null ? '' : ` If the numbers are ${MEANINGS[otherwise.meaning]}: ${otherwise.quantity}.`;
  if (all === 1) return other.trim();
  return `How many one price buys: the smallest power of ten for which each number is a whole number of minor units, of which most currencies have 100. For one, ${unfit} of ${numbers} numbers would be rounded, such as ${example}. The unit is fixed once a market has observations.${other}`;
}

const MEANINGS = {
  amounts: 'amounts of the listed currencies, with their decimals',
  prices: 'prices in one other currency, with two decimals',
};
