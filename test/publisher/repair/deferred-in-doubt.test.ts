/** A market that does not add up when HEAD is raised: readers keep its pages in the store. */
import { expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { publish } from '../../../publisher/publish.ts';
import { repairOne } from '../../../publisher/repair/repair-market.ts';
import { resume } from '../../../publisher/repair/resume.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { marketKey } from '../../../storage/records/markets.ts';
import { WALK_KEY } from '../../../storage/records/publication.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { putItem } from '../../storage/put-item.ts';
import { laggingLedger } from '../lagging-ledger.ts';
import { removeMarket } from '../remove-market.ts';
import { createWorld, dependenciesOn, market, price, publicObjects, readerOf, SMALL_PAGES } from '../world.ts';

const RETENTION_MS = PAGE_RETENTION_SECONDS * 1000;

/** An older ledger beside a later store. The store has pages of `gold` that the ledger lacks, and `gold` is torn. */
async function restoredWorld({ isRemovedLater = false } = {}) {
  const [later, older] = [createWorld(), createWorld()];
  const history = Array.from({ length: 10 }, (_, day) => price('gold', day, 100 + day));
  for (const { ingest, dependencies } of [later, older]) {
    await ingest([market('gold'), market('tin'), ...history]);
    await publish(dependencies);
  }
  await later.ingest([price('gold', 1, 7)], 'correct');
  await publish(later.dependencies);
  if (isRemovedLater) {
    await removeMarket(later, 'gold');
    await publish(later.dependencies);
  }
  const record = await older.ledger.get(marketKey('gold'));
  if (record === null) throw new Error('gold is gone');
  const torn = { ...record.value, sum: 'f'.repeat(32) };
  await putItem(older.ledger, marketKey('gold'), torn, record.revision);
  const world = { ...older, objects: later.objects, clock: older.clock };
  const dependencies = dependenciesOn(older.ledger, later.objects, older.clock);
  await resume(dependencies);
  return { ...world, dependencies };
}

type Restored = Awaited<ReturnType<typeof restoredWorld>>;

const pagesOfGold = ({ objects }: Restored) =>
  [...publicObjects(objects).keys()].filter((key) => key.includes('/gold/history/pages/'));

/** The slugs on the first page of the list, which holds three markets. */
function listedIn({ objects }: Restored): readonly unknown[] {
  const list = publicObjects(objects).get(publicKey({ kind: 'market-list' })) ?? '{}';
  return (JSON.parse(list) as { data: readonly { slug?: string }[] }).data.map(({ slug }) => slug);
}

async function expectVerified({ objects }: Restored): Promise<void> {
  const report = await verify(readerOf(objects), { pageSizes: SMALL_PAGES, settled: false });
  expect(report.findings).toEqual([]);
}

test('its pages stay as long as it is deferred, and for the life of a cursor once it is published again', async () => {
  const world = await restoredWorld();
  expect((await publish(world.dependencies)).deferred).toMatchObject([{ slug: 'gold' }]);
  const before = pagesOfGold(world);
  for (let day = 0; day < 2; day++) {
    world.clock.nowMs += RETENTION_MS + 1;
    await world.ingest([price('tin', day, 1)]);
    await publish(world.dependencies);
    await collectGarbage(world.dependencies, { dryRun: false });
    expect(pagesOfGold(world)).toEqual(before);
    await expectVerified(world);
  }
  await repairOne(world.dependencies, 'gold');
  expect((await publish(world.dependencies)).deferred).toEqual([]);
  const publishedAtMs = world.clock.nowMs;
  for (const elapsedMs of [RETENTION_MS / 2 + 1, RETENTION_MS]) {
    world.clock.nowMs = publishedAtMs + elapsedMs;
    await collectGarbage(world.dependencies, { dryRun: false });
    expect(pagesOfGold(world)).toEqual(expect.arrayContaining(before));
  }
  world.clock.nowMs += 1;
  await collectGarbage(world.dependencies, { dryRun: false });
  expect(pagesOfGold(world).length).toBeLessThan(before.length);
  await expectVerified(world);
});

test('a market that is deferred later, as happens often for a moment, does not delay the sweep', async () => {
  const lag = laggingLedger(openSqliteLedger(':memory:'));
  const world = createWorld(SMALL_PAGES, lag.writer);
  await world.ingest([market('gold'), market('tin')]);
  const dependencies = dependenciesOn(lag.reader, world.objects, world.clock);
  await publish(dependencies);
  await resume(dependencies);
  await publish(dependencies);
  await world.ingest([price('gold', 0, 1)]);
  await publish(dependencies);
  for (let day = 1; day < 4; day++) {
    world.clock.nowMs += RETENTION_MS / 2;
    lag.hold();
    await world.ingest([price('gold', day, 1)]);
    lag.show(({ sort }) => sort === 'market/gold');
    expect((await publish(dependencies)).deferred).toHaveLength(1);
    lag.show();
    await publish(dependencies);
  }
  await collectGarbage(dependencies, { dryRun: false });
  expect(await world.ledger.get(WALK_KEY)).not.toBeNull();
});

test('if its removal was lost and its body says that it is removed, the list has no such item', async () => {
  const world = await restoredWorld({ isRemovedLater: true });
  expect((await publish(world.dependencies)).deferred).toMatchObject([{ slug: 'gold' }]);
  expect(listedIn(world)).toEqual(['tin']);
  await world.ingest([market('lead')]);
  await publish(world.dependencies);
  expect(listedIn(world)).toEqual(['lead', 'tin']);
  await repairOne(world.dependencies, 'gold');
  expect((await publish(world.dependencies)).deferred).toEqual([]);
  expect(listedIn(world)).toEqual(['gold', 'lead', 'tin']);
  await expectVerified(world);
});
