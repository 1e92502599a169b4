/** The same change costs the same, however many markets there are and however long a history is. */
import { beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_PAGE_SIZES, type PublisherDependencies } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { countLedger, countObjects } from '../../tools/bench/aws/counting-storage.ts';
import { differences, OperationCounter, type Operations, sumOf } from '../../tools/bench/operations.ts';
import { createWorld, dependenciesOn, market, price, type World } from './world.ts';

const { markets: LIST_PAGE, observations: HISTORY_PAGE } = DEFAULT_PAGE_SIZES;
const BATCH_ROWS = 1_000;

interface CountedWorld extends Pick<World, 'ingest'> {
  /** Publishes, and returns the storage operations since the last call. */
  publish(settings?: Partial<PublisherDependencies>): Promise<Operations>;
}

function countedWorld(): CountedWorld {
  const counter = new OperationCounter();
  const world = createWorld(DEFAULT_PAGE_SIZES, countLedger(openSqliteLedger(':memory:'), counter));
  const objects = countObjects(world.objects, counter);
  return {
    ingest: world.ingest,
    async publish(settings = {}) {
      const dependencies = { ...dependenciesOn(world.ledger, objects, world.clock, DEFAULT_PAGE_SIZES), ...settings };
      while ((await publish(dependencies)).isMoreDue);
      return counter.take();
    },
  };
}

describe('one changed market of 300 and of 3,000', () => {
  const SIZES = [300, 3_000];
  const slugOf = (index: number) => `m-${String(index).padStart(7, '0')}`;
  let worlds: readonly CountedWorld[] = [];

  beforeAll(async () => {
    worlds = SIZES.map(countedWorld);
    for (const [place, world] of worlds.entries()) {
      const rows = Array.from({ length: SIZES[place] as number }, (_, index) => market(slugOf(index)));
      for (let start = 0; start < rows.length; start += BATCH_ROWS) {
        await world.ingest(rows.slice(start, start + BATCH_ROWS));
      }
      await world.publish();
    }
  });

  /** In each world, the cost to take in and to publish an observation of one market. */
  async function costsOf(indexOf: (markets: number) => number, settings: Partial<PublisherDependencies> = {}) {
    const costs: Operations[] = [];
    for (const [place, world] of worlds.entries()) {
      await world.publish();
      await world.ingest([price(slugOf(indexOf(SIZES[place] as number)), 0, 5)]);
      costs.push(await world.publish(settings));
    }
    return costs as [Operations, Operations];
  }

  test.each([
    { which: 'first', indexOf: () => 0 },
    { which: 'last', indexOf: (markets: number) => markets - 1 },
  ])('costs the same operations, apart from objects of the list: the $which', async ({ indexOf }) => {
    const [few, many] = await costsOf(indexOf);
    expect(differences(few.other, many.other)).toEqual([]);
    for (const [place, { list }] of [few, many].entries()) {
      expect(list).toMatchObject({ transactions: 0, itemsChanged: 0, itemsRead: 0, ledgerReads: 8 });
      // The layout and the pages up to the market's own.
      const pages = 2 + Math.floor(indexOf(SIZES[place] as number) / LIST_PAGE);
      expect([list.objectPuts, list.objectReads]).toEqual([pages, pages]);
    }
  });
});

describe('a history', () => {
  async function worldOfHistory(length: number): Promise<CountedWorld> {
    const world = countedWorld();
    await world.ingest([market('b')]);
    const rows = Array.from({ length }, (_, day) => price('b', day - length, 5));
    for (let start = 0; start < length; start += BATCH_ROWS) await world.ingest(rows.slice(start, start + BATCH_ROWS));
    await world.publish();
    return world;
  }

  /** The newest pages have equal length. */
  const SHORT = 5 * HISTORY_PAGE + 7;
  const LONG = 50 * HISTORY_PAGE + 7;

  test('costs the same to append to, long or short, to take in and to publish', async () => {
    const [short, long] = await Promise.all(
      [SHORT, LONG].map(async (length) => {
        const world = await worldOfHistory(length);
        await world.ingest([price('b', 0, 5)]);
        const { list, other } = await world.publish();
        return sumOf(list, other);
      }),
    );
    expect(differences(short as Operations['other'], long as Operations['other'])).toEqual([]);
  });
});
