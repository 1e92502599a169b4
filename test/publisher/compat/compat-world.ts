/** A small deployment with daily compat. */
import type { Projection } from '../../../contract/files/projections.ts';
import { type CompatOptions, makeCompat } from '../../../publisher/projections/compat/make-compat.ts';
import { publish } from '../../../publisher/publish.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { createWorld, readerOf, SMALL_PAGES } from '../world.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;
export const COMPAT = '/api/v1/compat';

export function compatWorld(projections: readonly Projection[] = ['compat']) {
  const world = createWorld();
  const put: string[] = [];
  const objects: ObjectStore = {
    ...world.objects,
    put: async (key, ...rest) => {
      put.push(key);
      return await world.objects.put(key, ...rest);
    },
  };
  const dependencies = { ...world.dependencies, objects, projections: new Set(projections) };
  const read = readerOf(world.objects);
  const text = async (path: string): Promise<string> => {
    const { status, body } = await read(COMPAT + path);
    return status === 200 ? Buffer.from(body).toString('utf8') : String(status);
  };
  return {
    ...world,
    dependencies,
    read,
    /** The text below the URL of compat, or its status. */
    text,
    json: async <Value>(path: string): Promise<Value> => JSON.parse(await text(path)) as Value,
    /** The lines of a price file that are no comments. */
    lines: async (path: string): Promise<string[]> =>
      (await text(path)).split('\n').filter((line) => /^[0-9P]/.test(line)),
    publish: async () => {
      while ((await publish(dependencies)).isMoreDue);
    },
    /** Publishes everything, and makes the compat of the next day. Gives the keys that it put. */
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
