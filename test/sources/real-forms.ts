/**
 * The files of real sources, in their exact form: order of columns, notation of dates and numbers, delimiters, archives.
 * The numbers are those of the sample.
 */
import { readFileSync } from 'node:fs';
import { zipArchive } from './zip-archive.ts';

/** The columns of eurofxref-hist.csv. The last delimiter of each line follows a column without a name. */
const ECB_HISTORY =
  'USD,JPY,BGN,CYP,CZK,DKK,EEK,GBP,HUF,LTL,LVL,MTL,PLN,ROL,RON,SEK,SIT,SKK,CHF,ISK,NOK,HRK,RUB,TRL,TRY,AUD,BRL,CAD,CNY,HKD,IDR,ILS,INR,KRW,MXN,MYR,NZD,PHP,SGD,THB,ZAR'.split(
    ',',
  );
/** Those of eurofxref.csv: the currencies of today. */
export const ECB_DAILY =
  'USD,JPY,CZK,DKK,GBP,HUF,PLN,RON,SEK,CHF,ISK,NOK,TRY,AUD,BRL,CAD,CNY,HKD,IDR,ILS,INR,KRW,MXN,MYR,NZD,PHP,SGD,THB,ZAR'.split(
    ',',
  );

/** The sample's values, by base, then day, then quote. */
const VALUES = new Map<string, Map<string, Map<string, string>>>();
const [, ...lines] = readFileSync(new URL('../../mapping/sample/currency-api.csv', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');
for (const line of lines) {
  const [, day = '', base = '', quote = '', value = ''] = line.split(',');
  if (value === '') continue;
  const days = VALUES.get(base) ?? new Map<string, Map<string, string>>();
  days.set(day, (days.get(day) ?? new Map<string, string>()).set(quote, value));
  VALUES.set(base, days);
}

/** The days of which the sample has euro rates. */
export const EURO_DAYS = VALUES.get('eur')?.size ?? 0;

/** The document of currency-api; null if the sample has none. It lists the base itself, too. */
export function currencyApiJson(base: string, day: string): string | null {
  const quotes = VALUES.get(base)?.get(day);
  if (quotes === undefined) return null;
  const members = [...quotes, [base, '1']].map(([quote, value]) => `\t\t"${quote}": ${value}`);
  return `{\n\t"date": "${day}",\n\t"${base}": {\n${members.join(',\n')}\n\t}\n}`;
}

/** Newest first, `N/A` for a currency without a rate, no zeros at the end of a number. */
export function ecbHistoryZip(): Buffer {
  const rows = [...(VALUES.get('eur') ?? [])].sort().reverse();
  const lines = rows.map(([day, quotes]) => {
    const rates = ECB_HISTORY.map((code) => quotes.get(code.toLowerCase()) ?? 'N/A');
    return `${[day, ...rates].join(',')},\n`;
  });
  const content = `Date,${ECB_HISTORY.join(',')},\n${lines.join('')}`;
  return zipArchive([{ name: 'eurofxref-hist.csv', content }]);
}

/** The XML documents of the ECB: newest day first, attributes in single quotes, no zeros at the end of a number. */
export function ecbXml(days: readonly string[]): string {
  const cubes = days.map((day) => {
    const quotes = VALUES.get('eur')?.get(day);
    const rates = ECB_DAILY.map(
      (code) => `\t\t\t<Cube currency='${code}' rate='${quotes?.get(code.toLowerCase())}'/>\n`,
    );
    return `\t\t<Cube time='${day}'>\n${rates.join('')}\t\t</Cube>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>
\t\t<gesmes:name>European Central Bank</gesmes:name>
\t</gesmes:Sender>
\t<Cube>
${cubes.join('')}\t</Cube>
</gesmes:Envelope>`;
}

/** Providers, then models. Prices are for a million tokens; not every model has them. */
export const MODELS_DEV = JSON.stringify({
  openai: {
    ...{
      id: 'openai',
      env: ['OPENAI_API_KEY'],
      npm: '@ai-sdk/openai',
      name: 'OpenAI',
      doc: 'https://platform.openai.com/docs',
    },
    models: {
      'gpt-4o': {
        ...{
          id: 'gpt-4o',
          name: 'GPT-4o',
          attachment: true,
          reasoning: false,
          tool_call: true,
          release_date: '2024-05-13',
        },
        modalities: { input: ['text', 'image'], output: ['text'] },
        ...{
          open_weights: false,
          cost: { input: 2.5, output: 10, cache_read: 1.25 },
          limit: { context: 128000, output: 16384 },
        },
      },
    },
  },
  vercel: { ...{ id: 'vercel', env: [], npm: '@ai-sdk/gateway', name: 'Vercel', models: {} } },
  groq: {
    ...{
      id: 'groq',
      env: ['GROQ_API_KEY'],
      npm: '@ai-sdk/groq',
      name: 'Groq',
      doc: 'https://console.groq.com/docs/models',
    },
    models: {
      'openai/gpt-oss-20b': {
        ...{ id: 'openai/gpt-oss-20b', name: 'GPT OSS 20B', cost: { input: 0.075, output: 0.3, cache_write: 0.0125 } },
        limit: { context: 131072, output: 65536 },
      },
      'whisper-large-v3': { id: 'whisper-large-v3', name: 'Whisper', limit: { context: 448, output: 448 } },
    },
  },
});

/** Two parallel arrays. A quarter of an hour may have no price yet. */
export const ENERGY_CHARTS = JSON.stringify({
  license_info: 'CC BY 4.0 (creativecommons.org/licenses/by/4.0) from Bundesnetzagentur | SMARD.de',
  unix_seconds: [1790632800, 1790633700, 1790719200, 1790720100],
  price: [88.31, 0, -4.99, null],
  ...{ unit: 'EUR / MWh', deprecated: false },
});

export const BRENT = 'Date,Price\n1987-05-20,18.63\n1987-05-25,18.6\n2026-09-21,71.5\n2026-09-22,72\n';

/** A row a country. */
export const HMRC =
  'Country/Territories,Currency,Currency Code,Currency Units per £1,Start date,End date\n' +
  'Eurozone,Euro,EUR,1.1681,01/10/2026,31/10/2026\n' +
  'Switzerland,Franc,CHF,1.0863,01/10/2026,31/10/2026\n' +
  'United States of America,Dollar,USD,1.3421,01/10/2026,31/10/2026\n' +
  'Ecuador,Dollar,USD,1.3421,01/10/2026,31/10/2026\n';

/** The same as XML. */
export const HMRC_XML = `<?xml version="1.0" encoding="UTF-8"?>
<exchangeRateMonthList Period="01/Oct/2026 to 31/Oct/2026">
${[
  ['Eurozone', 'EU', 'Euro', 'EUR', '1.1681'],
  ['Switzerland', 'CH', 'Franc', 'CHF', '1.0863'],
  ['United States', 'US', 'Dollar', 'USD', '1.3421'],
]
  .map(
    ([country, code, name, currency, rate]) =>
      `  <exchangeRate>\n    <countryName>${country}</countryName>\n    <countryCode>${code}</countryCode>\n    <currencyName>${name}</currencyName>\n    <currencyCode>${currency}</currencyCode>\n    <rateNew>${rate}</rateNew>\n  </exchangeRate>\n`,
  )
  .join('')}</exchangeRateMonthList>
`;

/** A space after each comma, the month in words, each number with the same count of decimals. */
export function ecbDailyZip(day: string): Buffer {
  const quotes = VALUES.get('eur')?.get(day);
  const date = new Date(day).toLocaleDateString('en-GB', {
    day: '2-digit',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const rates = ECB_DAILY.map((code) => {
    const [whole, fraction = ''] = (quotes?.get(code.toLowerCase()) ?? '').split('.');
    return `${whole}.${fraction.padEnd(9, '0')}`;
  });
  const content = `Date, ${ECB_DAILY.join(', ')}, \n${date}, ${rates.join(', ')}, \n`;
  return zipArchive([{ name: 'eurofxref.csv', content }]);
}
