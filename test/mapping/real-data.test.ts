/**
 * Real files, from a begun mapping with a few lines filled in to a check, compared with counts that are made here
 * without the code of mapping/.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { parse } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';
import { checkMapping } from '../../mapping/check/check-mapping.ts';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import { parseMappingText } from '../../mapping/declared/parse-mapping.ts';
import { withChange } from './example-mapping.ts';

const FILES = new URL('files/', import.meta.url);

interface SourceTexts {
  readonly label: string;
  readonly url: string;
  readonly publisher: string;
  readonly licence: string | null;
  readonly attribution?: string;
}

/** What a person fills in about a source. */
const about = (
  { attribution, ...source }: SourceTexts,
  sourceUrl: string,
  kind: string,
  confidence: unknown = 'high',
) => ({
  '/market/sources/0': { ...source, attribution: attribution ?? null },
  '/market/kind': kind,
  '/observation/sourceLabel': source.label,
  '/observation/sourceUrl': sourceUrl,
  '/observation/confidence': confidence,
});
const EIA = 'U.S. Energy Information Administration';
const API = {
  label: 'currency-api daily release',
  url: 'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api/',
  publisher: 'fawazahmed0/currency-api',
  licence: 'CC0-1.0',
};

/** The decisions that each begun mapping leaves to a person. */
const DECISIONS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'wti-daily': {
    ...about({ label: EIA, url: 'https://www.eia.gov/', publisher: EIA, licence: null }, 'https://www.eia.gov/', 'oil'),
    '/market/name': 'Crude oil (WTI, Cushing), US dollar',
    '/market/nativeCurrency': 'USD',
    '/market/unit/of': 'barrel',
    '/observation/currency': 'USD',
  },
  'currency-api-wide': {
    ...about(API, `${API.url}{observedDate}/eur.json`, 'fx', 'medium'),
    '/market/nativeCurrency': '{currency}',
    '/observation/currency': '{currency}',
    '/market/unit/of': 'EUR',
  },
};

async function mappingOf(name: string, csv: URL): Promise<string> {
  const begun = await beginMapping(createReadStream(csv), `${name}.csv`);
  if ('fault' in begun) throw new Error(begun.fault);
  let document: unknown = parse(begun.text);
  for (const [pointer, value] of Object.entries(DECISIONS[name] ?? {})) document = withChange(document, pointer, value);
  return JSON.stringify(document);
}

/** The rows of a file without quotes, by a plain split. */
function cellsOf(csv: URL): string[][] {
  const [, ...lines] = readFileSync(csv, 'utf8').trimEnd().split(/\r?\n/);
  return lines.map((line) => line.split(','));
}

/** Each amount that the mapping gives, with the source's digits, in the order of the file. */
async function amountsOf(
  name: string,
  csv: URL,
): Promise<{ line: number; amountMinor: number | null; digits: string }[]> {
  const result = parseMappingText(await mappingOf(name, csv));
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  const amounts: { line: number; amountMinor: number | null; digits: string }[] = [];
  for await (const { line, ...row } of mapCsv(result.mapping, createReadStream(csv))) {
    if (row.kind !== 'record' || row.record.type !== 'observation') continue;
    const { record } = row;
    // Of a market with an exact quantity, the service computes the amount.
    const { amountMinor, digits } =
      'amountMinor' in record
        ? { amountMinor: record.amountMinor, digits: record.sourceValue }
        : { amountMinor: null, digits: record.value };
    amounts.push({ line, amountMinor, digits: digits ?? '' });
  }
  return amounts;
}

test.each([
  ['wti-daily', 1],
  ['currency-api-wide', 53],
])('%s, begun, filled in and checked, gives each value of the file for %i markets', async (name, count) => {
  const csv = new URL(`${name}.csv`, FILES);
  const { faults, file } = await checkMapping(await mappingOf(name, csv), createReadStream(csv));
  const rows = cellsOf(csv).length;
  expect(faults).toEqual([]);
  expect(file).toMatchObject({
    ...{ rows, values: rows * count, markets: { count }, unusedColumns: [] },
    ...{ observations: { count: rows * count, rounded: 0 }, refused: { count: 0, groups: [] } },
  });
});

test('WTI keeps each price to the cent, also the negative one', async () => {
  const csv = new URL('wti-daily.csv', FILES);
  const cents = cellsOf(csv).map(([, price = '']) => Math.round(Number(price) * 100));
  const amounts = await amountsOf('wti-daily', csv);
  expect(amounts.map(({ amountMinor }) => amountMinor)).toEqual(cents);
  expect(Math.min(...cents)).toBe(-3698);
});

test('the wide table keeps each digit of each cell', async () => {
  const csv = new URL('currency-api-wide.csv', FILES);
  const cells = cellsOf(csv).flatMap(([, ...values], row) =>
    values.slice(0, 53).map((digits) => ({ line: row + 2, digits: digits === 'N/A' ? '' : digits })),
  );
  const amounts = await amountsOf('currency-api-wide', csv);
  expect(amounts.map(({ line, digits }) => ({ line, digits }))).toEqual(cells);
});
