/** Forms that real files hold, by declaration: signs, marks, dates in parts, local times, constant dates, microseconds. */
import { describe, expect, test } from 'vitest';
import { checkMapping } from '../../mapping/check/check-mapping.ts';
import { type Changes, changed, mapped, pointersOf } from './mapped.ts';

const SERIES: unknown = {
  match: [],
  market: { slug: 'power', name: 'Power', kind: 'power', nativeCurrency: 'EUR', unit: { quantity: '1000', of: 'MWh' } },
  observation: {
    value: { column: 'Price', quotedQuantity: '1', rounding: 'refuse', zero: 'asserted' },
    currency: 'EUR',
    date: { column: 'Day', format: 'YYYY-MM-DD', precision: 'day' },
    ...{ sourceLabel: 'Exchange', sourceUrl: 'https://example.org/', confidence: 'high', status: 'final' },
  },
};

/** Each row as `source digits at moment`, or the code, column and rule of its refusal; or the faults of the mapping. */
async function map(changes: Changes, header: string, ...rows: string[]): Promise<string[]> {
  const document = changed(SERIES, changes);
  const faults = pointersOf(document);
  if (faults.length > 0) return faults;
  return (await mapped(document, [header, ...rows].join('\n'))).flatMap((row) => {
    if (row.kind === 'refusal') return [`${row.code} ${row.column} ${row.rule ?? ''}`.trim()];
    return 'sourceValue' in row.record ? [`${row.record.sourceValue} at ${row.record.observedAt}`] : [];
  });
}

const NUMBER = '/observation/value/number';
const DATE = '/observation/date';

