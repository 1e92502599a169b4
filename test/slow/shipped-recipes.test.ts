/**
 * The shipped recipes, as they are, in a running service with the sample: added, run and replayed by the command line,
 * over TLS to a source on loopback that has the real hosts.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tidemark } from '../cli/tidemark.ts';
import type { ServerProcess } from '../server/server-process.ts';
import { currencyApiJson, ECB_DAILY, EURO_DAYS, ecbDailyZip, ecbHistoryZip } from '../sources/real-forms.ts';
import { startServerWithSource } from '../sources/source-process.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

/** The newest day of the sample. */
const DAY = '2026-09-29';

let temporary: Awaited<ReturnType<typeof makeTemporaryFolder>>;
let data: string;
let url: string;
let server: ServerProcess;

beforeAll(async () => {
  temporary = await makeTemporaryFolder();
  data = join(temporary.folder, 'data');
  const files = join(temporary.folder, 'files');
  const put = async (path: string, bytes: string | Uint8Array) => {
    await mkdir(dirname(join(files, path)), { recursive: true });
    await writeFile(join(files, path), bytes);
  };
  await put('stats/eurofxref/eurofxref.zip', ecbDailyZip(DAY));
  await put('stats/eurofxref/eurofxref-hist.zip', ecbHistoryZip());
  // The run asks for its own day. The document says which day it is about.
  const today = new Date();
  for (const day of [today, new Date(today.getTime() + 86_400_000)]) {
    const path = `npm/@fawazahmed0/currency-api@${day.toISOString().slice(0, 10)}/v1/currencies/eur.json`;
    await put(path, currencyApiJson('eur', DAY) ?? '');
  }
  server = startServerWithSource(data, files, ['cdn.jsdelivr.net', 'www.ecb.europa.eu'], { TIDEMARK_SAMPLE: 'yes' });
  url = await server.started;
});

afterAll(async () => {
  await server.end('SIGKILL');
  await temporary.remove();
});

/** Adds the shipped source and runs it. Gives the run. */
async function addAndRun(name: string): Promise<unknown> {
  const added = await tidemark(['sources', 'add', name, '--data', data]);
  expect(added).toMatchObject({ code: 0 });
  return await run(name);
}

async function run(name: string): Promise<unknown> {
  const { code, output, errors } = await tidemark(['sources', 'run', name, '--wait', '--json', '--data', data]);
  if (code !== 0) throw new Error(`${code}: ${errors}`);
  return JSON.parse(output);
}

const market = async (slug: string) => (await fetch(`${url}/api/v1/markets/${slug}`)).json();

test('values of currency-api are known by the sample: only the cadence of the markets is new', async () => {
  const before = (await market('eur-usd')) as { readonly history: object };
  expect(await addAndRun('currency-api-eur')).toMatchObject({
    outcome: 'taken-in',
    refusedRows: 0,
    counts: { accepted: 53, unchanged: 53, refused: 0 },
  });
  await expect
    .poll(() => market('eur-usd'))
    .toMatchObject({ history: before.history, sources: [{ cadence: { period: 'day' }, licence: 'CC0-1.0' }] });
  expect(await run('currency-api-eur')).toMatchObject({ outcome: 'unchanged' });
});

test('the ECB’s files agree: the newest day is known from the history', async () => {
  const count = ECB_DAILY.length;
  expect(await addAndRun('ecb-history')).toMatchObject({
    outcome: 'taken-in',
    refusedRows: 0,
    counts: { accepted: (EURO_DAYS + 1) * count, unchanged: 0, refused: 0 },
  });
  expect(await addAndRun('ecb-daily')).toMatchObject({
    outcome: 'taken-in',
    counts: { accepted: 0, unchanged: 2 * count, refused: 0 },
  });
  await expect
    .poll(() => market('ecb-eur-usd'))
    .toMatchObject({
      unit: { quantity: 1000, of: 'EUR' },
      history: { count: EURO_DAYS },
      sources: [{ publisher: 'European Central Bank', attribution: 'Source: European Central Bank' }],
      metrics: { price: { observedAt: `${DAY}T00:00:00Z` } },
    });
  const replayed = await tidemark(['sources', 'replay', 'ecb-history', '--wait', '--data', data]);
  expect(replayed).toMatchObject({ code: 0 });
});
