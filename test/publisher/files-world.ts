/** A small world that publishes histories as files. */

import type { Projection } from '../../contract/files/projections.ts';
import { HISTORY_FILE_KINDS } from '../../contract/files/public-object-names.ts';
import { parsePublicKey } from '../../contract/files/public-objects.ts';
import { createWorld, market, price, publicObjects, type World } from './world.ts';

const KINDS: readonly (string | undefined)[] = HISTORY_FILE_KINDS;
const MARKETS = '/api/v1/markets/';

export interface FilesWorld extends World {
  /** Reads e.g. `a/history.csv`. */
  file(path: string): Promise<{ readonly status: number; readonly type: string | undefined; readonly text: string }>;
  /** Publishes, and names the files that it puts, e.g. `a/history.csv`. */
  puts(): Promise<readonly string[]>;
  /** The published files. */
  files(): ReadonlyMap<string, string>;
}

export function createFilesWorld(
  base: World = createWorld(),
  projections: readonly Projection[] = ['history-files'],
): FilesWorld {
  const world = base.with({ ...base.dependencies, projections: new Set(projections) });
  const pathOf = (key: string) => key.slice('public'.length + MARKETS.length);
  const isFile = (key: string) => KINDS.includes(parsePublicKey(key)?.kind);
  return {
    ...world,
    ingest: base.ingest,
    async file(path) {
      const { status, headers, body } = await world.read(MARKETS + path);
      return { status, type: headers.get('content-type'), text: Buffer.from(body).toString() };
    },
    puts: async () => (await world.publishedKeys()).filter(isFile).map(pathOf).sort(),
    files() {
      const files = [...publicObjects(world.objects)].filter(([key]) => isFile(key));
      return new Map(files.map(([key, body]) => [pathOf(key), body]));
    },
  };
}

/** Day 0 is 2025-01-01. */
export const old = (slug: string, day: number, amount: number | null) => price(slug, day - 365, amount);

/** `a` has six days of 2025 and five of 2026, on pages of four; `b` has none. Published. */
export async function worldOfTwoYears(): Promise<FilesWorld> {
  const world = createFilesWorld();
  await world.ingest([market('a'), market('b')]);
  await world.ingest([0, 1, 2, 3, 4, 5].map((day) => old('a', 2 * day, 100 + day)));
  await world.ingest([0, 1, 2, 3, 4].map((day) => price('a', 2 * day, 200 + day)));
  await world.publish();
  return world;
}