describe('a number', () => {
  const mapped = async (number: object, ...prices: string[]) =>
    (await map({ [NUMBER]: number }, 'Day,Price', ...prices.map((price, day) => `2026-01-1${day},"${price}"`))).map(
      (text) => text.replace(/ at .*/, ''),
    );

  test('with a sign is read if the mapping names it', async () => {
    const signs = ['€', 'EUR/MWh'];
    expect(await mapped({ signs }, '0.58€', '€ 0.58', '-€0.58', '0.58 EUR/MWh', '€-0.58', '0.58', '1.6e-03€')).toEqual([
      ...['0.58', '0.58', '-0.58', '0.58', '-0.58', '0.58', '1.6e-03'],
    ]);
    expect(await mapped({ signs: ['€'] }, '£0.58', '£ 0,58', '0.58€€', '- 0.58')).toEqual([
      'record.invalid Price sign',
      'record.invalid Price sign',
      'record.invalid Price sign',
      expect.stringContaining('record.invalid'),
    ]);
  });

  test('with a sign that the mapping names is refused for the rule that it breaks', async () => {
    const number = { decimalMark: ',', signs: ['€'] };
    expect(await mapped(number, '€ 1.200,50', '1.200 €', '1.5€', '€ x')).toEqual([
      ...['mark', 'mark', 'mark', 'word'].map((rule) => `record.invalid Price ${rule}`),
    ]);
    expect(await mapped({ ...number, groupMark: '.' }, '€ 1.200,50')).toEqual(['1200.50']);
  });

  test('with a word that may multiply it is refused by a rule of its own, because as a sign it would change the number', async () => {
    expect(await mapped({ signs: ['€'] }, '128K', '€3.4T', '1.5 Mio. €', '2 million', '12.5 kg', '5 Btu')).toEqual([
      ...['scale', 'scale', 'scale', 'scale', 'sign', 'sign'].map((rule) => `record.invalid Price ${rule}`),
    ]);
  });

  test('with a word for hundredths is refused by a rule of its own, also before a unit', async () => {
    expect(await mapped({}, '28.71 ct', '28.71 ct/kWh', '12 p per kWh', '5 p.a.', '5 carats')).toEqual([
      ...['hundredths', 'hundredths', 'hundredths', 'other', 'sign'].map((rule) => `record.invalid Price ${rule}`),
    ]);
  });

  test('that is a percentage is refused by a rule of its own, because it is no money', async () => {
    expect(await mapped({}, '3.25%', '16 %')).toEqual(new Array(2).fill('record.invalid Price percent'));
  });

  test('that is free is refused by another rule than a missing one, because it is known', async () => {
    expect(await mapped({}, 'Free', 'n.a.')).toEqual(['record.invalid Price free', 'record.invalid Price word']);
  });

  test.each<[string, string[], string, boolean]>([
    ['a euro and a dollar', ['€', '$'], 'EUR', true],
    ['a euro, its code and a unit', ['€', 'EUR', '€/MWh', 'per MWh'], 'EUR', false],
    ['a dollar and its code', ['$', 'USD', 'US$'], 'USD', false],
    ['a euro and a dollar, where the row says the currency', ['€', '$'], '{ccy}', false],
  ])('with signs of %s', async (_, signs, currency, isRefused) => {
    const rows = await map({ [NUMBER]: { signs }, '/observation/currency': currency }, 'Day,Price,ccy');
    expect(rows).toEqual(isRefused ? [`${NUMBER}/signs`] : []);
  });

  test.each([['1€'], ['-'], ['+5'], ['1,5']])('%j is no sign', async (sign) => {
    expect(await map({ [NUMBER]: { signs: [sign] } }, 'Day,Price')).toEqual([`${NUMBER}/signs/0`]);
  });

  test('with either mark is read, but for what may be a thousand', async () => {
    expect(await mapped({ decimalMark: 'either' }, '0.58', '0,58', '-1234,5', '0.580', '12', '1234.567')).toEqual([
      ...['0.58', '0.58', '-1234.5', '0.580', '12', '1234.567'],
    ]);
    expect(await mapped({ decimalMark: 'either' }, '1.234', '12,345', '1.234,5')).toEqual([
      'record.invalid Price undecided',
      'record.invalid Price undecided',
      'record.invalid Price mark',
    ]);
    expect(await mapped({ decimalMark: 'either', groupMark: '.' }, '1')).toEqual([`${NUMBER}/groupMark`]);
    expect(await mapped({ decimalMark: 'either', groupMark: ' ' }, '1 234,5')).toEqual(['1234.5']);
  });

  test('that is not written as the mapping says is one refusal a rule, however many rows there are', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => `2026-01-02,0.${100 + (index % 900)}€`);
    const csv = ['Day,Price', ...rows, '2026-01-03,n.a.', '2026-01-04,"0,5"'].join('\n');
    const { file } = await checkMapping(JSON.stringify(SERIES), csv);
    expect(file?.refused.groups.map(({ count, first }) => [first.rule, count, first.line])).toEqual([
      ['sign', 20_000, 2],
      ['word', 1, 20_002],
      ['mark', 1, 20_003],
    ]);
    expect(file?.refused.groups[0]?.first.detail).toContain('€');
    expect(file?.refused.groups[0]?.first.detail).not.toContain('blankValues');
  });
});

