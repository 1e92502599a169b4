/** Readers see the same at the end, however often a ledger was published on the way. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PUBLIC_OBJECTS, parsePublicKey } from '../../contract/files/public-objects.ts';
import { historyUrl, MARKETS_URL, marketUrl } from '../../contract/files/routes.ts';
import type { Market } from '../../contract/values/market.ts';
import type { Observation } from '../../contract/values/metric.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import { publish } from '../../publisher/publish.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { MARKET_INDEX, marketKey } from '../../storage/records/markets.ts';
import { runs } from '../runs.ts';
import { removeMarket } from './remove-market.ts';
import { createWorld, market, price, readerOf, SMALL_PAGES, type World } from './world.ts';

/** `e` often, so that its history has several pages. */
const slug = fc.constantFrom('e', 'e', 'e', 'e', 'e', 'e', 'e', 'e', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j');
const day = fc.nat({ max: 12 });
const amount = fc.option(fc.integer(), { freq: 5 });

/** A write to the ledger. A write that does not fit the state changes nothing. */
const happening = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('observe'), slug, day, amount }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('correct'), slug, day, amount }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rename'), slug, day, amount }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove'), slug, day, amount }) },
);

type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never;

async function happen(world: World, { kind, slug, day, amount }: Happening): Promise<void> {
  const known = await world.ledger.get(marketKey(slug));
  if (known?.value.removal !== undefined || (kind === 'remove' && known === null)) return;
  if (kind === 'remove') return await removeMarket(world, slug);
  const name = kind === 'rename' ? `Market ${slug}, day ${day}` : `Market ${slug}`;
  await world.ingest([{ ...(market(slug) as object), name } as ReturnType<typeof market>]);
  if (kind !== 'rename') await world.ingest([price(slug, day, amount)], 'correct');
}

async function removedIn({ ledger }: World): Promise<readonly string[]> {
  const slugs = (await readAll(ledger, MARKET_INDEX)).map(({ sort }) => sort);
  const records = await ledger.getMany(slugs.map(marketKey));
  return slugs.filter((_, index) => records[index]?.value.removal !== undefined);
}

/** Everything that a reader can find, without cursors; and the keys of the bodies that a sweep leaves. */
async function allThatIsPublished(world: World): Promise<unknown> {
  const reader = readerOf(world.objects);
  const get = async (url: string) => JSON.parse(Buffer.from((await reader(url)).body).toString('utf8'));
  const walk = async <Item>(url: string): Promise<Item[]> => {
    const items: Item[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await get(cursor === undefined ? url : `${url}?cursor=${cursor}`);
      items.push(...page.data);
      cursor = page.page.nextCursor;
    }
    return items;
  };
  const list = await walk<Market>(MARKETS_URL);
  const markets = await Promise.all(list.map((item) => get(marketUrl(item.slug))));
  const histories = await Promise.all(list.map((item) => walk<Observation>(historyUrl(item.slug))));
  const removed = await Promise.all(
    (await removedIn(world)).flatMap((slug) => [marketUrl(slug), historyUrl(slug)].map(get)),
  );
  await collectGarbage(world.dependencies, { dryRun: false });
  const keys = [...world.objects.snapshot().keys()].filter((key) => {
    const name = parsePublicKey(key);
    return name !== null && PUBLIC_OBJECTS[name.kind].retention === 'head';
  });
  return { list, markets, histories, removed, keys };
}

test('readers see the same, whether it was published after each change, after some, or only at the end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(happening, fc.boolean()), { minLength: 1, maxLength: 40, size: 'max' }),
      async (steps) => {
        const [always, sometimes, once] = [createWorld(), createWorld(), createWorld()];
        for (const [step, isPublished] of steps) {
          for (const world of [always, sometimes, once]) await happen(world, step);
          await publish(always.dependencies);
          if (isPublished) await publish(sometimes.dependencies);
        }
        await publish(sometimes.dependencies);
        await publish(once.dependencies);
        const expected = await allThatIsPublished(once);
        for (const world of [always, sometimes]) {
          const report = await verify(readerOf(world.objects), {
            pageSizes: SMALL_PAGES,
            settled: true,
            removed: await removedIn(world),
          });
          expect(report.findings).toEqual([]);
          expect(await allThatIsPublished(world)).toEqual(expected);
        }
      },
    ),
    { numRuns: runs(15, 30) },
  );
});
