/** A long CSV file. As a program: begins a mapping for 400,000 rows, or checks one, and prints the rows that it saw, and its memory. */
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';
import { checkMapping } from '../../mapping/check/check-mapping.ts';

const MARKET_ROWS = 10_000;
const ROWS = 400_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** In pieces, as from a disk. */
export async function* fileOf(rows: number): AsyncGenerator<Uint8Array> {
  const startMs = Date.UTC(1990, 0, 1);
  yield Buffer.from('Date,symbol,Price,ccy\n');
  for (let row = 0; row < rows; row += 1000) {
    let text = '';
    for (let each = row; each < row + 1000; each++) {
      const day = each % MARKET_ROWS;
      const date = new Date(startMs + day * DAY_MS).toISOString().slice(0, 10);
      const price = (100 + ((day * 7919) % 9973) / 100).toFixed(2);
      text += `${date},SYM${Math.floor(each / MARKET_ROWS)},${price},EUR\n`;
    }
    yield Buffer.from(text);
  }
}

export const MAPPING = {
  match: ['symbol'],
  market: { slug: '{symbol}', name: '{symbol}', kind: 'x', nativeCurrency: 'EUR', unit: { quantity: '1', of: 'x' } },
  observation: {
    value: { column: 'Price', rounding: 'refuse' },
    currency: '{ccy}',
    date: { column: 'Date', format: 'YYYY-MM-DD', precision: 'day' },
    sourceLabel: 'x',
    sourceUrl: 'https://example.org/{symbol}',
    confidence: 'high',
    status: 'final',
  },
};

async function rowsBegun(): Promise<number> {
  const begun = await beginMapping(fileOf(ROWS), 'rows.csv');
  return 'text' in begun ? Number(/its first (\d+) rows/.exec(begun.text)?.[1]) : 0;
}

async function rowsChecked(): Promise<number> {
  return (await checkMapping(JSON.stringify(MAPPING), fileOf(ROWS))).file?.observations.count ?? 0;
}

if (import.meta.main) {
  const rows = process.argv[2] === 'begin' ? await rowsBegun() : await rowsChecked();
  console.info(JSON.stringify({ rows, maxRssBytes: process.resourceUsage().maxRSS * 1000 }));
}
