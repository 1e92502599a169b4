/** A deployment that renders differently from the previous one refreshes all markets. */
import { describe, expect, test } from 'vitest';
import type { WorkOf } from '../../../lambdas/worker/leases.ts';
import { runRefresh } from '../../../lambdas/worker/run-refresh.ts';
import type { PageSizes, PublisherDependencies } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { WORK_QUEUE } from '../../../storage/records/batches.ts';
import { REFRESH_MARKS } from '../../../storage/records/publication.ts';
import { diesAfter, failsWithoutEffect, faultyStorage } from '../faulty-storage.ts';
import { createWorld, dependenciesOn, market, price, type World } from '../world.ts';

/** Published in pages of 3 markets and 4 observations. */
async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((slug) => market(slug)));
  await world.ingest([...Array(9).keys()].flatMap((day) => [price('b', day, day + 1), price('g', 2 * day, day + 1)]));
  await world.publish();
  return world;
}

const resized = ({ ledger, objects, clock }: World, pageSizes: PageSizes): PublisherDependencies =>
  dependenciesOn(ledger, objects, clock, pageSizes);

const OTHER_SIZES: PageSizes = { markets: 2, observations: 3 };

const workOf = async ({ ledger }: Pick<World, 'ledger'>) =>
  (await readAll<WorkOf<'refresh'>['value']>(ledger, WORK_QUEUE as never)).filter(
    ({ value }) => value.kind === 'refresh',
  );

/** As the worker does. */
async function markAll(world: World): Promise<void> {
  for (let [item] = await workOf(world); item !== undefined; [item] = await workOf(world)) {
    await runRefresh(world.dependencies, item);
  }
}

async function publishAll(dependencies: PublisherDependencies): Promise<void> {
  while ((await publish(dependencies)).isMoreDue);
}

describe('other page sizes', () => {
  test.each([
    ['dies right after it has moved HEAD', diesAfter, 1],
    ['cannot move HEAD', failsWithoutEffect, 0],
  ] as const)('are asked for once, where the publisher %s', async (_, fault, asked) => {
    const world = await publishedWorld();
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', (operation) =>
      operation.what.startsWith('ledger.transact') ? fault(operation) : operation.run(),
    );
    await publish(dependenciesOn(ledger, objects, world.clock, OTHER_SIZES)).catch(() => null);
    expect(await workOf(world)).toHaveLength(asked);
    await publish(resized(world, OTHER_SIZES));
    expect(await workOf(world)).toHaveLength(1);
    expect(await publish(resized(world, OTHER_SIZES))).toMatchObject({ kind: 'unchanged', asksForRefresh: false });
    expect(await workOf(world)).toHaveLength(1);
  });

  test.each<PageSizes>([OTHER_SIZES, { markets: 100, observations: 250 }])(
    'of $markets markets and $observations observations: everything is cut again, and is whole all the time',
    async (sizes) => {
      const world = await publishedWorld();
      const dependencies = { ...resized(world, sizes), maxMarkedMarkets: 3 };
      await publishAll(dependencies);
      await markAll(world);
      expect(await readAll(world.ledger, REFRESH_MARKS)).toHaveLength(8);
      for (let isMoreDue = true; isMoreDue; ) {
        ({ isMoreDue } = await publish(dependencies));
        // Pages have the old or the new size, but each link works.
        const report = await verify(world.read, { settled: true, pageSizes: sizes });
        expect(report.findings.filter(({ rule }) => rule !== 'page-size')).toEqual([]);
      }
      const report = await verify(world.read, { settled: true, pageSizes: sizes });
      expect(report.findings).toEqual([]);
      expect(await publish(dependencies)).toMatchObject({ kind: 'unchanged' });
    },
  );
});
