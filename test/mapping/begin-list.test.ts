/** Starting mappings for current lists, and for files of which only the beginning is read. */
import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';
import { closedJson, HEAD_BYTES, wholeRows } from '../../mapping/begin/file-head.ts';

async function* endless(head: string, row: (index: number) => string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head);
  for (let index = 0; index < 10_000_000; index += 1000) {
    yield Buffer.from(Array.from({ length: 1000 }, (_, each) => row(index + each)).join(''));
  }
  throw new Error('the file was read to its end');
}

async function begin(open: () => AsyncIterable<Uint8Array>) {
  const begun = await beginMapping(open, 'models.json');
  if ('fault' in begun) throw new Error(begun.fault);
  return { text: begun.text, mapping: parse(begun.text) };
}

const MODELS = {
  'gpt-4o': { input_cost: 2.5e-6, output_cost: 1e-5, window: 128000, mode: 'chat' },
  'azure/gpt-4o': { input_cost: 3.75e-8, output_cost: 1e-5, mode: 'chat' },
  'groq/x 1.5': { input_cost: 5e-8, window: 8192, mode: 'chat' },
  plain: { input_cost: 2e-8, output_cost: 4e-8, window: 8192, mode: 'chat' },
};

test('a list by name has slugs that never collide, exact quantities, and each price of a row', async () => {
  const { mapping } = await begin(async function* () {
    yield Buffer.from(JSON.stringify(MODELS));
  });
  expect(mapping).toMatchObject({
    json: { rows: '', name: 'name' },
    match: ['name'],
    market: { slug: 'models-{name}', slugDigest: 'unless-exact', unit: { quantity: 'exact', atLeast: '1000000' } },
    observation: {
      metric: 'inputCost',
      value: { column: 'input_cost', quotedQuantity: '1' },
      also: [{ metric: 'outputCost', value: { column: 'output_cost', blank: 'leave-out' } }],
      date: { column: expect.stringContaining('fetchedAt') },
    },
  });
});

describe('a file of any size is looked at by its beginning:', () => {
  test('a map', async () => {
    const row = (index: number) => `"maker/model-${index}": {"in": ${index % 7}.5e-6, "out": 1e-5},\n`;
    const { text, mapping } = await begin(() => endless('{"note": {"in": 1.5, "of": ["a", "b"]},', row));
    expect(text).toMatch(/its first \d{5} rows/);
    expect(mapping).toMatchObject({ json: { rows: '', name: 'name' }, market: { slugDigest: 'unless-exact' } });
  });

  test('an array below a head', async () => {
    const row = (index: number) =>
      `{"day": "2026-01-0${1 + (index % 9)}", "item": "i, ${index % 50}", "price": ${index % 7}.25},`;
    const { mapping } = await begin(() => endless('{"meta": {"a": 1, "b": 2}, "data": {"rows": [', row));
    expect(mapping).toMatchObject({ json: { rows: '/data/rows' }, observation: { value: { column: 'price' } } });
  });

  test('a CSV file with line breaks in quotes', async () => {
    const row = (index: number) => `2026-01-0${1 + (index % 9)},"item\n${index % 50}",${index % 7}.25\n`;
    const { text, mapping } = await begin(() => endless('day,item,price\n', row));
    expect(mapping).toMatchObject({ observation: { value: { column: 'price' }, date: { column: 'day' } } });
    expect(text).not.toContain('not readable');
  });

  test('a wide CSV file, whose columns of ended currencies are mostly N/A', async () => {
    const row = (index: number) =>
      `${2026 - Math.floor(index / 300)}-01-0${1 + (index % 9)},1.0${index % 9},N/A,160.${index % 9},\n`;
    const { mapping } = await begin(() => endless('Date,USD,CYP,JPY,\n', row));
    expect(mapping).toMatchObject({
      unpivot: { columns: { except: ['Date'] } },
    });
    expect(mapping.observation.value).toMatchObject({ blankValues: ['N/A'], blank: 'leave-out' });
  });

  test('an XML document', async () => {
    const row = (index: number) =>
      `<r day="2026-01-0${1 + (index % 9)}"><item>i${index % 50}</item><price>${index % 7}.25</price></r>`;
    const { mapping } = await begin(() => endless('<?xml version="1.0"?><all><head a="1"/>', row));
    expect(mapping).toMatchObject({ xml: { rows: '/all/r' }, observation: { value: { column: 'price' } } });
  });
});

describe('the end of a beginning', () => {
  test.each([
    ['{"a":{"x":1,"y":2},"b":{"x":1,"y":2},"c":{"x":1', '{"a":{"x":1,"y":2},"b":{"x":1,"y":2}}'],
    ['{"h":1,"rows":[{"x":1},{"x":2},{"x":3},{"x"', '{"h":1,"rows":[{"x":1},{"x":2},{"x":3}]}'],
    ['[[1,2],[3,4],[5', '[[1,2],[3,4]]'],
    ['["a,]\\"","b","c', '["a,]\\"","b"]'],
    ['{"a"', '{"a"'],
  ])('%s is closed to %s', (text, closed) => {
    expect(closedJson(text)).toBe(closed);
  });

  test('is that of a row, whatever its last byte is', () => {
    expect(Buffer.from(wholeRows(Buffer.from('a\n"b\nc"\n"d\n'))).toString()).toBe('a\n"b\nc"\n');
    expect(wholeRows(Buffer.from('a,b')).length).toBe(3);
    expect(wholeRows(Buffer.from('a,b\n', 'utf16le').subarray(0, 7)).length).toBe(6);
    expect(HEAD_BYTES).toBeLessThan(10_000_000);
  });
});
