/** A published world whose list has a cadence of a minute. */
import { expect } from 'vitest';
import type { PublicObjectName } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { PublisherDependencies } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { LIST_CHANGES } from '../../../storage/records/publication.ts';
import { createWorld, market, publicObjects, SMALL_PAGES, type World } from '../world.ts';

export const EVERY_MS = 60_000;

export const paced = ({ dependencies }: World): PublisherDependencies => ({
  ...dependencies,
  listEverySeconds: () => 60,
});

export const SLUGS = Array.from({ length: 18 }, (_, index) => `m-${String(index).padStart(2, '0')}`);

/** Its list has six pages. */
export async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest(SLUGS.map((slug) => market(slug)));
  await publish(paced(world));
  return world;
}

export function shown(world: World, name: PublicObjectName) {
  const body = publicObjects(world.objects).get(publicKey(name));
  return body === undefined ? null : JSON.parse(body);
}

export const snapshot = (world: World) => shown(world, { kind: 'snapshot' });
export const remembered = async ({ ledger }: World) =>
  (await readAll(ledger, LIST_CHANGES)).map(({ sort, value }) => [sort, value.wasListed]);

/** The items of the list, in order. */
export function listed(world: World): { slug: string; revision: number }[] {
  const items: { slug: string; revision: number }[] = [];
  for (let name: PublicObjectName = { kind: 'market-list' }; ; ) {
    const { data, page } = shown(world, name);
    items.push(...data);
    if (page.nextCursor === null) return items;
    name = { kind: 'market-list-page', cursor: page.nextCursor };
  }
}

export async function expectVerified(world: World, ...removed: string[]): Promise<void> {
  const report = await verify(world.read, { pageSizes: SMALL_PAGES, settled: true, removed });
  expect(report.findings).toEqual([]);
}
