/** How long a superseded page stays. The numbers are not imported: readers are promised them. */
import { expect, test } from 'vitest';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { SUPERSEDED_PAGES } from '../../../storage/records/publication.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { faultyStorage } from '../faulty-storage.ts';
import { laggingLedger } from '../lagging-ledger.ts';
import { createWorld, dependenciesOn, market, price, SMALL_PAGES } from '../world.ts';

/** A cursor is valid for a day. */
const CURSOR_MS = 24 * 60 * 60 * 1000;
/** A cache may hand out the body with the cursor this long: while it is fresh, and while the origin fails. */
const CACHED_MS = (15 + 300) * 1000;

test('a superseded page stays for the life of a cursor, from the moment when caches stop handing it out', async () => {
  const world = createWorld();
  await world.ingest([market('a'), ...Array.from({ length: 9 }, (_, day) => price('a', day, day + 1))]);
  await world.publish();
  await world.ingest([price('a', 1, 1000)], 'correct');
  await world.publish();

  const removedAfter = async (elapsedMs: number) => {
    world.clock.nowMs += elapsedMs;
    return (await collectGarbage(world.dependencies, { dryRun: true })).removed;
  };
  expect(await removedAfter(CURSOR_MS + CACHED_MS)).toEqual([]);
  expect(await removedAfter(1)).toContainEqual(expect.stringContaining('/a/history/pages/1-'));
});

test('a page stays while its record as superseded is not visible yet, even if the history is visible without it', async () => {
  const lag = laggingLedger(openSqliteLedger(':memory:'));
  const world = createWorld(SMALL_PAGES, lag.writer);
  await world.ingest([market('a'), ...Array.from({ length: 9 }, (_, day) => price('a', day, day + 1))]);
  await world.publish();
  await world.ingest([price('b', 0, 1), market('b')]);
  await world.publish();
  world.clock.nowMs += CURSOR_MS + CACHED_MS + 1;
  await world.ingest([price('a', 1, 1000)], 'correct');
  lag.hold();
  const sweeping = dependenciesOn(lag.reader, world.objects, world.clock);
  // The sweep begins before the commit of the generation. Later all its records are visible but one.
  const { ledger } = faultyStorage(lag.reader, world.objects, 'all', async ({ what, run }) => {
    if (what.startsWith('ledger.getMany') && what.includes('published/market/a')) {
      await world.publish();
      lag.show(({ partition }) => partition !== SUPERSEDED_PAGES.partition);
    }
    return await run();
  });
  const { removed } = await collectGarbage({ ...sweeping, ledger }, { dryRun: false });
  expect(removed.filter((key) => key.includes('/a/history/pages/'))).toEqual([]);
});
