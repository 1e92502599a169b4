/** A small service, and a copy of it. */

import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Projection } from '../../../contract/files/projections.ts';
import type { LogSettings, PageSizes } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import { type Site, siteOf } from '../../../publisher/site.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { Mirror } from '../../../server/mirror/mirror.ts';
import { type MirrorFolder, openMirrorFolder } from '../../../server/mirror/mirror-folder.ts';
import type { MirrorLogState } from '../../../server/mirror/mirror-log.ts';
import type { RoundReport } from '../../../server/mirror/round.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { TEST_LOG, testSigner, withLog } from '../../publisher/log/test-log.ts';
import { removeMarket } from '../../publisher/remove-market.ts';
import { createWorld, market, price, publicObjects, readerOf, SMALL_PAGES, type World } from '../../publisher/world.ts';
import { temporaryFolder } from '../../storage/temporary-folder.ts';

export const SLUGS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'] as const;

/** Seven markets on three pages, the first with a history of three pages. */
export async function publishedWorld(log: LogSettings = TEST_LOG, projections?: readonly Projection[]): Promise<World> {
  const plain = createWorld();
  const world = { ...plain, dependencies: withLog(plain.dependencies, log) };
  if (projections !== undefined) Object.assign(world.dependencies, { projections: new Set(projections) });
  await fillPublished(world);
  return world;
}

/** Publishes the markets of {@link publishedWorld}. */
export async function fillPublished(world: World): Promise<void> {
  const first = Array.from({ length: 10 }, (_, day) => price('a', day, 100 + day));
  await world.ingest([
    ...SLUGS.map((slug) => market(slug)),
    ...first,
    ...SLUGS.slice(1).map((slug) => price(slug, 0, 1)),
  ]);
  await publish(world.dependencies);
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
  readonly maxBytes?: number;
  /** Keys of the log. Default: that of the test log. */
  readonly logKeys?: readonly string[];
  /** What an earlier process knew of the log. */
  readonly logState?: MirrorLogState;
  readonly partEntries?: number;
  readonly pageSizes?: PageSizes;
  /** The pages for people. Default: none. */
  readonly site?: Site;
  readonly pause?: (durationMs: number) => Promise<void>;
}

/** A mirror of the world in a folder of its own, whose copy is `copied`. */
export async function mirrorOf(world: World, copied: ObjectStore, options: RoundOptions = {}): Promise<Mirror> {
  return (await mirrorWith(world, copied, options)).mirror;
}

export async function mirrorWith(world: World, copied: ObjectStore, options: RoundOptions = {}) {
  const folder = await folderWith(copied);
  if (options.logState) folder.state = { ...folder.state, log: options.logState };
  return { mirror: await mirrorIn(folder, world, options), folder };
}

/** A folder of a mirror with this copy: a disk that keeps every write for good would take most of the time of a test. */
export async function folderWith(copied: ObjectStore, url = new URL('https://data.example')): Promise<MirrorFolder> {
  const folder = await openMirrorFolder(join(await temporaryFolder(), 'mirror'), url);
  onTestFinished(() => folder.close());
  return Object.assign(folder, { objects: copied });
}

/** As a new process. */
export async function mirrorIn(
  folder: MirrorFolder,
  world: Pick<World, 'objects' | 'clock'>,
  options: RoundOptions = {},
): Promise<Mirror> {
  const mirror = new Mirror({
    folder,
    upstream: options.upstream ?? readerOf(world.objects),
    maxBytes: options.maxBytes ?? 1e9,
    logKeys: options.logKeys ?? [testSigner().vkey],
    site: options.site ?? siteOf(new Map()),
    onTrusted: () => {},
    pageSizes: options.pageSizes ?? SMALL_PAGES,
    ...(options.partEntries && { partEntries: options.partEntries }),
    nowMs: () => world.clock.nowMs,
    pause: options.pause ?? (async () => {}),
  });
  await mirror.open();
  return mirror;
}

/** One round of a mirror that knows nothing but its copy. */
export async function roundOf(world: World, copied: ObjectStore, options: RoundOptions = {}): Promise<RoundReport> {
  return await (await mirrorOf(world, copied, options)).follow();
}

/** What readers can ask for: the page of the CDN for 404 has no URL. */
export function servedBy(objects: Parameters<typeof publicObjects>[0]): Map<string, string> {
  const served = publicObjects(objects);
  served.delete('public/errors/404.json');
  return served;
}
