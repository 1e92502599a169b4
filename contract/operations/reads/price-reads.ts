/** The public reads of the newest and the last prices of all markets. */
import * as z from 'zod';
import { latestEntrySchema, latestPartSchema, latestSchema } from '../../bodies/latest.ts';
import { LATEST_FILES, LATEST_ROWS, type LatestFormat, latestEntry } from '../../bodies/latest-entries.ts';
import { recentSchema } from '../../bodies/recent.ts';
import { LATEST_PART_MARKETS_MAX, RECENT_MARKETS_MAX, RECENT_ROWS_MAX } from '../../files/limits.ts';
import { publicReads, textFile } from '../operation.ts';
import { market, observation } from './example-market.ts';
import { CSV_TEXT, csvFile, TEXT } from './text-files.ts';

const latestParams = z.strictObject({ part: latestPartSchema.shape.part });

const latestText = (format: LatestFormat): string =>
  LATEST_FILES[format]([LATEST_ROWS[format](latestEntry(market, observation.recordedAt))])(57);
const latestFile = (format: LatestFormat, digest: string) => ({
  ...{ digest, generation: 57, path: `latest/all.${format}` },
});
const LATEST_PART = {
  csv: latestFile('csv', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
  markets: 1,
  ndjson: latestFile('ndjson', '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752'),
  part: 'all',
};

export const priceReads = publicReads({
  getLatest: {
    path: '/api/v1/latest',
    summary: 'Read which files have the newest price of every market',
    description:
      `A part has at most ${LATEST_PART_MARKETS_MAX.toLocaleString('en')} markets. A service with no more has one part, \`all\`. ` +
      'If only some markets change, only the files of their parts do. Published with the list. Not every deployment publishes ' +
      'it: see `projections` of the snapshot.',
    success: { status: 200, description: 'The parts, and their files', body: latestSchema },
    example: { response: { data: [LATEST_PART], generation: 57 } },
  },
  getLatestCsv: {
    path: '/api/v1/latest/{part}.csv',
    summary: 'Read the newest price of the markets of a part as CSV',
    description: CSV_TEXT,
    params: latestParams,
    success: csvFile(),
    example: { params: { part: 'all' }, response: latestText('csv') },
  },
  getLatestNdjson: {
    path: '/api/v1/latest/{part}.ndjson',
    summary: 'Read the newest price of the markets of a part as NDJSON',
    description: 'Each line has the members of `LatestEntry`. By slug.',
    params: latestParams,
    success: { ...textFile('One market on each line', 'application/x-ndjson', TEXT), line: latestEntrySchema },
    example: { params: { part: 'all' }, response: latestText('ndjson') },
  },
  getRecent: {
    path: '/api/v1/recent',
    summary: 'Read the last 31 prices of every market, for small charts, in one request',
    description:
      'Published with the list. The prices of a market are of one source, that of the newest; corrected and retracted values are ' +
      `left out. Looked for among the newest ${RECENT_ROWS_MAX} rows of a history. A service with more than ` +
      `${RECENT_MARKETS_MAX.toLocaleString('en')} markets does not have it. Not every deployment publishes it: see ` +
      '`projections` of the snapshot.',
    success: { status: 200, description: 'One short entry for each market', body: recentSchema },
    example: {
      response: {
        data: [
          {
            decimal: ['4102.35', null, '4129.10'],
            observedAt: ['2026-09-27T00:00:00Z', '2026-09-28T00:00:00Z', '2026-09-29T00:00:00Z'],
            slug: 'gold-usd',
            yearAgo: { decimal: '2657.80', observedAt: '2025-09-29T00:00:00Z' },
          },
        ],
        generation: 57,
      },
    },
  },
});
