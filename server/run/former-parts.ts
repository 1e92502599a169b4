/**
 * For a run whose ledger was begun from the log: it does not know which parts of the newest prices an earlier generation had, so
 * the sweep keeps them. The published indexes name the parts that readers use.
 */
import { latestSchema } from '../../contract/bodies/latest.ts';
import { PUBLIC_PREFIX, parsePublicKey, publicKey } from '../../contract/files/public-objects.ts';
import { LATEST_URL } from '../../contract/files/routes.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';

/** The names of the parts in the published index. Null: there is no index, or another program has changed it. */
export async function namedParts(objects: Pick<ObjectStore, 'get'>): Promise<ReadonlySet<string> | null> {
  const found = await objects.get(publicKey({ kind: 'latest' }));
  if (found.kind !== 'found') return null;
  try {
    return new Set(latestSchema.parse(JSON.parse(Buffer.from(found.body).toString())).data.map(({ part }) => part));
  } catch {
    return null;
  }
}

/**
 * Removes the parts that no index names.
 *
 * @param before the parts of the index before this run, which readers may still have
 */
export async function removeFormerParts(objects: ObjectStore, before: ReadonlySet<string>): Promise<void> {
  const named = await namedParts(objects);
  if (named === null) return;
  for (let after: string | null = ''; after !== null; ) {
    const page: Awaited<ReturnType<ObjectStore['list']>> = await objects.list(`${PUBLIC_PREFIX}${LATEST_URL}/`, {
      after,
    });
    for (const key of page.keys) {
      const name = parsePublicKey(key);
      const isKept = name === null || !('part' in name) || named.has(name.part) || before.has(name.part);
      const head = isKept ? null : await objects.stat(key);
      if (head !== null) await objects.delete(key, head.etag);
    }
    after = page.next;
  }
}
