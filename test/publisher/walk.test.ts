/** Readers who follow cursors while generations are published. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Market } from '../../contract/values/market.ts';
import type { Observation } from '../../contract/values/metric.ts';
import { Superseded } from '../../publisher/errors.ts';
import { publish } from '../../publisher/publish.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { runs } from '../runs.ts';
import { expectVerified } from './expect-verified.ts';
import { createWorld, dependenciesOn, market, price, readerOf, type World } from './world.ts';

type Page<Item> = { data: Item[]; page: { nextCursor: string | null } };

interface Walk<Item> {
  /** The digest of the first page, which identifies the generation. */
  readonly firstPage: string;
  readonly items: readonly Item[];
}

async function walk<Item>(reader: PublicReader, url: string): Promise<Walk<Item>> {
  const items: Item[] = [];
  let firstPage = '';
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const response = await reader(cursor === undefined ? url : `${url}?cursor=${cursor}`);
    if (response.status !== 200) throw new Error(`${url}?cursor=${cursor} answered ${response.status}`);
    firstPage ||= sha256Hex(response.body);
    const page = JSON.parse(Buffer.from(response.body).toString('utf8')) as Page<Item>;
    items.push(...page.data);
    cursor = page.page.nextCursor;
  }
  return { firstPage, items };
}

/** Each call of the port waits until the scheduler lets it run. */
function scheduled<Port extends object>(scheduler: fc.Scheduler, port: Port): Port {
  return new Proxy(port, {
    get: (target, method) => {
      const call = Reflect.get(target, method) as (...args: unknown[]) => Promise<unknown>;
      const inTurn = scheduler.scheduleFunction(async (...args: unknown[]) => await call.apply(target, args));
      return (...args: unknown[]) => inTurn(...args);
    },
  });
}

/** One change that an operator may ingest. */
const change = fc.oneof(
  fc.record({ kind: fc.constant('append' as const), market: fc.nat(9) }),
  fc.record({ kind: fc.constant('correct' as const), market: fc.nat(9) }),
  fc.record({ kind: fc.constant('join' as const), market: fc.nat(30) }),
);

async function make(world: World, step: typeof change extends fc.Arbitrary<infer Step> ? Step : never, day: number) {
  const slug = `m-${String(step.market).padStart(2, '0')}`;
  await world.ingest([market(slug)]);
  if (step.kind === 'append') await world.ingest([price(slug, day, day)]);
  if (step.kind === 'correct') await world.ingest([price(slug, 0, -day)], 'correct');
}

test('a walk that begins at any moment, while two publishers publish, stays in one generation to its end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      async (scheduler, generations) => {
        const world = createWorld();
        for (let index = 0; index < 10; index++) await make(world, { kind: 'append', market: index }, 0);
        await publish(world.dependencies);

        /** The items of each generation, by the digest of its first page. Read while nothing else runs. */
        const published = new Map<string, readonly Market[]>();
        const note = async (): Promise<void> => {
          const { firstPage, items } = await walk<Market>(readerOf(world.objects), '/api/v1/markets');
          published.set(firstPage, items);
        };
        await note();

        const objects = scheduled(scheduler, world.objects);
        const rival = dependenciesOn(scheduled(scheduler, world.ledger), objects, world.clock);
        const publisher = dependenciesOn(scheduled(scheduler, world.ledger), objects, world.clock);
        const reader = readerOf(objects);

        let day = 0;
        for (const steps of generations) {
          day++;
          for (const step of steps) await make(world, step, day);
          const tries = [publisher, rival].map((dependencies) =>
            publish(dependencies).catch((error: unknown) => {
              if (!(error instanceof Superseded)) throw error;
            }),
          );
          const walks = [1, 2, 3].map(() => walkAndFollow(reader));
          const done = await scheduler.waitFor(Promise.all([Promise.all(walks), Promise.all(tries)]));
          await publish(world.dependencies);
          await note();
          for (const { firstPage, items } of done[0]) expect(items).toEqual(published.get(firstPage));
        }
        await expectVerified(world);
      },
    ),
    { numRuns: runs(20, 50) },
  );
});

/** Walks the list and follows each link. The target is never older than the page with the link. */
async function walkAndFollow(reader: PublicReader): Promise<Walk<Market>> {
  const list = await walk<Market>(reader, '/api/v1/markets');
  const slugs = list.items.map(({ slug }) => slug);
  expect(slugs).toEqual([...new Set(slugs)].sort());
  for (const item of list.items) {
    const response = await reader(`/api/v1/markets/${item.slug}`);
    expect(response.status).toBe(200);
    const now = JSON.parse(Buffer.from(response.body).toString('utf8')) as Market;
    expect(now.revision).toBeGreaterThanOrEqual(item.revision);
    const { items } = await walk<Observation>(reader, now.history.href);
    expect(items.length).toBeGreaterThanOrEqual(now.history.count);
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
  }
  return list;
}
