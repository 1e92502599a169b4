/** `tidemark exports make`, beside a running server. */
import { expect, test } from 'vitest';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import { rowsOf } from '../publisher/exports/exported.ts';
import { market, price } from '../publisher/world.ts';
import { startServerForTest } from '../server/server-process.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { tidemarkHere as tidemark } from './in-process.ts';

const SETTINGS = { TIDEMARK_SAMPLE: 'no', TIDEMARK_PROJECTIONS: 'log,exports' };

test('the export of today has what was published since', async () => {
  const data = await temporaryFolder();
  const server = startServerForTest({ ...SETTINGS, TIDEMARK_DATA: data });
  const url = await server.started;
  const run = (words: readonly string[], input = '') => tidemark([...words, '--data', data], { input });
  const ingest = async (records: readonly object[], mode: readonly string[] = []) =>
    expect(
      await run(['ingest', '-', ...mode], records.map((record) => `${JSON.stringify(record)}\n`).join('')),
    ).toMatchObject({ code: 0 });

  expect(await run(['exports', 'make'])).toMatchObject({ code: 1, output: '' });
  await ingest([market('a'), price('a', 0, 100)]);
  const made = await run(['exports', 'make', '--json']);
  expect(made.code, made.errors).toBe(0);
  const { date } = JSON.parse(made.output);
  await ingest([price('a', 1, 200)]);
  await ingest([price('a', 0, 999)], ['--mode', 'correct']);
  expect(await run(['exports', 'make'])).toMatchObject({ code: 0, output: `made\t${date}\n` });
  const rows = await rowsOf(httpReader(url), 'observations');
  expect(rows.map(({ amountMinor, supersededBy }) => [amountMinor, supersededBy !== null])).toEqual([
    [100, true],
    [999, false],
    [200, false],
  ]);

  const latest = async () => JSON.parse(Buffer.from((await httpReader(url)('/api/v1/exports/latest')).body).toString());
  expect((await run(['exports', 'keep', '2026-01-01'])).code).toBe(1);
  expect((await run(['exports', 'keep', 'today'])).code).toBe(2);
  const path = `/api/v1/exports/${date}/datapackage.json`;
  expect(await run(['exports', 'keep', date, '--label', 'As cited'])).toMatchObject({
    code: 0,
    output: `kept\t${path}\n`,
  });
  expect((await latest()).kept).toEqual([{ date, label: 'As cited' }]);
  expect((await run(['exports', 'make'])).code).toBe(1);
  expect((await run(['exports', 'unkeep', date])).code).toBe(0);
  expect(await latest()).not.toHaveProperty('kept');

  // Nobody makes it without a server.
  await server.end('SIGTERM');
  expect(await run(['exports', 'make'])).toMatchObject({ code: 1, output: '' });
});

test('a server that makes no exports says so', async () => {
  const data = await temporaryFolder();
  await startServerForTest({ ...SETTINGS, TIDEMARK_PROJECTIONS: 'log', TIDEMARK_DATA: data }).started;
  const { code, output } = await tidemark(['exports', 'make', '--data', data]);
  expect([code, output]).toEqual([1, '']);
});
