/** A small deployment with daily files for other programs. */
import type { MarketQuotes } from '../../../contract/bodies/compat.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import type { LogSettings } from '../../../publisher/dependencies.ts';
import { type CompatOptions, makeCompat } from '../../../publisher/projections/compat/make-compat.ts';
import { partOf } from '../../../publisher/projections/compat/names.ts';
import { publish } from '../../../publisher/publish.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { withLog } from '../log/test-log.ts';
import { createWorld, readerOf, SMALL_PAGES } from '../world.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;
export const COMPAT = '/api/v1/compat';

/** The files with the prices of a market. */
export const PATHS = (slug: string) => ({
  beancount: `/beancount/${partOf(slug)}.beancount`,
  hledger: `/hledger/${partOf(slug)}.journal`,
  quotes: `/quotes/${partOf(slug)}.json`,
  changes: `/changes/${partOf(slug)}.json`,
});

export function compatWorld(projections: readonly Projection[] = ['compat'], log?: LogSettings) {
  const world = createWorld();
  const put: string[] = [];
  const objects: ObjectStore = {
    ...world.objects,
    put: async (key, ...rest) => {
      put.push(key);
      return await world.objects.put(key, ...rest);
    },
  };
  const signed = log === undefined ? world.dependencies : withLog(world.dependencies, log);
  const dependencies = { ...signed, objects, projections: new Set(projections) };
  const read = readerOf(world.objects);
  const text = async (path: string): Promise<string> => {
    const { status, body } = await read(COMPAT + path);
    return status === 200 ? Buffer.from(body).toString('utf8') : String(status);
  };
  const section = async (format: 'beancount' | 'hledger', slug: string): Promise<string> => {
    const file = await text(PATHS(slug)[format]);
    if (/^\d+$/.test(file)) return file;
    const from = file.split(/^(?=; From )/m).find((each) => each.startsWith(`; From /api/v1/markets/${slug},`));
    return from ?? '';
  };
  return {
    ...world,
    dependencies,
    read,
    /** The text below the URL of these files, or its status. */
    text,
    json: async <Value>(path: string): Promise<Value> => JSON.parse(await text(path)) as Value,
    /** The section of a market in its price file; the status if there is no file. */
    section,
    /** The lines of it that are no comments. */
    lines: async (format: 'beancount' | 'hledger', slug: string): Promise<string[]> =>
      (await section(format, slug)).split('\n').filter((line) => /^[0-9P]/.test(line)),
    quotes: async (slug: string) =>
      (JSON.parse(await text(PATHS(slug).quotes)) as { readonly [slug: string]: MarketQuotes })[slug],
    /** Removes an object, as a fault of the store. */
    lose: async (key: string) => {
      const found = await world.objects.get(key);
      if (found.kind === 'found') await world.objects.delete(key, found.etag);
    },
    publish: async () => {
      while ((await publish(dependencies)).isMoreDue);
    },
    /** Publishes everything, and makes the files of the next day. Gives the keys that it put. */
    async nextDay(more: Partial<CompatOptions> = {}): Promise<string[]> {
      while ((await publish(dependencies)).isMoreDue);
      world.clock.nowMs += DAY_MS;
      put.length = 0;
      await makeCompat({ storage: dependencies, ...more });
      return put.map((key) => key.slice('public/api/v1/compat'.length));
    },
    check: async () => (await verify(read, { pageSizes: SMALL_PAGES, settled: true })).findings,
  };
}
