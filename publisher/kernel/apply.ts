/** Applies a committed generation from its bundle alone, so that the first try and every recovery are one code path. */
import pMap from 'p-map';
import {
  HISTORY_FILE_KINDS,
  LIST_FILE_KINDS,
  SITE_KINDS,
  STATIC_KINDS,
} from '../../contract/files/public-object-names.ts';
import { type PublicObjectKind, parsePublicKey } from '../../contract/files/public-objects.ts';
import { dropped, put } from '../../storage/ports/changes.ts';
import { type Change, MAX_TRANSACT_CHANGES } from '../../storage/ports/ledger.ts';
import { removeObject } from '../../storage/ports/objects.ts';
import type { ObjectRef } from '../../storage/records/publication.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { type Concurrency, DEFAULT_CONCURRENCY, type PublisherStorage } from '../dependencies.ts';
import { Superseded } from '../errors.ts';
import { type BundleLine, type HeadPut, readBundle, type TilePut } from './bundle.ts';
import { batchesOf, commit } from './change-many.ts';
import { countPublished } from './files/count-published.ts';
import { fencedPut } from './files/fenced-put.ts';
import { putTile } from './files/put-tile.ts';
import { type Head, isRaised, markApplied, supersededIfMoved } from './swap-head.ts';

/**
 * Bottom-up: the target of a link is put before the body that links to it. So the target of a link is never older than the
 * link, at any moment and after any interruption. Nothing public is deleted here: the sweep removes bodies without a link
 * (sweep.ts). A removed market leaves the list first; then problem documents replace its bodies. The checkpoint leads to
 * the tiles, and the snapshot names the size of the log.
 *
 * Bodies of one line have no links to one another, and are put in any order. The files of a history link to the files of
 * its years only when they are too long, and in that case the years were published before.
 */
const PUT_ORDER: readonly (readonly (PublicObjectKind | 'own' | 'gone')[])[] = [
  STATIC_KINDS,
  ...SITE_KINDS.map((kind) => [kind]),
  ['history', ...HISTORY_FILE_KINDS.filter((kind) => kind !== 'history-index')],
  ['history-index'],
  ['market'],
  ['market-list'],
  ...LIST_FILE_KINDS.map((kind) => [kind]),
  ['own'],
  ['gone'],
  ['log-vkey'],
  ['log-checkpoint'],
  ['snapshot'],
];

/**
 * Its position in the order. Files of projections that the order does not name have the position of `own`: no body links to
 * them.
 */
export function putPlace({ key, isGone }: Pick<HeadPut, 'key' | 'isGone'>): number {
  const kind = isGone ? 'gone' : parsePublicKey(key)?.kind;
  const place = PUT_ORDER.findIndex((kinds) => kinds.some((some) => some === kind));
  return place < 0 ? PUT_ORDER.findIndex((kinds) => kinds.includes('own')) : place;
}

/**
 * Puts every body of HEAD's generation, records what is published, marks the generation applied, and removes its
 * bundle, which is no longer needed. Returns the new HEAD. Every step may be repeated, by this process or another.
 *
 * @throws Superseded if another publisher has applied it, or committed a newer one, in the meantime
 * @throws StorageCorrupt if an object of a newer generation is in place that the ledger does not know
 * @throws BundleLost if the bundle is missing or damaged, and the generation is not applied
 */
export async function applyGeneration(storage: PublisherStorage, head: Head): Promise<Head> {
  const { generation, bundle } = head.value;
  // Raising HEAD has fenced out all earlier publishers, so the counted records cannot change during the count.
  if (isRaised(head.value)) return await markApplied(storage, head, await countPublished(storage.ledger));
  await storage.beforeApply?.();
  const parts: ObjectRef[] = [];
  let recorded = Promise.resolve();
  try {
    for await (const { ref, lines } of readBundle(storage.objects, bundle)) {
      // Meanwhile the records of the previous part are written: in order, and after their bodies.
      await Promise.all([putBodies(storage, generation, lines), recorded]);
      recorded = writeRecords(storage, generation, lines);
      recorded.catch(() => {});
      parts.push(ref);
    }
    await recorded;
  } catch (error) {
    await recorded.catch(() => {});
    // Once another publisher has applied it, the bundle may be gone and newer objects may be in place.
    throw await supersededIfMoved(storage.ledger, head, error);
  }
  const applied = await markApplied(storage, head);
  if (!storage.keepsBundles) await removeBundle(storage, parts);
  return applied;
}

export interface PutTarget extends Pick<PublisherStorage, 'objects' | 'caches'> {
  readonly concurrency?: Pick<Concurrency, 'objects'>;
  /** A body of a newer generation stays. Default: it is an error. */
  readonly mayBeNewer?: boolean;
}

/** Puts the bodies of one part of a bundle. Throws the errors of {@link fencedPut} and {@link putTile}. */
export async function putBodies(
  { objects, caches, mayBeNewer = false, concurrency: { objects: concurrency } = DEFAULT_CONCURRENCY }: PutTarget,
  generation: number,
  lines: readonly BundleLine[],
): Promise<void> {
  const tiles = lines.filter((line) => line.kind === 'tile');
  const putOne = (tile: TilePut) =>
    putTile(objects, generation, { ...tile, body: Buffer.from(tile.body, 'base64') }, mayBeNewer);
  // A cache may hold a 404 for a tile that was not in the log yet, or a tile whose text is now taken down.
  if ((await pMap(tiles, putOne, { concurrency })).includes(true)) await caches?.purge({ tags: ['log'] });
  const puts = lines.filter((line) => line.kind === 'put');
  const byPlace = Map.groupBy(puts, putPlace);
  for (const place of PUT_ORDER.keys()) {
    const some = byPlace.get(place) ?? [];
    await pMap(some, (line) => fencedPut(objects, generation, line, mayBeNewer), { concurrency });
  }
}

/** @throws Superseded if HEAD has moved on from the generation */
export async function writeRecords(
  storage: Pick<PublisherStorage, 'ledger' | 'newAttemptId'>,
  generation: number,
  lines: readonly BundleLine[],
): Promise<void> {
  const records = lines.filter((line) => line.kind === 'record');
  // Each batch checks HEAD, so that a late batch cannot overwrite the records of a newer generation.
  const guard: Change = { kind: 'check', key: HEAD_KEY, if: { kind: 'revision-is', revision: generation } };
  const changes = records.map(({ key, value }) => (value === null ? dropped(key) : put(key, generation, value)));
  for (const batch of batchesOf(changes, MAX_TRANSACT_CHANGES - 1)) {
    if (!(await commit(storage, [guard, ...batch])))
      throw new Superseded(`HEAD has moved on from generation ${generation}`);
  }
}

/** If the process dies here, the sweep removes the remaining parts. */
async function removeBundle({ objects }: PublisherStorage, parts: readonly ObjectRef[]): Promise<void> {
  for (const { key } of parts) await removeObject(objects, key);
}
