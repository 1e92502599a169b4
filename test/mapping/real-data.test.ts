/**
 * Real files, from a begun mapping with a few lines filled in to a check, compared with counts that are made here
 * without the code of mapping/. Files whose licence keeps them out are tested where they are at hand.
 */
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';
import { checkMapping, type FileCheck } from '../../mapping/check/check-mapping.ts';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import { parseMappingText } from '../../mapping/declared/parse-mapping.ts';

const FILES = new URL('files/', import.meta.url);
const BUNDLED_SAMPLE = new URL('../../mapping/sample/', import.meta.url);
const NOT_BUNDLED = new URL('../../../shared/data/', import.meta.url);

/** The most lines of a begun mapping that a person changes. */
const EDITS = 20;

/** Files that describe things: no row has a date. */
const DICTIONARIES = ['wfp-markets', 'wfp-commodities'];

const mappingOf = (name: string) => readFileSync(new URL(`${name}.mapping.jsonc`, FILES), 'utf8');

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
  const result = parseMappingText(mappingOf(name));
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  const amounts: { line: number; amountMinor: number | null; digits: string }[] = [];
  for await (const { line, ...row } of mapCsv(result.mapping, createReadStream(csv))) {
    if (row.kind !== 'record' || !('amountMinor' in row.record)) continue;
    amounts.push({ line, amountMinor: row.record.amountMinor, digits: row.record.sourceValue ?? '' });
  }
  return amounts;
}

describe.each([
  ['wti-daily', FILES],
  ['currency-api-wide', FILES],
  ['currency-api', BUNDLED_SAMPLE],
  ['big-mac', NOT_BUNDLED],
  ['wfp', NOT_BUNDLED],
])('%s', (name, folder) => {
  const csv = new URL(`${name}.csv`, folder);
  const isThere = existsSync(csv);
  beforeEach((context) => {
    if (!isThere) context.skip(`no ${name}.csv beside the repository, and its licence keeps it out`);
  });

  test(`needs at most ${EDITS} lines to be filled in`, async () => {
    const begun = await beginMapping(() => createReadStream(csv), `${name}.csv`);
    if ('fault' in begun) throw new Error(begun.fault);
    const [begunLines, lines] = [begun.text, mappingOf(name)].map((text) => text.split('\n')) as [string[], string[]];
    expect(lines).toHaveLength(begunLines.length);
    const edited = begunLines.filter((line, index) => line !== lines[index]);
    expect(edited.length).toBeLessThanOrEqual(EDITS);
    // Everything that is marked is filled in, and hardly anything else is changed.
    const marked = begunLines.filter((line) => line.includes('"FILL IN'));
    expect(marked.length).toBeGreaterThan(5);
    expect(edited.filter((line) => !line.includes('"FILL IN')).length).toBeLessThanOrEqual(2);
  });

  describe('checked', () => {
    let file: FileCheck;
    beforeAll(async () => {
      if (!isThere) return;
      const result = await checkMapping(mappingOf(name), createReadStream(csv));
      if (result.file === null) throw new Error(JSON.stringify(result.faults));
      ({ file } = result);
    });

    test('has each value of the file, or a refusal', () => {
      const cells = cellsOf(csv);
      expect(file.rows).toBe(cells.length);
      expect(file.values).toBe(name === 'currency-api-wide' ? cells.length * 53 : cells.length);
      expect(file.observations.count + file.refused.count).toBe(file.values);
    });

    test('gives these markets, observations and refusals', () => {
      const { markets, observations, refused, unusedColumns } = file;
      const refusals = Object.fromEntries(refused.groups.map(({ code, count }) => [code, count]));
      expect([markets.count, observations.count, observations.rounded, refusals, unusedColumns]).toEqual(
        {
          'wti-daily': [1, 10_226, 0, {}, []],
          'currency-api-wide': [53, 3021, 0, {}, []],
          // Two prices of coins are wrong by the factor of 50 million, and would be rounded to zero.
          'currency-api': [175, 9973, 340, { 'amount.zero-unasserted': 2 }, []],
          'big-mac': [75, 2372, 0, { 'amount.zero-unasserted': 1 }, ['name']],
          wfp: [86, 10_934, 0, { 'currency.retired': 213 }, ['src', 'src_line']],
        }[name],
      );
    });
  });
});

test.for(DICTIONARIES)('%s has neither dates nor prices, and the begun mapping says so', async (name, { skip }) => {
  const csv = new URL(`${name}.csv`, NOT_BUNDLED);
  if (!existsSync(csv)) skip(`no ${name}.csv beside the repository, and its licence keeps it out`);
  const begun = await beginMapping(() => createReadStream(csv), `${name}.csv`);
  expect(begun).toMatchObject({ text: expect.stringContaining('FILL IN: no column looks like prices') });
  expect(begun).toMatchObject({ text: expect.stringContaining('FILL IN: the column with the dates') });
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
