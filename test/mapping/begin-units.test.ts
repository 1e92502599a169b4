/** The first mapping of a file whose cells have units, short years, or times in forms of their own. */
import { describe, expect, test } from 'vitest';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import { parseMappingText } from '../../mapping/declared/parse-mapping.ts';
import { begin, days, FILL_IN, filledIn } from './begin.ts';

/** One row for each day. */
const daily = (header: string, ...prices: string[]) =>
  [header, ...days(prices.length).map((day, index) => `${day};${prices[index]}`)].join('\n');

describe('a number with a unit is a value, with all that its unit says:', () => {
  test.each<[string, string[], object, string | undefined, unknown]>([
    ['percent', ['16 %', '12,8 %', '9 %'], { decimalMark: ',', signs: ['%'] }, undefined, FILL_IN],
    [
      'hundredths for a thing',
      ['28,71 ct/kWh', '30,05 ct/kWh'],
      { decimalMark: ',', signs: ['ct/kWh'] },
      FILL_IN,
      'kWh',
    ],
    ['a currency for a thing', ['1,66 €/l', '1,71 €/l'], { decimalMark: ',', signs: ['€/l'] }, 'EUR', 'l'],
    [
      'a currency, in words',
      ['80.1 EUR per MWh', '9 EUR per MWh'],
      { decimalMark: '.', signs: ['EUR per MWh'] },
      'EUR',
      'MWh',
    ],
    ['a dollar, which many currencies have', ['$3.00', '$15.00'], { decimalMark: '.', signs: ['$'] }, FILL_IN, FILL_IN],
    [
      'a code after groups',
      ['1,234.5 EUR', '31,002.0 EUR'],
      { decimalMark: '.', groupMark: ',', signs: ['EUR'] },
      'EUR',
      FILL_IN,
    ],
    [
      'a longer sign before a shorter',
      ['5.1 EUR', '5.2 EUR/t'],
      { decimalMark: '.', signs: ['EUR/t', 'EUR'] },
      'EUR',
      't',
    ],
  ])('%s', async (_, prices, number, currency, of) => {
    const { document, text } = await begin(daily('Datum;Preis', ...prices));
    expect(document.observation).toMatchObject({ value: { column: 'Preis', number }, date: { column: 'Datum' } });
    expect([document.observation.currency, document.market.unit.of]).toEqual([currency, of]);
    const parsed = parseMappingText(
      filledIn(text.replace(/"quotedQuantity": "FILL IN[^"\\]*(\\.[^"\\]*)*"/, '"quotedQuantity": "100"')),
    );
    expect('faults' in parsed ? parsed.faults : []).toEqual([]);
  });

  test('with two readings, each choice has the unit', async () => {
    const { document } = await begin(daily('Tag;Preis', '1,679 €/l', '1,689 €/l'));
    expect(document.observation.value.number).toMatch(/^FILL IN: .*"decimalMark":",","signs":\["€\/l"\]/);
  });

  test('rates in percent are no money', async () => {
    const { document } = await begin('Code;Duty %\n0101;16\n0102;12.8\n0203;9');
    expect(document.observation).toMatchObject({ metric: 'duty', unit: 'percent', value: { column: 'Duty %' } });
    expect(document.observation).not.toHaveProperty('currency');
    expect(document.market).toMatchObject({ nativeCurrency: FILL_IN, unit: { quantity: '1' } });
  });

  test.each([['5 pcs'], ['A1'], ['12 May'], ['50 kg']])('%j is not a price', async (text) => {
    const { document } = await begin(daily('Datum;Item;Price', `${text};1.5`, `${text};2.5`));
    expect(document.observation.value).toMatchObject({ column: 'Price' });
  });

  test('the name of a column says the currency and the thing, also beside other slashes', async () => {
    const { document } = await begin(daily('Datum;A/B [€/MWh] raw', '1,50', '2,50'));
    expect([document.observation.currency, document.market.unit.of]).toEqual(['EUR', 'MWh']);
    const pair = await begin(daily('Datum;EUR/USD', '1.5', '2.5'));
    expect(pair.document.market.unit.of).toEqual(FILL_IN);
  });
});

describe('dates', () => {
  const dated = (...dates: string[]) =>
    begin(['Datum;Preis', ...dates.map((date, index) => `${date};${index}.5`)].join('\n'));

  test('with two digits of the year are read if only one order fits, and asked about otherwise', async () => {
    expect((await dated('2.11.26', '13.11.26')).document.observation.date).toMatchObject({
      format: 'D.M.YY',
      precision: 'day',
    });
    expect((await dated('31.12.99', '01.02.98')).document.observation.date.format).toBe('DD.MM.YY');
    const { document } = await dated('02.11.26', '13.11.26');
    expect(document.observation.date.format).toMatch(/^FILL IN: DD.MM.YY or YY.MM.DD/);
  });

  test('of ranges are read', async () => {
    const { document } = await dated('01.10.2025 00:00 - 01.10.2025 00:15', '01.10.2025 00:15 - 01.10.2025 00:30');
    expect(document.observation.date.format).toBe('DD.MM.YYYY HH:mm - DD.MM.YYYY HH:mm');
  });

  const hours = (count: number, form: (hour: number) => string) =>
    Array.from({ length: count }, (_, hour) => form(hour));
  const two = (hour: number) => String(hour % 24).padStart(2, '0');
  test.each<[string, string[], unknown]>([
    ['Time', hours(24, (hour) => `${two(hour)}:00`), 'DD/MM/YYYY HH:mm'],
    ['Hours', hours(24, (hour) => `${two(hour)} - ${two(hour + 1)}`), 'DD/MM/YYYY HH - HH'],
    ['Hora', hours(24, (hour) => String(hour + 1)), 'DD/MM/YYYY #60'],
    ['Hour', hours(24, String), 'DD/MM/YYYY H'],
    ['Settlement Period', hours(48, (hour) => String(hour + 1)), 'DD/MM/YYYY #30'],
    ['Periodo', hours(96, (hour) => String(hour + 1)), 'DD/MM/YYYY #15'],
    [
      'Hour',
      hours(12, (hour) => String(hour + 1)),
      expect.stringMatching(/^FILL IN: DD\/MM\/YYYY H or DD\/MM\/YYYY #60/),
    ],
  ])('with a time in the column %s are read together', async (name, times, format) => {
    const rows = ['24/10/2025', '25/10/2025'].flatMap((day) =>
      times.map((time, index) => `${day};${time};${index}.25`),
    );
    const { document } = await begin([`Date;${name};Price`, ...rows].join('\n'));
    expect(document.observation.date).toMatchObject({
      column: ['Date', name],
      format,
      precision: 'instant',
      offset: FILL_IN,
    });
  });
});

test('a file of hours with both hours of autumn is right after the questions are answered', async () => {
  const times = ['00', '01', '02', '02', '03'];
  const csv = ['Date;Hours;SE1', ...times.map((hour, index) => `26-10-2025;${hour} - 0${index};${index},5`)].join('\n');
  const { text } = await begin(csv);
  const answered = filledIn(
    text.replace(/"offset": "FILL IN(\\.|[^"\\])*"/, '"timeZone": "Europe/Stockholm", "overlap": "in-order"'),
  );
  const parsed = parseMappingText(answered);
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  const moments: string[] = [];
  for await (const row of mapCsv(parsed.mapping, csv)) {
    if (row.kind === 'refusal') throw new Error(row.detail);
    if (row.record.type === 'observation') moments.push(row.record.observedAt.slice(5, 13));
  }
  expect(moments).toEqual(['10-25T22', '10-25T23', '10-26T00', '10-26T01', '10-26T02']);
});
