/**
 * Copies the daily files, which are not part of generations: exports, and files for other programs. Manifests, indexes and
 * rates are read first and put last. If a file shows a later generation than the second store, it waits.
 */
import pMap from 'p-map';
import { PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import { COMPAT_URL, EXPORT_ROOT } from '../../contract/files/routes.ts';
import { listKeys } from '../../storage/ports/objects.ts';
import { type CopyStorage, copyImmutable, putObject, type ReadObject, readObject } from './stores.ts';

const ROOTS = [EXPORT_ROOT, `${COMPAT_URL}/`].map((root) => PUBLIC_PREFIX + root);
/** A whole large file is in memory. */
const LARGE_AT_ONCE = 4;

/** False: the time was over, or a file shows a later generation than the copy. */
export async function copyDailyFiles(storage: CopyStorage, generation: number): Promise<boolean> {
  for (const root of ROOTS) if (!(await copyRoot(storage, root, generation))) return false;
  return true;
}

async function copyRoot(storage: CopyStorage, root: string, generation: number): Promise<boolean> {
  const { first, second, hasTime, concurrency } = storage;
  const keys = await listKeys(first, root);
  const present = new Set(await listKeys(second, root));
  const leads = await pMap(
    keys.filter((key) => classOf(key) === 'lead'),
    (key) => readObject(storage, key),
    { concurrency: concurrency.objects },
  );
  const changed = leads.filter((object) => object !== null);
  const isNewer = (object: ReadObject) => object.metadata.generation > generation;
  if (changed.some(isNewer)) return false;
  const parts = keys.filter((key) => classOf(key) === 'part' && !present.has(key));
  const sections = keys.filter((key) => classOf(key) === 'section');
  let isWhole = true;
  const copyLarge = async (key: string) => {
    if (!isWhole || !hasTime()) isWhole = false;
    else if (classOf(key) === 'part') await copyImmutable(storage, key);
    else {
      const object = await readObject(storage, key);
      if (object !== null && isNewer(object)) isWhole = false;
      else if (object !== null) await putObject(second, object);
    }
  };
  await pMap([...parts, ...sections], copyLarge, { concurrency: LARGE_AT_ONCE });
  if (!isWhole) return false;
  // New files first, because existing files may link to them.
  const inOrder = [
    ...changed.filter(({ replaces }) => replaces === null),
    ...changed.filter(({ replaces }) => replaces !== null),
  ];
  for (const object of inOrder) await putObject(second, object);
  return true;
}

/** `part`: immutable. `section`: of some markets, by the hash of their slugs. `lead`: small, and links to both. */
function classOf(key: string): 'part' | 'section' | 'lead' {
  const name = parsePublicKey(key);
  if (name !== null && /^export-(parquet|ndjson|csv|schema)$/.test(name.kind)) return 'part';
  return /\/[0-9a-f]{2}\.[a-z]+$/.test(key) ? 'section' : 'lead';
}
