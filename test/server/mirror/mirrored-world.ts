/** A small service, and a copy of it. */

import type { Projection } from '../../../contract/files/projections.ts';
import type { LogSettings } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import type { PublicReader } from '../../../publisher/verify/reader.ts';
import { MirrorCopy } from '../../../server/mirror/copy.ts';
import { KnownMarkets } from '../../../server/mirror/known-markets.ts';
import type { MirrorLog } from '../../../server/mirror/mirror-log.ts';
import { copyOnce, type RoundReport } from '../../../server/mirror/round.ts';
import { NO_PROGRESS } from '../../../server/mirror/step-progress.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { withLog } from '../../publisher/log/test-log.ts';
import { removeMarket } from '../../publisher/remove-market.ts';
import { createWorld, market, price, publicObjects, readerOf, SMALL_PAGES, type World } from '../../publisher/world.ts';

export const SLUGS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'] as const;

/** Seven markets on three pages, the first with a history of three pages. */
export async function publishedWorld(log?: LogSettings, projections?: readonly Projection[]): Promise<World> {
  const plain = createWorld();
  const world = log === undefined ? plain : { ...plain, dependencies: withLog(plain.dependencies, log) };
  if (projections !== undefined) Object.assign(world.dependencies, { projections: new Set(projections) });
  const first = Array.from({ length: 10 }, (_, day) => price('a', day, 100 + day));
  await world.ingest([
    ...SLUGS.map((slug) => market(slug)),
    ...first,
    ...SLUGS.slice(1).map((slug) => price(slug, 0, 1)),
  ]);
  await publish(world.dependencies);
  return world;
}

/** A new value, a correction that rewrites closed pages, a new market, and a removal. */
export async function changeWorld(world: World): Promise<void> {
  world.clock.nowMs += 60_000;
  await world.ingest([price('b', 1, 2), market('h'), price('h', 0, 5)]);
  await world.ingest([price('a', 0, 77)], 'correct');
  await removeMarket(world, 'd', 'e');
  await publish(world.dependencies);
}

export interface RoundOptions {
  readonly upstream?: PublicReader;
  readonly objects?: ObjectStore;
  readonly maxBytes?: number;
  readonly log?: MirrorLog;
  readonly known?: KnownMarkets;
  readonly broken?: ReadonlySet<string>;
  readonly pause?: (durationMs: number) => Promise<void>;
}

export async function roundOf(world: World, copied: ObjectStore, options: RoundOptions = {}): Promise<RoundReport> {
  const { upstream = readerOf(world.objects), maxBytes = 1e9, broken = new Set<string>() } = options;
  return await copyOnce({
    upstream,
    copy: new MirrorCopy(copied, maxBytes),
    log: options.log ?? null,
    known: options.known ?? new KnownMarkets(),
    progress: NO_PROGRESS,
    pageSizes: SMALL_PAGES,
    broken,
    nowMs: () => world.clock.nowMs,
    pause: options.pause ?? (async () => {}),
  });
}

/** What readers can ask for: the page of the CDN for 404 has no URL. */
export function servedBy(objects: Parameters<typeof publicObjects>[0]): Map<string, string> {
  const served = publicObjects(objects);
  served.delete('public/errors/404.json');
  return served;
}
