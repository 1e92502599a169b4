/** The exit codes of one round of `tidemark mirror`. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { withLog } from '../publisher/log/test-log.ts';
import { loggedReader } from '../publisher/verify/logged-reader.ts';
import { createWorld, market, price } from '../publisher/world.ts';
import { HONEST, hostileOrigin } from '../server/mirror/hostile-origin.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { tidemarkHere as tidemark } from './in-process.ts';

test('a host that shows a price which the log does not have ends a round with 1, and with 0 once it is honest', async () => {
  const world = createWorld(DEFAULT_PAGE_SIZES);
  await world.ingest([market('old'), price('old', 0, 100)]);
  await publish(withLog(world.dependencies));
  const origin = await hostileOrigin(loggedReader(world.objects));
  origin.forge = (path, text) =>
    path.startsWith('/api/v1/markets/old')
      ? text.replaceAll('"amountMinor":100,', '"amountMinor":7777,').replaceAll('"1.00"', '"77.77"')
      : text;
  const folder = join(await temporaryFolder(), 'mirror');
  const words = ['mirror', origin.url.href, folder, '--once', '--every', '1', '--json'];
  const { code, output } = await tidemark(words);
  expect([code, JSON.parse(output)]).toMatchObject([1, { state: 'faulty', generation: null }]);
  origin.forge = HONEST;
  expect((await tidemark(words)).code).toBe(0);
});

test('a fork ends with 7 as long as the service shows the new log, and another folder accepts that log', async () => {
  const readerWith = async (amount: number) => {
    const world = createWorld(DEFAULT_PAGE_SIZES);
    await world.ingest([market('a'), price('a', 0, amount)]);
    await publish(withLog(world.dependencies));
    return loggedReader(world.objects);
  };
  const [before, after] = [await readerWith(100), await readerWith(200)];
  let shown = before;
  const origin = await hostileOrigin((url, headers) => shown(url, headers));
  const [folder, other] = [join(await temporaryFolder(), 'mirror'), join(await temporaryFolder(), 'mirror')];
  const evidence = join(folder, 'fork-evidence.json');
  const round = (into: string) => tidemark(['mirror', origin.url.href, into, '--once']);
  expect((await round(folder)).code).toBe(0);
  shown = after;
  const forked = await round(folder);
  expect([forked.code, forked.errors]).toEqual([7, expect.stringContaining('mirror into another folder')]);
  await rm(evidence);
  expect((await round(folder)).code).toBe(7);
  expect((await round(other)).code).toBe(0);
  shown = before;
  expect((await round(folder)).code).toBe(7);
  await rm(evidence);
  expect((await round(folder)).code).toBe(0);
});

test.each<[string, readonly string[], number]>([
  ['without an answer', ['http://127.0.0.1:1', '--once'], 5],
  ['over http elsewhere', ['http://data.example', '--once'], 2],
  ['of something that is no URL', ['data.example', '--once'], 2],
  ['with a limit that is no number', ['http://127.0.0.1:1', '--max-bytes', 'much'], 2],
  ['with a port that is none', ['http://127.0.0.1:1', '--port', '70000'], 2],
])('one round %s ends with its code', async (_, [of = '', ...options], code) => {
  const folder = join(await temporaryFolder(), 'mirror');
  expect(await tidemark(['mirror', of, folder, ...options])).toMatchObject({ code, output: expect.any(String) });
});
