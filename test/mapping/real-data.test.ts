/**
 * Real files, from a begun mapping with a few lines filled in to a check, compared with counts that are made here
 * without the code of mapping/.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { parse } from 'jsonc-parser';
import { beforeAll, describe, expect, test } from 'vitest';
import type { MarketRecord } from '../../contract/ingest/ingest-records.ts';
import { checkObservation, parseRecord } from '../../lambdas/markets/rules/row-rules.ts';
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';
import { checkMapping, type FileCheck } from '../../mapping/check/check-mapping.ts';
import type { CsvMapping } from '../../mapping/declared/csv-mapping.ts';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import { parseMappingText } from '../../mapping/declared/parse-mapping.ts';
import { withChange } from './example-mapping.ts';

const NOW_MS = Date.parse('2026-10-01T00:00:00Z');
const FILES = new URL('files/', import.meta.url);
const BUNDLED_SAMPLE = new URL('../../mapping/sample/', import.meta.url);

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
  'currency-api': {
    ...about(API, `${API.url}{observedDate}/{base}.json`, 'rate', 'medium'),
    '/market/unit/of': '{base}',
    '/observation/date/whenBlank/column': 'package_version',
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

describe.each([
  ['wti-daily', FILES],
  ['currency-api-wide', FILES],
  ['currency-api', BUNDLED_SAMPLE],
])('%s', (name, folder) => {
  const csv = new URL(`${name}.csv`, folder);

  describe('begun, filled in, and checked', () => {
    let file: FileCheck;
    beforeAll(async () => {
      const result = await checkMapping(await mappingOf(name, csv), createReadStream(csv));
      if (result.file === null) throw new Error(JSON.stringify(result.faults));
      ({ file } = result);
    });

    test('has each value of the file, or a refusal', () => {
      const cells = cellsOf(csv);
      expect(file.rows).toBe(cells.length);
      expect(file.values).toBe(name === 'currency-api-wide' ? cells.length * 53 : cells.length);
      expect(file.observations.count + file.refused.count).toBe(file.values);
    });

    test('passes every rule of the service', async () => {
      const result = parseMappingText(await mappingOf(name, csv));
      const markets = new Map<string, MarketRecord>();
      const faults: unknown[] = [];
      for await (const row of mapCsv((result as { mapping: CsvMapping }).mapping, createReadStream(csv))) {
        if (row.kind === 'refusal') continue;
        const parsed = parseRecord(row.record);
        if ('errors' in parsed) faults.push(...parsed.errors);
        else if (parsed.record.type === 'market') markets.set(parsed.record.slug, parsed.record);
        else if (parsed.record.type === 'observation') {
          faults.push(...checkObservation(parsed.record, markets.get(parsed.record.market) ?? null, NOW_MS));
        }
      }
      expect(faults).toEqual([]);
    });

    test('gives these markets, observations and refusals', () => {
      const { markets, observations, refused, unusedColumns } = file;
      const refusals = Object.fromEntries(refused.groups.map(({ code, count }) => [code, count]));
      expect([markets.count, observations.count, observations.rounded, refusals, unusedColumns]).toEqual(
        {
          'wti-daily': [1, 10_226, 0, {}, []],
          'currency-api-wide': [53, 3021, 0, {}, []],
          'currency-api': [175, 9975, 0, {}, []],
        }[name],
      );
    });
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
