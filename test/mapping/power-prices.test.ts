/** Files of power prices in local time: each row has its true moment, or is refused. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changed, mapped, pointersOf } from './mapped.ts';

const DATE = { column: 'From', format: 'DD.MM.YYYY HH:mm', precision: 'instant', timeZone: 'Europe/Berlin' } as const;
const POWER: unknown = {
  csv: { delimiter: ';' },
  match: ['Area'],
  market: { slug: 'power-{Area}', name: '{Area}', kind: 'power', unit: { quantity: '1', of: 'MWh' } },
  observation: {
    value: { column: 'Price', number: { decimalMark: ',' }, rounding: 'refuse', zero: 'asserted' },
    currency: 'EUR',
    date: { ...DATE, overlap: 'in-order' },
    ...{ sourceLabel: 'Exchange', sourceUrl: 'https://example.org/', confidence: 'high', status: 'final' },
  },
};

/** By market and price, the moment that each row has; or the rule by which it is refused. */
async function momentsOf(rows: readonly string[], header = 'From;Area;Price', changes = {}): Promise<string[]> {
  return (await mapped(changed(POWER, changes), [header, ...rows].join('\n'))).flatMap((row) => {
    if (row.kind === 'refusal') return [`${row.line} ${row.rule}`];
    if (!('sourceValue' in row.record)) return [];
    return [
      `${row.record.market.slice(6).toUpperCase()} ${row.record.sourceValue} ${row.record.observedAt.replace(':00Z', 'Z')}`,
    ];
  });
}

const hour = (time: string, price: number, area = 'DE') => `26.10.2025 ${time};${area};${price}`;
const AUTUMN = [hour('01:00', 1), hour('02:00', 2), hour('02:00', 3), hour('03:00', 4)];
const IN_UTC = ['DE 1 2025-10-25T23:00Z', 'DE 2 2025-10-26T00:00Z', 'DE 3 2025-10-26T01:00Z', 'DE 4 2025-10-26T02:00Z'];

describe('the hour of autumn that stands twice is told by the order of the rows, if the mapping says so:', () => {
  test('the first row is in summer time', async () => {
    expect(await momentsOf(AUTUMN)).toEqual(IN_UTC);
    expect(await momentsOf(AUTUMN.slice(1)), 'the file begins with it').toEqual(IN_UTC.slice(1));
    expect(await momentsOf(AUTUMN.slice(0, 3)), 'the file ends with it').toEqual(IN_UTC.slice(0, 3));
  });

  test('in a file with the newest row first, the first row is in winter time', async () => {
    expect(await momentsOf(AUTUMN.toReversed())).toEqual(IN_UTC.toReversed());
  });

  test('in each quarter of an hour, and for each market, whether their rows alternate or not', async () => {
    const day = fc.record({
      zone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'),
      minutes: fc.constantFrom(15, 30, 60),
      isBlocks: fc.boolean(),
      isNewestFirst: fc.boolean(),
      start: fc.integer({ min: 0, max: 364 }),
    });
    await fc.assert(
      fc.asyncProperty(day, async ({ zone, minutes: wish, isBlocks, isNewestFirst, start }) => {
        // Its clocks are set back by half an hour, so no full hour stands twice.
        const minutes = zone === 'Australia/Lord_Howe' ? 15 : wish;
        const first = Date.UTC(2025, 0, 1 + start, 8);
        const clock = new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
        const times = Array.from({ length: (36 * 60) / minutes }, (_, index) => first + index * minutes * 60_000);
        const rows = times.flatMap((ms, index) =>
          ['A', 'B'].map((area) => ({ area, price: index + 1, text: clock.format(ms).replace(', ', ' '), ms })),
        );
        if (isBlocks) rows.sort((one, other) => (one.area < other.area ? -1 : one.area > other.area ? 1 : 0));
        if (isNewestFirst) rows.reverse();
        const file = rows.map(({ area, price, text }) => `${text};${area};${price}`);
        const at = ({ area, price, ms }: (typeof rows)[number]) =>
          `${area} ${price} ${new Date(ms).toISOString().slice(0, 16)}Z`;
        const found = await momentsOf(file, undefined, {
          '/observation/date/format': 'DD/MM/YYYY HH:mm',
          '/observation/date/timeZone': zone,
        });
        expect(found).toEqual(rows.map(at));
      }),
      { numRuns: 25 },
    );
  });

  test.each<[string, string[], string[]]>([
    ['only once', [AUTUMN[0], AUTUMN[1], AUTUMN[3]] as string[], ['3']],
    ['three times', [...AUTUMN.slice(0, 3), AUTUMN[2], AUTUMN[3]] as string[], ['3', '4', '5']],
    ['alone in the file', AUTUMN.slice(1, 3), ['2', '3']],
    ['between rows that are in no order', [AUTUMN[3], AUTUMN[1], AUTUMN[2], hour('04:00', 5)] as string[], ['3', '4']],
    ['for another market', [AUTUMN[0], AUTUMN[1], hour('02:00', 3, 'FR'), AUTUMN[3]] as string[], ['3', '4']],
    [
      'with quarters in pairs',
      ['00', '00', '15', '15'].map((minute, index) => hour(`02:${minute}`, index)),
      ['2', '3', '4', '5'],
    ],
  ])('a time that stands there %s is refused', async (_, rows, lines) => {
    const found = await momentsOf(rows);
    expect(found.filter((text) => text.endsWith('overlap'))).toEqual(lines.map((line) => `${line} overlap`));
  });

  test('in a wide table, a row stands for all of its columns', async () => {
    const changes = {
      '/match': ['Area'],
      '/unpivot': { columns: { except: ['From'] }, name: 'Area', value: 'Price' },
    };
    const rows = AUTUMN.map((row) => row.replace(';DE;', ';').replace(/$/, ',5;9'));
    const found = await momentsOf(rows, 'From;DE;FR', changes);
    expect(found.filter((text) => text.startsWith('DE'))).toEqual(IN_UTC.map((text) => text.replace(/(\d) /, '$1.5 ')));
    expect(found).toHaveLength(8);
  });

  test('the date must be in the columns of the file, because a table says nothing about their order', () => {
    const tables = [{ key: '{Hour}', columns: ['From'], rows: {} }];
    expect(pointersOf(changed(POWER, { '/tables': tables }))).toEqual(['/observation/date/overlap']);
  });
});

