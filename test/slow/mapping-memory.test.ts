/** A file of a million rows is checked, and a mapping begun for it, in a memory that does not grow with it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const LIMIT_MB = 300;
/** Ends a run that hangs. Not a limit on speed. */
const RUN_LIMIT_MS = 600_000;

/** In a process of its own: the file from a generator, then the numbers that are expected and the peak of its memory. */
const PROGRAM = `
import { beginMapping } from './mapping/begin/begin-mapping.ts';
import { checkMapping } from './mapping/check/check-mapping.ts';

async function* file() {
  const start = Date.UTC(1990, 0, 1);
  yield Buffer.from('Date,symbol,Price,ccy\\n');
  for (let row = 0; row < 1_000_000; row += 1000) {
    let text = '';
    for (let each = row; each < row + 1000; each++) {
      const day = each % 10_000;
      const date = new Date(start + day * 86_400_000).toISOString().slice(0, 10);
      const price = (100 + ((day * 7919) % 9973) / 100).toFixed(2);
      text += date + ',SYM' + Math.floor(each / 10_000) + ',' + price + ',EUR\\n';
    }
    yield Buffer.from(text);
  }
}

const mapping = {
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

const rows =
  process.argv[1] === 'begin'
    ? /its (\\d+) rows/.exec((await beginMapping(file, 'million.csv')).text)[1]
    : String((await checkMapping(JSON.stringify(mapping), file())).file.observations.count);
console.log(JSON.stringify({ rows, rss: process.resourceUsage().maxRSS }));
`;

describe('a million rows', () => {
  test.each(['begin', 'check'])(
    `%s takes less than ${LIMIT_MB} MB`,
    async (step) => {
      const run = promisify(execFile);
      const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', PROGRAM, step], { cwd: ROOT });
      const { rows, rss } = JSON.parse(stdout) as { rows: string; rss: number };
      expect(rows).toBe('1000000');
      // Linux counts in kilobytes.
      expect(rss / 1000).toBeLessThan(LIMIT_MB);
      console.info(`${step}: ${Math.round(rss / 1000)} MB`);
    },
    RUN_LIMIT_MS,
  );
});
