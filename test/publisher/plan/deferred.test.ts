/** A market whose view does not add up is deferred. All others are published. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { isDeferredTooLong } from '../../../publisher/kernel/deferred.ts';
import { publish } from '../../../publisher/publish.ts';
import { repairOne } from '../../../publisher/repair/repair-market.ts';
import type { ItemKey } from '../../../storage/ports/ledger.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { marketIndexKey, marketPartition } from '../../../storage/records/markets.ts';
import { DEFERRED, FRESH_MARKS, parseMark } from '../../../storage/records/publication.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
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
const isHistoryMark = ({ partition, sort }: Place) =>
  FRESH_MARKS.shards.includes(partition) && sort.startsWith('history/');
const isOfBatch = ({ partition }: Place) => /^(batch|work)\//.test(partition);
const isRecord = ({ sort }: Place) => sort === 'record';
const isObservation = ({ partition, sort }: Place) =>
  partition === marketPartition('gold') && sort.startsWith('observation/');

type Write = (world: World) => Promise<unknown>;

/** Each is one transaction. */
const WRITES: { readonly [what: string]: Write } = {
  'an append': ({ ingest }) => ingest([price('gold', 50, 1)]),
  'an append that closes a page': ({ ingest }) => ingest([1, 2, 3].map((day) => price('gold', 50 + day, day))),
  'an observation on a closed page': ({ ingest }) => ingest([price('gold', 3, 1)]),
  'a correction on a closed page': ({ ingest }) => ingest([price('gold', 4, 1)], 'correct'),
  'corrections on two closed pages': ({ ingest }) => ingest([price('gold', 4, 1), price('gold', 12, 2)], 'correct'),
};

describe('while a part of a transaction is visible', () => {
  /** The visible part, and the writes for which it matters. */
  const PARTS: readonly (readonly [string, (place: Place) => boolean, (what: string) => boolean])[] = [
    ['its mark alone', isMark, () => true],
    ['its mark and its record', (place) => isMark(place) || isRecord(place), () => true],
    ['its mark and its observations', (place) => isMark(place) || isObservation(place), () => true],
    ['all but the mark of closed pages', (place) => !isHistoryMark(place), (what) => /(a|two) closed page/.test(what)],
  ];
  const cases = PARTS.flatMap(([part, shows, matters]) =>
    Object.entries(WRITES)
      .filter(([what]) => matters(what))
      .map(([what, write]) => ({ part, shows, what, write })),
  );

  test.each(cases)(
    '$part of $what: the market is deferred and keeps its mark, and others are published',
    async (row) => {
      const world = await publishedWorld();
      const before = bodyOf(world, 'gold');
      await world.ingest([price('tin', 1, 2)]);
      world.lag.hold();
      await row.write(world);
      world.lag.show(row.shows);

      const outcome = await world.publish();
      expect(outcome).toMatchObject({ kind: 'published', generation: 2, isMoreDue: false });
      expect(outcome.deferred).toEqual([{ slug: 'gold', sinceMs: world.clock.nowMs, reason: expect.any(String) }]);
      expect(bodyOf(world, 'gold')).toBe(before);
      expect(bodyOf(world, 'tin')).toContain('"count":2');
      expect(await marked(world)).toEqual(['gold']);
      expect(await world.findings()).toEqual([]);

      world.lag.show();
      expect(await world.publish()).toMatchObject({ kind: 'published', generation: 3, deferred: [] });
      expect(bodyOf(world, 'gold')).not.toBe(before);
      expect(await marked(world)).toEqual([]);
      expect(await world.findings()).toEqual([]);
    },
  );

  test.each([
    ['with an observation', [market('zinc'), price('zinc', 0, 1)]],
    ['without any', [market('zinc')]],
  ])('the mark alone of a new market %s: the market is deferred and keeps its mark', async (_, records) => {
    const world = await publishedWorld();
    world.lag.hold();
    await world.ingest(records);
    world.lag.show(isMark);
    expect((await world.publish()).deferred).toMatchObject([{ slug: 'zinc' }]);
    expect(await marked(world)).toEqual(['zinc']);
    world.lag.show();
    expect((await world.publish()).deferred).toEqual([]);
    expect(bodyOf(world, 'zinc')).toBeDefined();
    expect(await world.findings()).toEqual([]);
  });
});

test('in whatever order items become visible, and whenever it is published, nothing is torn or lost', async () => {
  const slug = fc.constantFrom('gold', 'tin', 'zinc');
  const row = fc.tuple(slug, fc.nat({ max: 24 }));
  const batch = fc.uniqueArray(row, { minLength: 1, maxLength: 4, selector: String });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(batch, fc.boolean(), fc.infiniteStream(fc.nat({ max: 7 }))), { minLength: 1, maxLength: 4 }),
      async (batches) => {
        const world = await publishedWorld();
        const calm = await publishedWorld();
        for (const [index, [rows, isDefinition, choices]] of batches.entries()) {
          const defined = [...new Set(rows.map(([market]) => market))].map((slug) => market(slug));
          const prices = rows.map(([market, day]) => price(market, day, index));
          const records = isDefinition ? defined : [...defined, ...prices];
          await calm.ingest(records, 'correct');
          world.lag.hold();
          await world.ingest(records, 'correct');
          for (world.lag.show(isOfBatch); world.lag.held().length > 0; ) {
            const held = world.lag.held();
            const next = held[(choices.next().value as number) % held.length];
            world.lag.show((item) => item === next);
            if ((choices.next().value as number) < 3) continue;
            await world.publish();
            expect(await world.findings()).toEqual([]);
          }
        }
        await world.publish();
        await calm.publish();
        expect(await world.findings()).toEqual([]);
        expect(await marked(world)).toEqual([]);
        expect(await recorded(world)).toEqual([]);
        const bodies = (of: World) => ['gold', 'tin', 'zinc'].map((slug) => bodyOf(of, slug));
        expect(bodies(world)).toEqual(bodies(calm));
      },
    ),
    { numRuns: 15 },
  );
});

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
  });

  test('is no longer deferred once it is published, even if more is due', async () => {
    const world = await worldDeferred();
    world.lag.show();
    await world.ingest([price('tin', 1, 2), market('a'), market('zinc')]);
    const outcome = await publish({ ...world.dependencies, maxMarkedMarkets: 2 });
    expect(outcome).toMatchObject({ isMoreDue: true, deferred: [] });
    expect(await recorded(world)).toEqual([]);
  });

  test('has been deferred for too long after five minutes, and not before', async () => {
    const world = await worldDeferred();
    const tooLong = async (afterMs: number) => {
      world.clock.nowMs += afterMs;
      const { deferred } = await world.publish();
      return deferred.map((market) => isDeferredTooLong(market, world.clock.nowMs));
    };
    expect(await tooLong(0)).toEqual([false]);
    expect(await tooLong(5 * 60_000)).toEqual([false]);
    expect(await tooLong(1)).toEqual([true]);
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
    const lost = { kind: 'delete', key: marketIndexKey('zinc'), if: { kind: 'any' } } as const;
    await ledger.transact([lost], { attemptId: 'a copy that has lost it' });
    expect((await publish(dependencies)).deferred).toMatchObject([{ slug: 'zinc' }]);
    expect(bodyOf(world, 'zinc')).toBeUndefined();
    await repairOne(dependencies, 'zinc');
    await publish(dependencies);
    expect(bodyOf(world, 'zinc')).toBeDefined();
    expect(await recorded(world)).toEqual([]);
    expect(await world.findings()).toEqual([]);
  });
});
