/** The time of release of a row: from a template or a column, or not known; never guessed. */
import { describe, expect, test } from 'vitest';
import { parseRecord } from '../../lambdas/markets/rules/row-rules.ts';
import { exampleMapping } from './example-mapping.ts';
import { type Changes, changed, mapped, pointersOf } from './mapped.ts';

const RELEASED = '/observation/releasedAt';

const HEADER = 'item,currency,price,day,version,flag,released';
const mappedBy = (changes: Changes, ...rows: readonly string[]) =>
  mapped(changed(exampleMapping, changes), [HEADER, ...rows].join('\n'));

/** The release of each row of tea, in US dollars; or its refusal. */
async function releasesOf(releasedAt: unknown, ...cells: readonly string[]): Promise<unknown[]> {
  const rows = cells.map((cell, index) => `tea,usd,1.5,2026-02-0${index + 1},,actual,${cell}`);
  const results = await mappedBy({ [RELEASED]: releasedAt }, ...rows);
  return results.flatMap((row) => {
    if (row.kind === 'refusal') return [`${row.line} ${row.code} ${row.pointer} (${row.column})`];
    if (row.record.type !== 'observation') return [];
    expect(parseRecord(row.record)).toHaveProperty('record');
    return ['releasedAt' in row.record ? row.record.releasedAt : 'not known'];
  });
}

test('a release of the date of the value is not refused, too, where that date is', async () => {
  const found = await mappedBy({ [RELEASED]: '{observedDate}T16:00:00Z' }, 'tea,usd,1.5,2026-02-30,,actual,');
  expect(found).toMatchObject([{ kind: 'refusal', pointer: '/observedAt' }]);
});

test('only a release that is early or long before its value is confirmed', async () => {
  const times = [
    ['1950-01-02', '1950-01-03'],
    ['1900-01-02', '1899-12-31'],
    ['1950-01-04', '1940-01-03'],
  ];
  const rows = times.map(([day, released]) => `tea,usd,1.5,${day},,actual,${released}T10:00:00Z`);
  const [, ...found] = await mappedBy({ [RELEASED]: '{released}', '/observation/date/early': 'confirmed' }, ...rows);
  const confirmed = found.map((row) => row.kind === 'record' && 'dateConfirmed' in row.record);
  expect([found.map(({ kind }) => kind), confirmed]).toEqual([Array(3).fill('record'), [false, true, true]]);
});

const NOT_A_TIME = '2 record.invalid /releasedAt (released)';

describe('a template', () => {
  test.each<[string, unknown, string, unknown]>([
    ['that is a column of times', '{released}', '2026-02-03T14:30:00Z', '2026-02-03T14:30:00Z'],
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
  ])('with %s is refused with the mapping', (_, releasedAt, pointers) => {
    expect([...new Set(pointersOf(changed(exampleMapping, { [RELEASED]: releasedAt })))]).toEqual(pointers);
  });
});

test('a file without the column of the release is refused', async () => {
  expect(await mappedBy({ [RELEASED]: '{published}' })).toMatchObject([
    { kind: 'refusal', line: 1, column: 'published' },
  ]);
});