describe('a moment', () => {
  const berlin = {
    column: ['Day', 'Time'],
    format: 'YYYY-MM-DD HH:mm',
    precision: 'instant',
    timeZone: 'Europe/Berlin',
  };
  const at = (date: object, ...rows: string[]) =>
    map({ [DATE]: date }, 'Day,Time,Price', ...rows.map((row) => `${row},1.5`));

  test('in two columns, of local time, in winter and in summer', async () => {
    expect(await at(berlin, '2026-01-02,13:00', '2026-07-02,13:00', '2026-07-02,', ',', '1890-01-01,12:00')).toEqual([
      '1.5 at 2026-01-02T12:00:00Z',
      '1.5 at 2026-07-02T11:00:00Z',
      'record.invalid Day form',
      'provenance.incomplete Day',
      'date.implausible Day',
    ]);
  });

  test('that the clocks skip is refused, and one that they show twice unless the mapping says which', async () => {
    const rows = ['2026-03-29,01:59', '2026-03-29,02:00', '2026-03-29,02:59', '2026-03-29,03:00', '2026-10-25,02:30'];
    const spring = [
      '1.5 at 2026-03-29T00:59:00Z',
      ...new Array(2).fill('record.invalid Day gap'),
      '1.5 at 2026-03-29T01:00:00Z',
    ];
    expect(await at(berlin, ...rows)).toEqual([...spring, 'record.invalid Day overlap']);
    expect(await at({ ...berlin, overlap: 'earlier' }, ...rows)).toEqual([...spring, '1.5 at 2026-10-25T00:30:00Z']);
    expect(await at({ ...berlin, overlap: 'later' }, ...rows)).toEqual([...spring, '1.5 at 2026-10-25T01:30:00Z']);
  });

  test('keeps an offset of its own', async () => {
    const format = ['YYYY-MM-DD HH:mm', 'YYYY-MM-DD HH:mmZ'];
    expect(await at({ ...berlin, format }, '2026-10-25,02:30+02:00', '2026-10-26,02:30')).toEqual([
      '1.5 at 2026-10-25T00:30:00Z',
      '1.5 at 2026-10-26T01:30:00Z',
    ]);
  });

  test.each<[string, object, string]>([
    ['an unknown zone', { timeZone: 'Europe/Atlantis' }, `${DATE}/timeZone`],
    ['a zone and an offset', { offset: 'UTC' }, `${DATE}/offset`],
    ['no zone, but a choice', { timeZone: undefined, offset: 'UTC', overlap: 'later' }, `${DATE}/overlap`],
    ['neither column nor constant', { column: undefined }, DATE],
    ['both', { constant: '2026-01-02 10:00' }, DATE],
  ])('with %s is a fault of the mapping', async (_, change, pointer) => {
    expect(await at({ ...berlin, ...change }, '2026-01-02,13:00')).toEqual([pointer]);
  });

  test('is the same for all rows, if the mapping says it', async () => {
    const constant = { constant: '1.11.2026', format: 'D.M.YYYY', precision: 'day' };
    expect(await map({ [DATE]: constant }, 'Price', '1.5')).toEqual(['1.5 at 2026-11-01T00:00:00Z']);
    expect(await map({ [DATE]: { ...constant, constant: '31.2.2026' } }, 'Price', '1.5')).toEqual([`${DATE}/constant`]);
    const whenBlank = { column: 'x', format: 'D.M.YYYY' };
    expect(await map({ [DATE]: { ...constant, whenBlank } }, 'Price,x', '1.5,2026')).toEqual([`${DATE}/whenBlank`]);
  });

  test('with microseconds is refused; cut if the mapping says so', async () => {
    const date = { column: 'Day', format: 'YYYY-MM-DDTHH:mm:ss.SZ', precision: 'instant' };
    const rows = ['2026-01-02T10:00:00.123456Z,1.5', '2026-01-02T11:00:00.123000Z,1.5', '2026-01-02T12:00:00.5Z,1.5'];
    const kept = ['1.5 at 2026-01-02T11:00:00.123Z', '1.5 at 2026-01-02T12:00:00.500Z'];
    expect(await map({ [DATE]: date }, 'Day,Price', ...rows)).toEqual(['record.invalid Day finer', ...kept]);
    const cut = { [DATE]: { ...date, beyondMilliseconds: 'cut' } };
    expect(await map(cut, 'Day,Price', ...rows)).toEqual(['1.5 at 2026-01-02T10:00:00.123Z', ...kept]);
  });

  test('of a release may be of local time, too', async () => {
    const releasedAt = { column: ['Day', 'Time'], format: 'YYYY-MM-DD HH:mm', timeZone: 'Europe/Berlin' };
    const csv = 'Day,Time,Price\n2026-07-02,13:00,1.5\n2026-03-29,02:30,1.5';
    const found = (await mapped(changed(SERIES, { '/observation/releasedAt': releasedAt }), csv)).map((row) =>
      row.kind === 'refusal' ? [row.pointer, row.rule] : 'releasedAt' in row.record && row.record.releasedAt,
    );
    expect(found).toEqual([false, '2026-07-02T11:00:00Z', ['/releasedAt', 'gap']]);
  });
});
