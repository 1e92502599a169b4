/** Late sources, on a server whose markets state their cadence: from the records to `status` and `markets`. */
import { beforeAll, describe, expect, test } from 'vitest';
import { market, price } from '../publisher/world.ts';
import { serverForAll } from '../server/server-process.ts';
import { tidemarkHere as tidemark } from './in-process.ts';

const served = serverForAll();

const HOUR_MS = 3_600_000;
const startedMs = Math.floor(Date.now() / 1000) * 1000;
/** Some days and a half before this test, so that "9 days" stays true while it runs. */
const daysAgo = (days: number, hours = 0) =>
  new Date(startedMs - (days * 24 + 12 - hours) * HOUR_MS).toISOString().replace('.000Z', 'Z');

/** A market whose newest value is this many days and a half old. A value comes each hour. */
function hourly(slug: string, label: string, days: number): readonly object[] {
  const cadence = { period: 'minutes', minutes: 60, graceSeconds: 86_400 };
  const source = { label, url: 'https://bank.example', publisher: null, licence: null, attribution: null, cadence };
  const value = { ...(price(slug, 0, 100) as object), sourceLabel: label, observedAt: daysAgo(days) };
  return [{ ...(market(slug) as object), sources: [source] }, value];
}

/** Without a cadence, nothing is expected. */
const silent = {
  label: 'A silent bank',
  url: 'https://bank.example',
  publisher: null,
  licence: null,
  attribution: null,
};

beforeAll(async () => {
  const records = [
    ...hourly('fresh', 'A punctual bank', 0),
    ...hourly('one-late', 'A slow bank', 9),
    ...hourly('other-late', 'A slow bank', 4),
    ...hourly('third-late', 'Another bank', 3),
    ...hourly('fourth-late', 'An old bank', 3),
    { ...(market('silent') as object), sources: [silent] },
    price('silent', 0, 100),
  ];
  const input = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const taken = await tidemark(['ingest', '-', '--data', served.data], { input });
  expect(taken.code, taken.errors).toBe(0);
});

const run = (...words: readonly string[]) => tidemark([...words, '--data', served.data]);

describe('late sources', () => {
  test('status counts them and names the worst', async () => {
    const [{ code, output }, asJson] = await Promise.all([run('status'), run('status', '--json')]);
    expect(code).toBe(0);
    const { lateSources } = JSON.parse(asJson.output);
    expect(lateSources).toMatchObject({
      count: 3,
      marketsRead: 6,
      worst: [{ label: 'A slow bank', markets: 2 }, {}, {}],
    });
    const lines = output.trimEnd().split('\n');
    expect(lines).toContain('late sources\t3');
    expect(lines.filter((line) => line.startsWith('late\t'))).toEqual([
      `late\tA slow bank: 9 days, expected at ${daysAgo(9, 1)}, for 2 markets`,
      // Equally late ones are in the order of their labels.
      `late\tAn old bank: 3 days, expected at ${daysAgo(3, 1)}, for 1 market`,
      `late\tAnother bank: 3 days, expected at ${daysAgo(3, 1)}, for 1 market`,
    ]);
  });

  test('markets show tells when the next value is expected, and how late it is', async () => {
    const lines = (await run('markets', 'show', 'one-late')).output.trimEnd().split('\n');
    expect(lines).toContain(`next value\t${daysAgo(9, 1)}, of A slow bank`);
    expect(lines).toContain('late\tby 9 days, of A slow bank');
  });
});
