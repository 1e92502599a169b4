import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PAGE_RETENTION_SECONDS } from '../../publisher/kernel/sweep.ts';
import { publish } from '../../publisher/publish.ts';
import { type PublishLoop, startPublishLoop } from '../../server/loops/publish-loop.ts';
import type { WakeLoop } from '../../server/loops/wake-loop.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Item, Ledger } from '../../storage/ports/ledger.ts';
import { type MarketRecordValue, marketKey } from '../../storage/records/markets.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { createWorld, dependenciesOn, market, price, type World } from '../publisher/world.ts';
import { putItem } from '../storage/put-item.ts';

const MINUTE_MS = 60_000;

interface Watched {
  readonly world: World;
  readonly loop: PublishLoop;
  readonly reports: { what: string; cause: unknown }[];
  /** The number of rounds that have begun. Each begins with a read of HEAD. */
  rounds(): number;
  /** How often the worker was told to mark all markets. */
  refreshesAsked(): number;
  /** Stops each round at its beginning until the gate opens. Null: no gate. */
  hold(gate: Promise<unknown> | null): void;
}

let open: WakeLoop[] = [];

function watchedLoop(): Watched {
  const world = createWorld();
  const reports: { what: string; cause: unknown }[] = [];
  let rounds = 0;
  let gate: Promise<unknown> | null = null;
  const ledger: Ledger = {
    transact: (changes, options) => world.ledger.transact(changes, options),
    getMany: (keys) => world.ledger.getMany(keys),
    query: (partition, options) => world.ledger.query(partition, options),
    async get(key) {
      if (key.sort === HEAD_KEY.sort) {
        rounds++;
        await gate;
      }
      return await world.ledger.get(key);
    },
  };
  let refreshesAsked = 0;
  const loop = startPublishLoop(dependenciesOn(ledger, world.objects, world.clock), {
    report: (what, cause) => reports.push({ what, cause }),
    info: () => {},
    onRefreshAsked: () => refreshesAsked++,
  });
  open.push(loop);
  return {
    world,
    loop,
    reports,
    rounds: () => rounds,
    refreshesAsked: () => refreshesAsked,
    hold: (next) => {
      gate = next;
    },
  };
}

const generation = async ({ world }: Watched) => (await world.ledger.get(HEAD_KEY))?.revision ?? 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});

afterEach(async () => {
  vi.useRealTimers();
  for (const loop of open) await loop.stop();
  open = [];
});

describe('a round that fails', () => {
  test('leaves the lag as it is; a complete one ends it', async () => {
    const watched = watchedLoop();
    const { loop, world } = watched;
    expect(loop.lagMs()).toBe(0);
    const reason = new StorageUnavailable('for a while');
    const failing = Promise.reject(reason);
    failing.catch(() => {});
    watched.hold(failing);
    await world.ingest([market('a')]);
    loop.wake();
    await expect.poll(() => watched.reports).toHaveLength(1);
    world.clock.nowMs += 5_000;
    expect([loop.lagMs(), loop.stalledMs(), loop.failure()]).toEqual([5_000, 5_000, reason]);
    watched.hold(null);
    loop.wake();
    expect(loop.lagMs()).toBeGreaterThanOrEqual(5_000);
    await expect.poll(() => loop.lagMs()).toBe(0);
    expect([loop.stalledMs(), loop.failure()]).toEqual([0, null]);
    expect(await generation(watched)).toBe(1);
  });
});

test('markets that are deferred for too long are reported once a round, with any number of them', async () => {
  const watched = watchedLoop();
  const { world, loop } = watched;
  const slugs = ['a', 'b', 'c', 'd', 'e'];
  await world.ingest(slugs.map((slug) => market(slug)));
  for (const slug of slugs) {
    const { revision, value } = (await world.ledger.get(marketKey(slug))) as Item<MarketRecordValue>;
    await putItem(world.ledger, marketKey(slug), { ...value, sum: 'f'.repeat(32) }, revision);
  }
  await publish(world.dependencies);
  world.clock.nowMs += 6 * MINUTE_MS;
  loop.wake();
  await expect.poll(() => watched.reports).toHaveLength(1);
  await loop.stop();
  const [{ what, cause }] = watched.reports as [Watched['reports'][number]];
  expect([what, String(cause)]).toEqual(['markets are deferred', expect.stringMatching(/: 5 .*a: .*b: .*c: .*; …$/)]);
});

test('expired objects are swept once an hour', async () => {
  const watched = watchedLoop();
  const { world, loop } = watched;
  await world.ingest(['a', 'b', 'c', 'd', 'e'].map((slug) => market(slug)));
  await publish(world.dependencies);
  await world.ingest([price('e', 0, 1)]);
  await publish(world.dependencies);
  const pages = () => [...world.objects.snapshot().keys()].filter((key) => key.includes('/markets/pages/'));
  expect(pages()).toHaveLength(2);

  world.clock.nowMs += PAGE_RETENTION_SECONDS * 1000 + 1;
  loop.wake();
  await expect.poll(() => pages()).toHaveLength(1);
  expect(watched.reports).toEqual([]);
});
