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
