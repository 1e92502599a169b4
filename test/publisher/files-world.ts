/** A small world that publishes histories as files. */
import type { Projection } from '../../contract/files/projections.ts';
import { HISTORY_FILE_KINDS } from '../../contract/files/public-object-names.ts';
import { parsePublicKey } from '../../contract/files/public-objects.ts';
import { type PublishOutcome, publish } from '../../publisher/publish.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { createWorld, market, price, publicObjects, readerOf, SMALL_PAGES, type World } from './world.ts';

const KINDS: readonly (string | undefined)[] = HISTORY_FILE_KINDS;
const MARKETS = '/api/v1/markets/';

export interface FilesWorld extends World {
  publish(): Promise<PublishOutcome>;
  /** Reads e.g. `a/history.csv`. */
  read(path: string): Promise<{ readonly status: number; readonly type: string | undefined; readonly text: string }>;
  /** Publishes, and names the files that it puts, e.g. `a/history.csv`. */
  puts(): Promise<readonly string[]>;
  /** The published files. */
  files(): ReadonlyMap<string, string>;
  /** Deletes an object by its key. */
  lose(key: string): Promise<unknown>;
  /** Flips a byte of it. */
  damage(key: string): Promise<unknown>;
  findings(removed?: readonly string[]): Promise<readonly object[]>;
}

export function createFilesWorld(world: World = createWorld(), projections: readonly Projection[] = ['history-files']) {
  const dependencies = { ...world.dependencies, projections: new Set(projections) };
  const pathOf = (key: string) => key.slice('public'.length + MARKETS.length);
  const isFile = (key: string) => KINDS.includes(parsePublicKey(key)?.kind);
  const filesWorld: FilesWorld = {
    ...world,
    dependencies,
    publish: () => publish(dependencies),
    async read(path) {
      const { status, headers, body } = await readerOf(world.objects)(MARKETS + path);
      return { status, type: headers.get('content-type'), text: Buffer.from(body).toString() };
    },
    async puts() {
      world.objects.resetCounts();
      await publish(dependencies);
      return world.objects.puts.flatMap(({ key }) => (isFile(key) ? pathOf(key) : [])).sort();
    },
    files() {
      const files = [...publicObjects(world.objects)].filter(([key]) => isFile(key));
      return new Map(files.map(([key, body]) => [pathOf(key), body]));
    },
    async lose(key) {
      const found = await world.objects.stat(key);
      return found && (await world.objects.delete(key, found.etag));
    },
    async damage(key) {
      const found = await world.objects.get(key);
      if (found.kind !== 'found') throw new Error(`${key} is missing`);
      const body = Buffer.from(found.body);
      body[body.length - 2] = (body[body.length - 2] as number) ^ 1;
      return await world.objects.put(key, body, found.metadata, { kind: 'matches', etag: found.etag });
    },
    async findings(removed = []) {
      const options = { pageSizes: SMALL_PAGES, settled: true, removed };
      return (await verify(readerOf(world.objects), options)).findings;
    },
  };
  return filesWorld;
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
