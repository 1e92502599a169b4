/** A market whose view does not add up is deferred. All others are published. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { isDeferredTooLong } from '../../../publisher/kernel/deferred.ts';
import { publish } from '../../../publisher/publish.ts';
import { repairOne } from '../../../publisher/repair/repair-market.ts';
import type { ItemKey } from '../../../storage/ports/ledger.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { marketIndexKey } from '../../../storage/records/markets.ts';
import { DEFERRED, FRESH_MARKS, parseMark } from '../../../storage/records/publication.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { deleteItem } from '../../storage/put-item.ts';
import { faultyStorage } from '../faulty-storage.ts';
import { type LaggingLedger, laggingLedger } from '../lagging-ledger.ts';
import { refresh } from '../refresh.ts';
import {
  createWorld,
  dependenciesOn,
  market,
  price,
  publicObjects,
  SMALL_PAGES,
  START_MS,
  type World,
  worldOn,
} from '../world.ts';

type Place = Pick<ItemKey, 'partition' | 'sort'>;

/** A world whose publisher reads a ledger that lags behind its writers. */
interface LaggingWorld extends World {
  readonly lag: LaggingLedger;
}

/** `gold` has two closed pages and two observations on the newest; `tin` has one observation. */
async function publishedWorld(): Promise<LaggingWorld> {
  const lag = laggingLedger(openSqliteLedger(':memory:'));
  const written = createWorld(SMALL_PAGES, lag.writer);
  const dependencies = dependenciesOn(lag.reader, written.objects, written.clock);
  const world = { ...worldOn({ ...written, ledger: lag.reader }, dependencies), ingest: written.ingest, lag };
  await world.ingest([market('gold'), market('tin'), price('tin', 0, 1)]);
  await world.ingest(Array.from({ length: 10 }, (_, day) => price('gold', 2 * day, 100 + day)));
  await world.publish();
  return world;
}

const bodyOf = (world: World, slug: string) => publicObjects(world.objects).get(publicKey({ kind: 'market', slug }));
const marked = async ({ ledger }: World) => (await readAll(ledger, FRESH_MARKS)).map((mark) => parseMark(mark).slug);
const recorded = async ({ ledger }: World) => await readAll(ledger, DEFERRED);

const isMark = ({ partition, sort }: Place) => FRESH_MARKS.shards.includes(partition) && sort.startsWith('market/');
const isRecord = ({ sort }: Place) => sort === 'record';

describe('a market that is deferred', () => {
  async function worldDeferred(): Promise<LaggingWorld> {
    const world = await publishedWorld();
    world.lag.hold();
    await world.ingest([price('gold', 50, 1)]);
    world.lag.show(isMark);
    await world.publish();
    return world;
  }

  test('is recorded with the moment and the reason, which stay as long as it is deferred', async () => {
    const world = await worldDeferred();
    const before = await recorded(world);
    expect(before).toMatchObject([{ sort: 'gold', value: { sinceMs: world.clock.nowMs } }]);
    world.clock.nowMs += 60_000;
    // Another part is visible, so there is another reason.
    world.lag.show(isRecord);
    const { deferred } = await world.publish();
    expect(deferred).toEqual(before.map(({ sort, value }) => ({ slug: sort, ...value })));
    expect(await recorded(world)).toEqual(before);
    const tooLong = (afterMs: number) => deferred.map((each) => isDeferredTooLong(each, START_MS + afterMs));
    expect([tooLong(5 * 60_000), tooLong(5 * 60_000 + 1)]).toEqual([[false], [true]]);
  });

  test('is not recorded by a publisher that read the mark before a rival published the market', async () => {
    const world = await publishedWorld();
    world.lag.hold();
    await world.ingest([price('gold', 50, 1)]);
    world.lag.show(isMark);
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', async ({ what, run }) => {
      if (what.startsWith('ledger.transact') && what.includes(DEFERRED.partition)) {
        world.lag.show();
        await world.publish();
      }
      return await run();
    });
    await publish(dependenciesOn(ledger, objects, world.clock));
    expect(bodyOf(world, 'gold')).toContain('"count":11');
    await world.publish();
    expect(await recorded(world)).toEqual([]);
  });

  test('leaves room for the others, however many are deferred', async () => {
    const world = await publishedWorld();
    const slugs = ['a', 'b', 'c', 'd', 'e', 'f'];
    await world.ingest(slugs.map((slug) => market(slug)));
    await world.publish();
    world.lag.hold();
    await world.ingest(slugs.slice(0, 4).map((slug) => price(slug, 0, 1)));
    world.lag.show(isMark);
    await world.ingest(slugs.slice(4).map((slug) => price(slug, 0, 1)));
    await refresh(world, slugs);
    const dependencies = { ...world.dependencies, maxMarkedMarkets: 2 };
    for (let generations = 0; generations < 6; generations++) await publish(dependencies);
    expect(await marked(world)).toEqual(slugs.slice(0, 4));
    expect(await world.findings()).toEqual([]);
    world.lag.show();
    while ((await publish(dependencies)).isMoreDue);
    expect(await marked(world)).toEqual([]);
    expect(await world.findings()).toEqual([]);
  });

  test('may be a market that the index lacks: it joins the list once it is repaired', async () => {
    const world = await publishedWorld();
    await world.ingest([market('zinc')]);
    const { ledger, dependencies } = world;
    await deleteItem(ledger, marketIndexKey('zinc'));
    expect((await publish(dependencies)).deferred).toMatchObject([{ slug: 'zinc' }]);
    expect(bodyOf(world, 'zinc')).toBeUndefined();
    await repairOne(dependencies, 'zinc');
    await publish(dependencies);
    expect(bodyOf(world, 'zinc')).toBeDefined();
    expect(await recorded(world)).toEqual([]);
    expect(await world.findings()).toEqual([]);
  });
});
