/** XML documents: their rows, and the documents that are refused. */
import { describe, expect, test } from 'vitest';
import type { CsvInput } from '../../mapping/input/csv-input.ts';
import { readXmlRows } from '../../mapping/input/xml-rows.ts';
import { mapped, pointersOf } from './mapped.ts';

/** Rows as `line column=cell …`, faults as their text. */
async function rowsOf(input: CsvInput, rows = '/list/row'): Promise<readonly string[]> {
  let header: readonly string[] = [];
  const found: string[] = [];
  for await (const row of readXmlRows(input, { rows })) {
    if (row.kind === 'fault') found.push(`${row.line} ${row.detail}`);
    else if (row.kind === 'header') header = row.fields;
    else found.push([row.line, ...header.map((name, index) => `${name}=${row.fields[index]}`)].join(' '));
  }
  return found;
}

async function* bytes(text: string, encoding: BufferEncoding = 'utf8'): AsyncGenerator<Uint8Array> {
  const whole = Buffer.from(text, encoding);
  for (let at = 0; at < whole.length; at += 7) yield whole.subarray(at, at + 7);
}

describe('the rows of a document', () => {
  test('have their attributes, children, and what stood around them before', async () => {
    const text = `<?xml version="1.0"?>
<x:list xmlns:x="urn:a" at="2026-01-05" xml:lang="de"><unit cur="EUR">MWh</unit>
  <!-- not read --><row id="1"><price cur="USD">1.5</price><price>2</price><note><by>a&amp;b</by></note></row>
  <row id="2">text<price><![CDATA[3<4]]></price></row><late>x</late></x:list>`;
    for (const input of [text, bytes(text)]) {
      expect(await rowsOf(input)).toEqual([
        '3 @id=1 price=1.5 price/@cur=USD price[2]=2 note/by=a&b ../@at=2026-01-05 ../@lang=de ../unit=MWh ../unit/@cur=EUR .=',
        '4 @id=2 price=3<4 price/@cur= price[2]= note/by= ../@at=2026-01-05 ../@lang=de ../unit=MWh ../unit/@cur=EUR .=text',
      ]);
    }
  });

  test('are in several places, each with its own surroundings', async () => {
    const text = '<a><b t="1"><c v="x"/><c v="y"/></b><b t="2"><c v="z"/></b></a>';
    expect(await rowsOf(text, '/a/b/c')).toEqual(['1 @v=x ../@t=1', '1 @v=y ../@t=1', '1 @v=z ../@t=2']);
  });

  test('are read by the encoding that the document declares', async () => {
    const text = '<?xml version="1.0" encoding="ISO-8859-1"?><list><row>Übersee</row></list>';
    expect(await rowsOf(bytes(text, 'latin1'))).toEqual(['1 .=Übersee']);
    expect(await rowsOf(bytes(text.replace('ISO-8859-1', 'UTF-8'), 'latin1'))).toEqual([
      expect.stringContaining('not of its encoding'),
    ]);
  });
});

const LAUGHS = `<?xml version="1.0"?><!DOCTYPE list [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><list><row>&b;</row></list>`;
const wrapped = (text: string) => `<list>${text}</list>`;

/** Only as much is made as is read. */
const endless = (begin: string, piece: string) =>
  function* () {
    yield begin;
    for (;;) yield piece;
  };
const PIECE = 'x'.repeat(1_000_000);

describe('a document is refused', () => {
  test.each<[string, CsvInput | (() => CsvInput), string]>([
    ['that defines entities', LAUGHS, 'DOCTYPE'],
    ['with an external entity', '<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><l>&a;</l>', 'DOCTYPE'],
    ['with a document type of megabytes', `<!DOCTYPE l [${'<!-- x -->'.repeat(200_000)}]><l/>`, 'DOCTYPE'],
    ['that is a page of HTML', '<!doctype html>\n<html><body>Log in</body></html>', 'the source sent HTML, not XML'],
    ['that is nested deeply', `${'<a>'.repeat(100_000)}`, 'deeper than 32'],
    ['with a long text', wrapped(`<row>${'x'.repeat(20_000)}</row>`), '10000 characters'],
    ['with endless text', endless('<list><row>', PIECE), '10000 characters'],
    ['with an endless name', endless('<list><', PIECE), 'not XML'],
    ['with an endless comment', endless('<list><!--', PIECE), 'not XML'],
    ['with endless blanks', endless('<list>', ' '.repeat(100_000)), '16777216'],
    ['with endless rows', endless('<list>', '<row a="1" b="2"/>'.repeat(1000)), 'more than'],
    ['with endless children around its rows', endless('<list>', '<b c="1"/>'.repeat(1000)), 'more than'],
    [
      'whose rows have columns of their own',
      wrapped(Array.from({ length: 2000 }, (_, i) => `<row a${i}="1"/>`).join('')),
      'columns',
    ],
    ['that ends too early', '<list><row>1</row>', 'not XML'],
    ['that is no XML', 'day,price\n2026-01-01,1\n', 'not XML'],
    ['without rows', '<list><other/></list>', '/list/row'],
    ['that is empty', '', '/list/row'],
  ])('%s', async (_, input, why) => {
    const found = await rowsOf(typeof input === 'function' ? input() : input);
    expect(found.at(-1)).toContain(why);
    expect(found).toHaveLength(1);
  });
});

const MAPPING = {
  xml: { rows: '/rates/day/rate' },
  match: ['@currency'],
  market: {
    slug: 'x-{@currency}',
    name: '{@currency}',
    kind: 'fx',
    nativeCurrency: '{@currency}',
    unit: { quantity: '1', of: 'EUR' },
  },
  observation: {
    value: { column: '.', number: { decimalMark: ',' }, rounding: 'nearest' },
    currency: '{@currency}',
    date: { column: '../@at', format: 'YYYY-MM-DD', precision: 'day' },
    ...{ sourceLabel: 'A bank', sourceUrl: 'https://bank.example/', confidence: 'high', status: 'final' },
  },
};

test('a mapping reads a document, with its numbers as they are written', async () => {
  const text =
    '<rates><day at="2026-01-05"><rate currency="USD">1,10</rate><rate currency="JPY">x</rate></day></rates>';
  expect(await mapped(MAPPING, text)).toMatchObject([
    { record: { slug: 'x-usd' } },
    { record: { sourceValue: '1.10', observedAt: '2026-01-05T00:00:00Z' } },
    { kind: 'refusal', line: 1, column: '.' },
  ]);
});

test.each([
  [{ ...MAPPING, json: { rows: '' } }, '/xml'],
  [{ ...MAPPING, csv: { delimiter: ';' } }, '/csv'],
  [{ ...MAPPING, xml: { rows: 'rates/rate' } }, '/xml/rows'],
  [{ ...MAPPING, xml: { rows: '/rates/@rate' } }, '/xml/rows'],
])('a mapping with a fault names its place', (mapping, pointer) => {
  expect(pointersOf(mapping)).toContain(pointer);
});
