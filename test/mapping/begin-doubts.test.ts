/** The identity and the time of all observations hang on some guesses. A file that leaves a doubt about them has it decided by a person. */
import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';
import { parseMappingText } from '../../mapping/declared/parse-mapping.ts';

async function begin(file: string) {
  const begun = await beginMapping(async function* () {
    yield new TextEncoder().encode(file);
  }, 'prices.csv');
  if ('fault' in begun) throw new Error(begun.fault);
  return { text: begun.text, document: parse(begun.text), toFill: begun.toFill.map(({ pointer }) => pointer) };
}

const FILL_IN = expect.stringMatching(/^FILL IN/);
const DAYS = Array.from({ length: 12 }, (_, day) => `2026-01-${String(day + 1).padStart(2, '0')}`);
const IDENTITY = /^\/(match\/\d+|market\/slug|observation\/date\/.*)$/;

describe('a file without a doubt is guessed', () => {
  test.each<[string, string, readonly string[]]>([
    ['one series', ['date,price', ...DAYS.map((day) => `${day},1.5`)].join('\n'), []],
    [
      'series by one column',
      ['date,item,price', ...DAYS.flatMap((day) => [`${day},tea,1.5`, `${day},salt,0.5`])].join('\n'),
      ['item'],
    ],
    [
      'series by two columns, each of them needed',
      [
        'day,item,currency,price',
        ...DAYS.flatMap((day) => [`${day},tea,USD,1.5`, `${day},salt,USD,0.5`, `${day},tea,EUR,1.25`]),
      ].join('\n'),
      ['item', 'currency'],
    ],
  ])('%s', async (_, file, match) => {
    const { document, toFill } = await begin(file);
    expect(document.match).toEqual(match);
    expect(document.market.slug).toBe(['prices', ...match.map((column) => `{${column}}`)].join('-'));
    expect(toFill.filter((pointer) => IDENTITY.test(pointer))).toEqual([]);
  });
});

describe('a doubt is left to a person, with the candidates:', () => {
  /** Each doubt as the pointer of its mark, and a word that the mark must name. */
  test.each<[string, string, readonly (readonly [pointer: string, candidate: string])[]]>([
    [
      'a date of something else',
      ['name,price,deprecation_date', ...DAYS.map((day, index) => `model ${index},${index}.5,${day}`)].join('\n'),
      [
        ['/observation/date/column', 'deprecation_date'],
        ['/match/0', 'name'],
        ['/market/slug', 'match'],
      ],
    ],
    [
      'two dates',
      ['date,update_day,price', ...DAYS.map((day) => `${day},2026-02-01,1.5`)].join('\n'),
      [['/observation/date/column', 'update_day']],
    ],
    [
      'a time of day in a column of its own',
      ['Date,Time,Price', ...DAYS.flatMap((day) => [`${day},00:15,1.5`, `${day},00:30,2.5`])].join('\n'),
      [['/observation/date/column', 'Time']],
    ],
    [
      'an hour in a column of its own',
      ['Date,Hour,Price', ...DAYS.flatMap((day) => ['1', '2', '3'].map((hour) => `${day},${hour},1.5`))].join('\n'),
      [['/observation/date/column', 'Hour']],
    ],
    [
      'a name and an identifier that come together',
      ['date,id,place,price', ...DAYS.flatMap((day) => [`${day},a7,Accra,1.5`, `${day},a9,Lomé,2.5`])].join('\n'),
      [
        ['/match/2', 'these'],
        ['/market/slug', '{place}'],
      ],
    ],
    [
      'a column that is the same in all rows',
      ['date,item,unit,price', ...DAYS.flatMap((day) => [`${day},tea,kg,1.5`, `${day},salt,kg,2.5`])].join('\n'),
      [
        ['/match/2', 'these'],
        ['/market/slug', '{unit}'],
      ],
    ],
    [
      'a column that differs within a market',
      [
        'date,item,flag,price',
        ...DAYS.flatMap((day, index) => [`${day},tea,${'ab'[index % 2]},1.5`, `${day},salt,a,2.5`]),
      ].join('\n'),
      [['/match/1', 'flag']],
    ],
    [
      'rows of one date that no column tells apart',
      ['date,price', ...DAYS.flatMap((day) => [`${day},1.5`, `${day},2.5`])].join('\n'),
      [['/observation/date/column', 'date']],
    ],
    [
      'members of a JSON object that have other texts, too',
      '{"gpt":{"cost":1.6e-05,"provider":"a","deprecation_date":"2026-01-02"},"cat":{"cost":2.5e-08,"provider":"b"}}',
      [
        ['/match/1', 'provider'],
        ['/observation/date/column', 'deprecation_date'],
      ],
    ],
    [
      'one row for each of many names, and no date',
      '{"data":[{"id":"a/x","name":"X","price":1.6e-05},{"id":"a/y","name":"Y","price":2.5e-08},{"id":"b/z","name":"Z","price":3e-07}]}',
      [
        ['/match/0', 'id'],
        ['/match/0', 'name'],
        ['/observation/date/column', 'constant'],
      ],
    ],
  ])('%s', async (_, file, doubts) => {
    const { text, document, toFill } = await begin(file);
    for (const [pointer, candidate] of doubts) {
      const marked = pointer
        .slice(1)
        .split('/')
        .reduce((value, part) => value?.[part], document);
      expect(marked).toEqual(FILL_IN);
      expect(marked).toContain(candidate);
      expect(toFill).toContain(pointer);
    }
    expect(parseMappingText(text)).toHaveProperty('faults');
  });
});

test('the slug has each column of match', async () => {
  const rows = DAYS.flatMap((day) => [`${day},12,Accra,tea,1.5`, `${day},12,Accra,salt,1.5`, `${day},9,Lomé,tea,2.5`]);
  const { document } = await begin(['date,place_id,place,item,price', ...rows].join('\n'));
  for (const column of ['place_id', 'place', 'item']) expect(document.market.slug).toContain(`{${column}}`);
});

test.each([
  ['Price (EUR)', 'EUR'],
  ['close_usd', 'USD'],
  ['Price GBP/t', 'GBP'],
  ['price', null],
  ['Price per kg', null],
  ['Price (XYZ)', null],
  ['EUR/USD', null],
])('the column %j names the currency %s', async (column, code) => {
  const { document, toFill } = await begin([`date,${column}`, ...DAYS.map((day) => `${day},1.5`)].join('\n'));
  const places = ['/market/nativeCurrency', '/observation/currency'];
  expect(toFill.filter((pointer) => places.includes(pointer))).toEqual(code === null ? places : []);
  if (code !== null) expect([document.market.nativeCurrency, document.observation.currency]).toEqual([code, code]);
});
