/** Reads the newest prices as readers do: the index, and then its parts. */
import type { LatestPart } from '../../contract/bodies/latest.ts';
import type { LatestEntry } from '../../contract/bodies/latest-entries.ts';
import { LATEST_URL } from '../../contract/files/routes.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { readerOf } from './world.ts';

const textAt = async (objects: ObjectStore, url: string) => Buffer.from((await readerOf(objects)(url)).body).toString();

export async function latestIndex(objects: ObjectStore): Promise<readonly LatestPart[]> {
  return JSON.parse(await textAt(objects, LATEST_URL)).data;
}

/** In the order of the parts. */
export async function latestRows(objects: ObjectStore): Promise<readonly LatestEntry[]> {
  const rows: LatestEntry[] = [];
  for (const { ndjson } of await latestIndex(objects)) {
    const lines = (await textAt(objects, `/api/v1/${ndjson.path}`)).split('\n').slice(0, -1);
    rows.push(...lines.map((line) => JSON.parse(line) as LatestEntry));
  }
  return rows;
}
