/** The repair of a market of which the ledger holds a part of a transaction. */
import { beforeEach, describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { Json } from '../../../contract/values/canonical-json.ts';
import { rebuild } from '../../../publisher/repair/rebuild.ts';
import { repairMarket, repairMarkets, repairOne } from '../../../publisher/repair/repair-market.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import type { Item, ItemKey, Ledger } from '../../../storage/ports/ledger.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { type MarketRecordValue, marketIndexKey, marketKey, observationsOf } from '../../../storage/records/markets.ts';
import {
  deferredKey,
  historyMarkKey,
  historyPageKey,
  marketMarkKey,
  type PublishedPage,
  publishedHeadsKey,
  refreshMarkKey,
} from '../../../storage/records/publication.ts';
import { diesAfter, faultyStorage, ProcessDied } from '../faulty-storage.ts';
import { createWorld, market, price, SMALL_PAGES, type World } from '../world.ts';

/** Gold has two closed pages. The first one has a corrected observation. */
let world: World;

beforeEach(async () => {
  world = createWorld();
  await world.ingest([market('gold'), market('tin'), price('tin', 0, 1)]);
  await world.ingest(Array.from({ length: 10 }, (_, day) => price('gold', day, 100 + day)));
  await world.ingest([price('gold', 1, 7)], 'correct');
  await world.publish();
});

const recordOf = async (ledger: Ledger) => (await ledger.get(marketKey('gold'))) as Item<MarketRecordValue>;
const observations = () => readAll(world.ledger, observationsOf('gold'));

async function put<Value extends Json>(key: ItemKey<Value>, revision: number, value: NoInfer<Value>): Promise<void> {
  const change = { kind: 'put', key, revision, value, if: { kind: 'any' } } as const;
  await world.ledger.transact([change], { attemptId: world.dependencies.newAttemptId() });
}

async function remove(...keys: readonly ItemKey<unknown>[]): Promise<void> {
  const changes = keys.map(({ partition, sort }) => {
    return { kind: 'delete', key: { partition, sort }, if: { kind: 'any' } } as const;
  });
  await world.ledger.transact(changes, { attemptId: world.dependencies.newAttemptId() });
}

/** Writes, and keeps the record as it was. */
async function withOldRecord(write: () => Promise<unknown>): Promise<void> {
  const { revision, value } = await recordOf(world.ledger);
  await write();
  await put(marketKey('gold'), revision, value);
}

const LATER = 99;

const DAMAGES: readonly [string, () => Promise<unknown>][] = [
  [
    'a record without the newest observation',
    async () => {
      await world.ingest([price('gold', 10, 5)]);
      await remove(...(await observations()).slice(-1));
    },
  ],
  ['an observation without its record', () => withOldRecord(() => world.ingest([price('gold', 10, 5)]))],
  [
    'an observation in the middle without its record',
    () => withOldRecord(() => world.ingest([{ ...price('gold', 3, 5), sourceUrl: 'https://example.com/b' } as never])),
  ],
  [
    'the new version of a correction, and the old one without its link',
    async () => {
      const before = await observations();
      await world.ingest([price('gold', 4, 5)], 'correct');
      for (const { partition, sort, revision, value } of before) await put({ partition, sort }, revision, value);
    },
  ],
  [
    'the old version of a correction with its link, without the new one',
    async () => {
      const before = new Set((await observations()).map(({ sort }) => sort));
      await world.ingest([price('gold', 4, 5)], 'correct');
      await remove(...(await observations()).filter(({ sort }) => !before.has(sort)));
    },
  ],
  ['a record without its place in the index', () => remove(marketIndexKey('gold'))],
  ['a mark with a later revision than the record', () => put(marketMarkKey('gold'), LATER, null)],
  ['a closed page with a wrong record', () => damagePage({ sum: 'f'.repeat(32) })],
];

async function damagePage(damage: Partial<PublishedPage>): Promise<void> {
  const key = historyPageKey('gold', 1);
  const page = await world.ledger.get(key);
  if (page === null) throw new Error('there is no such page');
  await put(key, page.revision, { ...page.value, ...damage });
}

test.each(DAMAGES)(
  'of %s: a repair that dies after any of its writes is completed by the next one',
  async (_, damage) => {
    for (let at = 0; ; at++) {
      await damage();
      const { ledger, operations } = faultyStorage(world.ledger, world.objects, at, diesAfter);
      const outcome = await repairOne({ ...world.dependencies, ledger }, 'gold').catch((error: unknown) => {
        if (!(error instanceof ProcessDied)) throw error;
        return 'died';
      });
      await repairOne(world.dependencies, 'gold');
      await expectPublished();
      if (outcome !== 'died' || operations.length > 60) break;
    }
    await world.ingest([price('gold', 20, 1)]);
    await expectPublished();
  },
);

/** No market is deferred, and readers see as many observations as the ledger has. */
async function expectPublished(): Promise<void> {
  for (let isMoreDue = true; isMoreDue; ) {
    const outcome = await world.publish();
    expect(outcome.deferred).toEqual([]);
    isMoreDue = outcome.isMoreDue;
  }
  const report = await verify(world.read, { pageSizes: SMALL_PAGES, settled: true });
  expect(report.findings).toEqual([]);
  expect(report.observations).toBe((await observations()).length + 1);
}

test('a market that adds up is not changed, and an unknown one is not marked', async () => {
  const before = await recordOf(world.ledger);
  expect(await repairMarket(world.dependencies, 'gold')).toBe('unchanged');
  expect(await recordOf(world.ledger)).toEqual(before);
  expect(await world.ledger.get(marketMarkKey('gold'))).toBeNull();
  expect(await repairOne(world.dependencies, 'gold-usd')).toBe('unknown');
  expect(await world.ledger.get(refreshMarkKey('gold-usd'))).toBeNull();
});

test('a record is not older than the first revision of a version, which the log states', async () => {
  const [first] = await observations();
  if (first === undefined) throw new Error('there is no observation');
  await put(first, first.revision, { ...first.value, firstRevision: LATER });
  expect(await repairMarket(world.dependencies, 'gold')).toBe('repaired');
  expect((await recordOf(world.ledger)).revision).toBeGreaterThan(LATER);
});

test('a comparison with an older version than the latest is dropped', async () => {
  const { revision, value } = await recordOf(world.ledger);
  const comparison = { outcome: 'confirmed', verifiedAt: '2026-01-01T00:00:00Z', verification: 'ver_1' } as const;
  const standing = { representedBy: null, disputes: {}, comparisons: { price: comparison }, verifications: {} };
  await put(marketKey('gold'), revision, { ...value, standing });
  expect(await repairMarket(world.dependencies, 'gold')).toBe('unchanged');
  await remove(...(await observations()).slice(-1));
  expect(await repairMarket(world.dependencies, 'gold')).toBe('repaired');
  expect((await recordOf(world.ledger)).value.standing).toEqual({ ...standing, comparisons: {} });
});

describe('observations without a record', () => {
  beforeEach(() => remove(marketKey('gold')));

  test('are removed with all records of the market, and its public bodies leave the list', async () => {
    await put(marketMarkKey('gold'), LATER, null);
    await put(historyMarkKey('gold', 'x'), LATER, null);
    expect(await repairMarket(world.dependencies, 'gold')).toBe('removed');
    await world.publish();
    const left = [
      marketIndexKey('gold'),
      marketMarkKey('gold'),
      historyMarkKey('gold', 'x'),
      refreshMarkKey('gold'),
      deferredKey('gold'),
      publishedHeadsKey('gold'),
    ];
    for (const key of left) expect(await world.ledger.get<unknown>(key)).toBeNull();
    const report = await verify(world.read, { pageSizes: SMALL_PAGES, settled: true });
    expect(report).toMatchObject({ findings: [], markets: 1, observations: 1 });
  });

  test('stay if the record appears in between', async () => {
    const { ledger } = faultyStorage(world.ledger, world.objects, 'all', async ({ what, run }) => {
      if (what.startsWith('ledger.transact')) await put(marketKey('gold'), 1, record);
      return await run();
    });
    const record = (await recordOf(createdAnew.ledger)).value;
    expect(await repairMarket({ ...world.dependencies, ledger }, 'gold')).toBe('repaired');
    expect(await observations()).toHaveLength(11);
  });
});

const createdAnew = createWorld();
await createdAnew.ingest([market('gold')]);

test('a market is read again if a writer commits during the repair', async () => {
  await remove(...(await observations()).slice(-1));
  let hasWritten = false;
  const { ledger } = faultyStorage(world.ledger, world.objects, 'all', async ({ what, run }) => {
    if (!hasWritten && what.startsWith('ledger.transact')) {
      hasWritten = true;
      await world.ingest([price('gold', 30, 3)]);
    }
    return await run();
  });
  expect(await repairMarket({ ...world.dependencies, ledger }, 'gold')).toBe('repaired');
  await expectPublished();
});

test('all markets, also one with only a mark, are repaired in order while there is time; the next call continues', async () => {
  await remove(...(await observations()).slice(-1));
  await put(marketMarkKey('zinc'), 1, null);
  let time = 1;
  const first = await repairMarkets(world.dependencies, { after: '', hasTime: () => time-- > 0 });
  expect(first).toEqual({ outcomes: new Map([['gold', 'repaired']]), next: 'gold' });
  const second = await repairMarkets(world.dependencies, { after: 'gold', hasTime: () => true });
  expect(second).toEqual({ outcomes: new Map([['zinc', 'removed']]), next: null });
  await expectPublished();
});

test('a market that does not add up and has no body keeps no other market out of the list', async () => {
  await remove(...(await observations()).slice(-1));
  const key = publicKey({ kind: 'market', slug: 'gold' });
  await world.lose(key);
  expect(await rebuild(world.dependencies)).toMatchObject({ deferred: ['gold'] });
  expect((await verify(world.read, { pageSizes: SMALL_PAGES })).markets).toBe(1);
  await repairOne(world.dependencies, 'gold');
  await expectPublished();
});
