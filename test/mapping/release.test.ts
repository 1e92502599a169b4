/** The time of release of a row: from a template or a column, or not known; never guessed. */
import { describe, expect, test } from 'vitest';
import { parseRecord } from '../../lambdas/markets/rules/row-rules.ts';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import { parseMapping } from '../../mapping/declared/parse-mapping.ts';
import { exampleMapping, withChange } from './example-mapping.ts';

const RELEASED = '/observation/releasedAt';

/** The release of each row of tea, in US dollars; or its refusal. */
async function releasesOf(releasedAt: unknown, ...cells: readonly string[]): Promise<unknown[]> {
  const parsed = parseMapping(withChange(exampleMapping, RELEASED, releasedAt));
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  const rows = cells.map((cell, index) => `tea,usd,1.5,2026-02-0${index + 1},,actual,${cell}`);
  const found: unknown[] = [];
  for await (const row of mapCsv(
    parsed.mapping,
    `item,currency,price,day,version,flag,released\n${rows.join('\n')}\n`,
  )) {
    if (row.kind === 'refusal') found.push(`${row.line} ${row.code} ${row.pointer} (${row.column})`);
    else if (row.record.type === 'observation') {
      expect(parseRecord(row.record)).toHaveProperty('record');
      found.push('releasedAt' in row.record ? row.record.releasedAt : 'not known');
    }
  }
  return found;
}

test('a release of the date of the value is not refused, too, where that date is', async () => {
  const parsed = parseMapping(withChange(exampleMapping, RELEASED, '{observedDate}T16:00:00Z'));
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  const found: unknown[] = [];
  const csv = 'item,currency,price,day,version,flag\ntea,usd,1.5,2026-02-30,,actual\n';
  for await (const row of mapCsv(parsed.mapping, csv)) found.push(row);
  expect(found).toMatchObject([{ kind: 'refusal', pointer: '/observedAt' }]);
});

test('only a release that is early or long before its value is confirmed', async () => {
  const document = withChange(exampleMapping, RELEASED, '{released}');
  const parsed = parseMapping(withChange(document, '/observation/date/early', 'confirmed'));
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  const times = [
    ['1950-01-02', '1950-01-03'],
    ['1900-01-02', '1899-12-31'],
    ['1950-01-04', '1940-01-03'],
  ];
  const rows = times.map(([day, released]) => `tea,usd,1.5,${day},,actual,${released}T10:00:00Z\n`);
  const confirmed: boolean[] = [];
  for await (const row of mapCsv(parsed.mapping, `item,currency,price,day,version,flag,released\n${rows.join('')}`)) {
    if (row.kind === 'refusal') throw new Error(row.detail);
    if (row.record.type === 'observation') confirmed.push('dateConfirmed' in row.record);
  }
  expect(confirmed).toEqual([false, true, true]);
});

const NOT_A_TIME = '2 record.invalid /releasedAt (released)';

describe('a template', () => {
  test.each<[string, unknown, string, unknown]>([
    ['that is a column of times', '{released}', '2026-02-03T14:30:00Z', '2026-02-03T14:30:00Z'],
    ['with white space around the cell', '{released}', ' 2026-02-03T14:30:00Z ', '2026-02-03T14:30:00Z'],
    ['that adds the hour', '{released}T14:30:00Z', '2026-02-03', '2026-02-03T14:30:00Z'],
    ['of the date of the value', '{observedDate}T16:00:00Z', 'unused', '2026-02-01T16:00:00Z'],
    ['without a column: one release of the whole file', '2026-02-03T14:30:00Z', '', '2026-02-03T14:30:00Z'],
    ['of a blank cell', '{released}T14:30:00Z', '', 'not known'],
    ['of a day without a time', '{released}', '2026-02-03', NOT_A_TIME],
    ['of an offset', '{released}', '2026-02-03T14:30:00+01:00', NOT_A_TIME],
    ['of a day that no calendar has', '{released}T14:30:00Z', '2026-02-30', NOT_A_TIME],
    [
      'of a year long before the date of the value',
      '{released}',
      '2020-02-03T14:30:00Z',
      '2 date.implausible /releasedAt (null)',
    ],
    ['of a word', '{released}', 'soon', NOT_A_TIME],
    ['of two columns', '{released}T{flag}', '2026-02-03', '2 record.invalid /releasedAt (null)'],
  ])('%s', async (_, template, cell, expected) => {
    expect(await releasesOf(template, cell)).toEqual([expected]);
  });
});

describe('a column', () => {
  const column = { column: 'released', format: ['DD.MM.YYYY HH:mm', 'YYYY-MM-DDTHH:mm:ssZ'], offset: '+01:00' };

  test('of several forms gives instants of UTC, and nothing where it is blank', async () => {
    expect(await releasesOf(column, '03.02.2026 09:15', '', '2026-02-03T09:15:00-05:00', '03.02.2026')).toEqual([
      '2026-02-03T08:15:00Z',
      'not known',
      '2026-02-03T14:15:00Z',
      '5 record.invalid /releasedAt (released)',
    ]);
  });

  test.each<[string, unknown, readonly string[]]>([
    ['a day without a time', { ...column, format: 'DD.MM.YYYY' }, [`${RELEASED}/format`]],
    ['a time without an offset', { column: 'released', format: 'DD.MM.YYYY HH:mm' }, [`${RELEASED}/format`]],
    ['a precision', { ...column, precision: 'day' }, [`${RELEASED}/precision`]],
    ['no column', { format: 'YYYY-MM-DDTHH:mm:ssZ' }, [`${RELEASED}/column`]],
    ['a brace alone', '{released', [RELEASED]],
    ['a number', 20260203, [RELEASED]],
  ])('with %s is refused with the mapping', (_, releasedAt, pointers) => {
    const parsed = parseMapping(withChange(exampleMapping, RELEASED, releasedAt));
    const found = 'faults' in parsed ? parsed.faults.map(({ pointer }) => pointer) : [];
    expect([...new Set(found)]).toEqual(pointers);
  });
});

test('a file without the column of the release is refused', async () => {
  const parsed = parseMapping(withChange(exampleMapping, RELEASED, '{published}'));
  if ('faults' in parsed) throw new Error('refused');
  const rows: unknown[] = [];
  for await (const row of mapCsv(parsed.mapping, 'item,currency,price,day,version,flag\n')) rows.push(row);
  expect(rows).toMatchObject([{ kind: 'refusal', line: 1, column: 'published' }]);
});
