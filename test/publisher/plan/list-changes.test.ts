/** A list that is published after several generations, from the changes that the ledger remembers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { publish } from '../../../publisher/publish.ts';
import { marketKey } from '../../../storage/records/markets.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import { loseMarket } from '../lose-market.ts';
import { removeMarket } from '../remove-market.ts';
import { market, price, publicObjects } from '../world.ts';
import { EVERY_MS, expectVerified, listed, paced, publishedWorld, remembered, SLUGS, snapshot } from './paced-world.ts';

describe('a list that shows the changes of several generations', () => {
  const step = fc.record({
    kind: fc.constantFrom('observe', 'define', 'lose', 'remove'),
    slug: fc.constantFrom('a', 'm-00', 'm-04', 'm-13', 'm-17', 'zz'),
    isPublished: fc.boolean(),
    isDue: fc.boolean(),
  });

  test('shows each market in its newest state, and is cut from its pages and the changed bodies alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const world = await publishedWorld();
        for (const [day, { kind, slug, isPublished, isDue }] of steps.entries()) {
          const known = await world.ledger.get(marketKey(slug));
          if (kind === 'lose') await loseMarket(world, slug);
          else if (known?.value.removal !== undefined) continue;
          else if (kind === 'remove') await (known && removeMarket(world, slug));
          else await world.ingest([market(slug), ...(kind === 'observe' ? [price(slug, day, day)] : [])], 'correct');
          if (!isPublished) continue;
          if (isDue) world.clock.nowMs += EVERY_MS;
          await publish(paced(world));
          if (isDue) await expectVerified(world);
        }
        // So that only the list is left: a lost market that is defined again is compared with its bodies.
        await publish(paced(world));
        world.clock.nowMs += EVERY_MS;
        const changes = (await remembered(world)).length;
        // A market that was lost, defined again and removed waits for the list. Then both its bodies are compared.
        const lost = new Set(steps.filter(({ kind }) => kind === 'lose').map(({ slug }) => slug));
        const records = await Promise.all([...lost].map((slug) => world.ledger.get(marketKey(slug))));
        const waiting = records.filter((item) => item?.value.removal !== undefined).length;
        world.objects.resetCounts();
        const { kind } = await publish(paced(world));
        // A ledger that has lost a removal says that the list has the market. The count is wrong then, so the list is cut
        // again from its bodies, and everything is read twice.
        const isRemovalLost = steps.some(
          ({ kind, slug }, place) =>
            kind === 'remove' && steps.slice(place).some((later) => later.kind === 'lose' && later.slug === slug),
        );
        // Pages, the layout, the bundle.
        const reads = (9 + changes + 2 * waiting) * (isRemovalLost ? 2 : 1);
        expect(world.objects.counts.get).toBeLessThanOrEqual(kind === 'unchanged' ? 0 : reads);
        await expectVerified(world);
        expect(await remembered(world)).toEqual([]);
        const { listGeneration, generation } = snapshot(world);
        expect(listGeneration).toBe(generation);
        const isListed = new Map(listed(world).map((item) => [item.slug, item]));
        for (const slug of ['a', ...SLUGS, 'zz']) {
          const item = await world.ledger.get(marketKey(slug));
          const isShown = item !== null && item.value.removal === undefined;
          expect(isListed.get(slug)?.revision ?? null).toBe(isShown ? item.revision : null);
        }
      }),
      {
        numRuns: 25,
        examples: [
          [
            [
              { kind: 'remove', slug: 'm-17', isPublished: false, isDue: false },
              { kind: 'observe', slug: 'a', isPublished: true, isDue: true },
              { kind: 'lose', slug: 'm-17', isPublished: false, isDue: false },
              { kind: 'observe', slug: 'm-17', isPublished: false, isDue: false },
            ],
          ],
        ],
      },
    );
  });

  test('counts a market that leaves the list and joins it again as changed', async () => {
    for (const slug of ['m-00', 'm-17']) {
      const world = await publishedWorld();
      await loseMarket(world, slug);
      await publish(paced(world));
      await world.ingest([market(slug)]);
      await publish(paced(world));
      await world.ingest([price(slug, 0, 1)]);
      await publish(paced(world));
      expect(await remembered(world)).toEqual([[slug, true]]);
      world.clock.nowMs += EVERY_MS;
      world.objects.resetCounts();
      await publish(paced(world));
      // The pages up to its own, its body, the layout, the bundle.
      expect(world.objects.counts.get).toBe(slug === 'm-00' ? 4 : 9);
      await expectVerified(world);
    }
  });

  test('is cut from the bodies of all markets if the first page of the previous list has other bytes', async () => {
    const world = await publishedWorld();
    const key = publicKey({ kind: 'market-list' });
    await world.forge(key, (body) => body.toString().replace('Market m-01', 'Market m-10'));
    await world.ingest([price('m-03', 0, 1)]);
    world.clock.nowMs += EVERY_MS;
    await publish(paced(world));
    await expectVerified(world);
  });

  test('is cut from the bodies of all markets if a page of the previous list is lost', async () => {
    for (const lost of [0, 1, 3]) {
      const world = await publishedWorld();
      const pages = [...publicObjects(world.objects)].filter(([key]) => /markets\.json|markets\/pages/.test(key));
      // In the order of their markets: keys hold digests.
      pages.sort(([, left], [, right]) => (firstSlug(left) < firstSlug(right) ? -1 : 1));
      const [key] = pages[lost] as [string, string];
      await world.lose(key);
      await world.ingest([price('m-03', 0, 1)]);
      await publish(paced(world));
      await world.ingest([market('b'), price('m-17', 0, 1)]);
      world.clock.nowMs += EVERY_MS;
      world.objects.resetCounts();
      await publish(paced(world));
      expect(world.objects.counts.get).toBeGreaterThan(SLUGS.length - 3);
      await expectVerified(world);
      expect((await world.ledger.get(HEAD_KEY))?.value.list.markets).toBe(19);
    }
  });
});

function firstSlug(page: string): string {
  return JSON.parse(page).data[0].slug;
}
