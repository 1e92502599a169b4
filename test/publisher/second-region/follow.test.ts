/** The copy in a second region shows what the first has published: all of it, and no more than it costs. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { eachDaily } from '../../../publisher/daily.ts';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { deletingInBoth } from '../../../publisher/second-region/delete-in-both.ts';
import { changedStore } from '../../../storage/ports/changed-store.ts';
import { StorageUnavailable } from '../../../storage/ports/errors.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { marketKey } from '../../../storage/records/markets.ts';
import { loseMarket } from '../lose-market.ts';
import { removeMarket } from '../remove-market.ts';
import { takeDown } from '../take-down.ts';
import { days, market, price } from '../world.ts';
import { bytesOf, type TwoRegions, twoRegions } from './two-regions.ts';

const SLUGS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const DAY_MS = 24 * 60 * 60 * 1000;

async function begun(): Promise<TwoRegions> {
  const regions = twoRegions();
  await regions.ingest(SLUGS.map((slug) => market(slug)));
  await regions.ingest([...days('b', 10), ...days('d', 6), price('e', 0, 5)]);
  await regions.publishAll();
  return regions;
}

async function expectCopied(regions: TwoRegions): Promise<void> {
  expect(bytesOf(regions.second)).toEqual(bytesOf(regions.objects));
  expect(await regions.faults({ settled: true })).toEqual([]);
}

async function sweepBoth({ dependencies, objects, second }: TwoRegions, first: ObjectStore = objects) {
  return await collectGarbage({ ...dependencies, objects: deletingInBoth(first, second) }, { dryRun: false });
}

async function makeDaily({ dependencies }: TwoRegions): Promise<void> {
  await eachDaily(async (_, daily) => {
    await daily({ storage: dependencies, hasTime: () => true, again: 'always', yieldToEventLoop: async () => {} });
  });
}

describe('a copy in a second region', () => {
  test('has every object after the first rounds, however short each of them is', async () => {
    const regions = await begun();
    await makeDaily(regions);
    for (let rounds = 1; ; rounds++) {
      let asked = 0;
      const { generation, isFilling } = await regions.copy({ hasTime: () => asked++ < 2 });
      if (generation > 0 && !isFilling) {
        expect(rounds).toBeGreaterThan(3);
        break;
      }
      // No reader is led anywhere before all is there.
      expect([...bytesOf(regions.second).keys()]).not.toContain('public/api/v1/markets.json');
      expect(rounds).toBeLessThan(100);
    }
    await regions.copy();
    await expectCopied(regions);
  });

  test.each([
    ['unchanged', market('a')],
    ['with other bytes', { ...market('a'), name: 'Another name' }],
  ])('keeps a body that is published again %s, and copied, just before the sweep deletes it', async (_, again) => {
    const regions = await begun();
    await regions.copy();
    const key = publicKey({ kind: 'market', slug: 'a' });
    await loseMarket(regions, 'a');
    await regions.publishAll();
    const both = deletingInBoth(regions.objects, regions.second);
    const objects = changedStore(both, {
      async delete(deleted, etag) {
        if (deleted === key) {
          await regions.ingest([again]);
          await regions.publishAll();
          await regions.copy();
        }
        return await both.delete(deleted, etag);
      },
    });
    await collectGarbage({ ...regions.dependencies, objects }, { dryRun: false });
    expect(await regions.ledger.get(marketKey('a'))).not.toBeNull();
    expect(bytesOf(regions.objects).get(key)).toBeDefined();
    expect(bytesOf(regions.second).get(key)).toEqual(bytesOf(regions.objects).get(key));
  });

  test('follows appended, corrected, removed and new markets, and takedowns', async () => {
    const regions = await begun();
    await regions.copy();
    const steps = [
      () => regions.ingest([price('b', 10, 7), price('g', 0, 1)]),
      () => regions.ingest([price('b', 2, 9)], 'correct'),
      () => regions.ingest([market('cc'), ...days('cc', 5)]),
      () => removeMarket(regions, 'd'),
      () => takeDown(regions, 'b'),
    ];
    for (const step of steps) {
      regions.clock.nowMs += 60_000;
      await step();
      await regions.publishAll();
      await regions.copy();
      await expectCopied(regions);
    }
  });

  test('follows several generations at once, and says for how long it was behind', async () => {
    const regions = await begun();
    await regions.copy();
    for (let day = 11; day < 15; day++) {
      await regions.ingest([price('b', day, day), price('f', day, day)]);
      await regions.publishAll();
      regions.clock.nowMs += 60_000;
    }
    expect(await regions.copy({ hasTime: () => false })).toMatchObject({ generation: 1, behindMs: 240_000 });
    expect(await regions.copy()).toMatchObject({ generation: 5, behindMs: 0, isFilling: false });
    await expectCopied(regions);
  });

  test('writes as many objects as the first store, and the state of the copy', async () => {
    const regions = await begun();
    await regions.copy();
    regions.objects.resetCounts();
    regions.second.resetCounts();
    await regions.ingest([price('b', 10, 7)]);
    await regions.publishAll();
    const written = regions.objects.puts.filter(({ key }) => key.startsWith('public/')).length;
    regions.objects.resetCounts();
    await regions.copy();
    expect(regions.second.puts.filter(({ key }) => key.startsWith('public/')).length).toBe(written);
    expect(regions.second.puts.length - written).toBe(3);
    expect(regions.second.counts.stat).toBeLessThan(2 * written);
    expect(regions.objects.counts.list).toBe(0);
  });

  test('copies the daily files once it shows their generation', async () => {
    const regions = await begun();
    await regions.copy();
    for (const day of [1, 2]) {
      await regions.ingest([price('e', day, 6)]);
      await regions.publishAll();
      await makeDaily(regions);
      regions.clock.nowMs += 2 * 60 * 60 * 1000;
      await regions.copy();
      await expectCopied(regions);
    }
  });

  test('loses what the sweep removes, also if it died in between', async () => {
    const regions = await begun();
    await regions.copy();
    await regions.ingest([price('a', 0, 1), market('z')]);
    await regions.publishAll();
    await removeMarket(regions, 'd');
    await regions.publishAll();
    await regions.copy();
    regions.clock.nowMs += PAGE_RETENTION_SECONDS * 1000 + 1;
    const dying = changedStore(regions.objects, {
      delete: () => Promise.reject(new StorageUnavailable('it died in between')),
    });
    await expect(sweepBoth(regions, dying)).rejects.toThrow('it died in between');
    const { removed } = await sweepBoth(regions);
    expect(removed.filter((key) => key.startsWith('public/')).length).toBeGreaterThan(0);
    await expectCopied(regions);
  });

  test('copies everything if it is more than a day behind', async () => {
    const regions = await begun();
    await regions.copy();
    for (let day = 11; day < 13; day++) {
      await regions.ingest([price('b', day, day), price('f', day, day)]);
      await regions.publishAll();
      regions.clock.nowMs += PAGE_RETENTION_SECONDS * 1000 + 1;
      await collectGarbage(regions.dependencies, { dryRun: false });
    }
    await regions.ingest([price('c', 1, 1)]);
    await regions.publishAll();
    expect(await regions.copy()).toMatchObject({ generation: 4, behindMs: 0 });
    expect(await regions.faults({ settled: true })).toEqual([]);
  });

  test.each(['public/api/v1/markets/b', 'public/'])('loses nothing if the first store has lost %s…', async (prefix) => {
    const regions = await begun();
    await regions.copy();
    const before = bytesOf(regions.second);
    for (const [key] of bytesOf(regions.objects)) {
      const found = key.startsWith(prefix) ? await regions.objects.stat(key) : null;
      if (found !== null) await regions.objects.delete(key, found.etag);
    }
    for (let day = 0; day < 3; day++) {
      regions.clock.nowMs += DAY_MS + 1;
      await sweepBoth(regions);
      await regions.copy();
    }
    expect(bytesOf(regions.second)).toEqual(before);
  });

  test('reports the failure of each round, and not that another one is at work', async () => {
    const regions = await begun();
    await regions.copy();
    await makeDaily(regions);
    regions.clock.nowMs += DAY_MS;
    const get: ObjectStore['get'] = (key, ...rest) =>
      key.includes('/exports/') ? Promise.reject(new StorageUnavailable('no')) : regions.objects.get(key, ...rest);
    for (let round = 0; round < 3; round++) {
      await expect(regions.copy({ first: changedStore(regions.objects, { get }) })).rejects.toThrow('no');
      regions.clock.nowMs += 1_000;
    }
  });
});