describe('a time may be', () => {
  const at = (format: string, column: string | string[] = 'From') => ({
    '/observation/date/format': format,
    '/observation/date/column': column,
  });

  test('a range, of which the beginning counts, with spaces of any kind and a dash', async () => {
    const rows = ['26.10.2025 02:00:00 - 26.10.2025 02:00:00;DE;2', '26.10.2025 02:00:00 - 26.10.2025 03:00:00;DE;3'];
    const next = '26.10.2025 03:00:00\u00a0–\u00a026.10.2025 04:00:00;DE;4';
    const format = at('DD.MM.YYYY HH:mm:ss - DD.MM.YYYY HH:mm:ss');
    expect(await momentsOf([...rows, next], undefined, format)).toEqual(IN_UTC.slice(1));
    const hours = [
      '26-10-2025;01 - 02;DE;1',
      '26-10-2025;02 - 02;DE;2',
      '26-10-2025;02 - 03;DE;3',
      '26-10-2025;03 - 04;DE;4',
    ];
    const parts = at('DD-MM-YYYY HH - HH', ['From', 'Hours']);
    expect(await momentsOf(hours, 'From;Hours;Area;Price', parts)).toEqual(IN_UTC);
    expect(await momentsOf(['26-10-2025;01 - 02 PM;DE;1'], 'From;Hours;Area;Price', parts)).toEqual(['2 form']);
  });

  test.each([60, 30, 15])(
    'the number of a part of the day of %i minutes, without a doubt when the clocks change',
    async (minutes) => {
      const days = ['2025-10-25', '2025-10-26', '2025-03-30'].map((day) => {
        const noon = Date.parse(`${day}T12:00:00Z`);
        const isOf = (ms: number) => new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Berlin' }).format(ms) === day;
        const times = Array.from(
          { length: 2880 / minutes },
          (_, index) => noon + (index - 1440 / minutes) * minutes * 60_000,
        );
        return { day, times: times.filter(isOf) };
      });
      expect(days.map(({ times }) => (times.length * minutes) / 60)).toEqual([24, 25, 23]);
      const rows = days.flatMap(({ day, times }) => times.map((_, index) => `${day};${index + 1};DE;1`));
      const format = at(`YYYY-MM-DD #${minutes}`, ['From', 'Hour']);
      const found = await momentsOf(rows, 'From;Hour;Area;Price', format);
      const right = days.flatMap(({ times }) => times.map((ms) => `DE 1 ${new Date(ms).toISOString().slice(0, 16)}Z`));
      expect(found).toEqual(right);
      const beyond = days.map(({ day, times }) => `${day};${times.length + 1};DE;1`);
      const refused = await momentsOf([...beyond, '2025-10-26;0;DE;1'], 'From;Hour;Area;Price', format);
      expect(refused).toEqual(['2 gap', expect.stringMatching(/^3 (gap|form)$/), '4 gap', '5 form']);
    },
  );

  test('no range that ends in what its beginning lacks, and no number beside a time', () => {
    for (const format of ['YYYY-MM-DD HH:mm - HH:mm:ss', 'YYYY-MM-DD HH:MM', 'YYYY-MM-DD HH:mm #60', 'YYYY-MM #60']) {
      expect(pointersOf(changed(POWER, at(format))), format).toEqual(['/observation/date/format']);
    }
  });
});
