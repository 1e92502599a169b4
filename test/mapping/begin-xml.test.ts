/** Starting mappings for XML documents: where their rows are. */
import { parse } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';
import { ecbXml, HMRC_XML } from '../sources/real-forms.ts';

async function begin(text: string) {
  const begun = await beginMapping(async function* () {
    yield new TextEncoder().encode(text);
  }, 'rates.xml');
  return 'fault' in begun ? begun : parse(begun.text);
}

test('the daily document of the ECB has its currencies as markets, and the day around them', async () => {
  expect(await begin(ecbXml(['2026-09-29']))).toMatchObject({
    xml: { rows: '/Envelope/Cube/Cube/Cube' },
    match: ['@currency'],
    market: { slug: 'rates-{@currency}', nativeCurrency: '{@currency}' },
    observation: { value: { column: '@rate' }, date: { column: '../@time', format: 'YYYY-MM-DD', precision: 'day' } },
  });
});

test('that of many days, too', async () => {
  expect(await begin(ecbXml(['2026-09-29', '2026-09-15', '2026-08-31']))).toMatchObject({
    match: ['@currency'],
    observation: { value: { column: '@rate' }, date: { column: '../@time' } },
  });
});

test('rows may have children in place of attributes', async () => {
  expect(await begin(HMRC_XML)).toMatchObject({
    xml: { rows: '/exchangeRateMonthList/exchangeRate' },
    observation: { value: { column: 'rateNew' } },
  });
});

test.each([
  ['<!DOCTYPE a [<!ENTITY b "c">]><a/>', 'DOCTYPE'],
  ['<a></a>', 'where are its rows'],
  ['<a', 'not XML'],
])('the fault of %s is told', async (text, why) => {
  expect(await begin(text)).toMatchObject({ fault: expect.stringContaining(why) });
});
