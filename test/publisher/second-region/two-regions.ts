/** A deployment with all files and a log, and its copy in a second region. */
import { PROJECTIONS, type Projection } from '../../../contract/files/projections.ts';
import { publish } from '../../../publisher/publish.ts';
import { type CopyReport, copyRound } from '../../../publisher/second-region/copy-round.ts';
import type { VerifyOptions } from '../../../publisher/verify/verify.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { changedStore } from '../../../storage/ports/changed-store.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { type MemoryObjects, openMemoryObjects } from '../../storage/memory-objects.ts';
import { faultsOfLog } from '../log/log-oracle.ts';
import { withLog } from '../log/test-log.ts';
import { createWorld, publicObjects, readerOf, SMALL_PAGES, type World } from '../world.ts';

export const LEASE_MS = 60_000;

export interface TwoRegions extends World {
  readonly second: MemoryObjects;
  publishAll(): Promise<void>;
  copy(options?: {
    readonly first?: ObjectStore;
    readonly second?: ObjectStore;
    readonly hasTime?: () => boolean;
  }): Promise<CopyReport>;
  /** What a reader of the second region finds wrong. */
  faults(options?: VerifyOptions): Promise<readonly string[]>;
}

export function twoRegions(projections: readonly Projection[] = PROJECTIONS): TwoRegions {
  const world = createWorld();
  const second = openMemoryObjects();
  const dependencies = {
    ...withLog(world.dependencies),
    projections: new Set(projections),
    readBaseUrl: 'https://data.example',
    keepsBundles: true,
  };
  return {
    ...world,
    dependencies,
    second,
    async publishAll() {
      while ((await publish(dependencies)).isMoreDue);
    },
    async copy({ first = world.objects, second: through = second, hasTime = () => true } = {}) {
      const { ledger, nowMs } = dependencies;
      const concurrency = { objects: 4 };
      const storage = {
        ledger,
        first: shortListings(first),
        second: shortListings(through),
        nowMs,
        concurrency,
        hasTime,
      };
      return await copyRound(storage, LEASE_MS);
    },
    async faults(options = {}) {
      const { findings } = await verify(readerOf(second), { pageSizes: SMALL_PAGES, ...options });
      return [
        ...findings.map(({ url, rule, detail }) => `${url} ${rule} ${detail}`),
        ...(options.settled ? await faultsOfLog(second) : []),
      ];
    },
  };
}

/** With seven keys a page, so that a market's objects are on several. */
function shortListings(objects: ObjectStore): ObjectStore {
  return changedStore(objects, {
    async list(prefix, options) {
      const { keys, next } = await objects.list(prefix, options);
      const some = keys.slice(0, 7);
      return { keys: some, next: some.length < keys.length ? (some.at(-1) ?? null) : next };
    },
  });
}

/** Every public object, as both stores must have it. */
export function bytesOf(objects: MemoryObjects): ReadonlyMap<string, string> {
  return publicObjects(objects);
}
