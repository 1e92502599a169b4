/**
 * Removes objects that no reader can reach any more: pages whose cursors have expired, bundles and layouts that are no
 * longer needed, leftovers of dead publishers, bodies of markets that are no longer published, pages for people that the
 * newest release does not have. Nothing else deletes public objects. A run ends when all is done, or when its cap or its time
 * is reached. A dry run lists what a run would remove.
 *
 * Each run walks a part of the public objects, from where the run before stopped; the ledger keeps the position.
 *
 * Safety of objects: only objects whose generation is at or below an *applied* HEAD are considered, and names of pages
 * and bundles are never used again. So nothing of a generation in preparation is removed. A head body is deleted only
 * with the ETag that was seen together with such an old generation, and only if the ledger, read after that, does not
 * list the market. A market that is defined again may at any moment be published with the same bytes, and so with the
 * same ETag. If that happens while the delete request is on its way, the sweep puts the body back soon. If it is too large
 * for that, if the sweep dies before, or if its delete request lands after its answer was lost, the search for lost objects
 * does it.
 *
 * Safety of pages: a page that is unreachable stays unreachable, whatever is published during the sweep and however
 * long the sweep takes. A page is in one of three states: in use, as the records said that were read; newer than HEAD
 * was then; or recorded as superseded by the transaction that removed it from the other records. A page that had expired
 * when the run began stays expired.
 *
 * Records are removed when no later sweep depends on them. Of expired generations only the newest is needed. A page
 * that an expired generation superseded is treated like a page that was never in use. So its record may be removed
 * before the page: a walk finds the page.
 *
 * Safety of tiles: a partial tile that the log has outgrown never comes back. A tile beyond the end of the log is of a
 * generation that was given up. It is removed unless HEAD has moved. If HEAD moves while the delete request is on its way,
 * the sweep puts the tile back, as it does with a body.
 *
 * After a restore, the ledger does not know which pages readers hold cursors of. Nothing is removed until the published
 * state is known again, and no walk begins until the generation that ended the doubt has expired. Tiles stay until a
 * publisher has written the log again.
 */
import pMap from 'p-map';
import { CURSOR_LIFETIME_SECONDS, FRESH_SECONDS, STALE_IF_ERROR_SECONDS } from '../../contract/files/limits.ts';
import { PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import { put, removed } from '../../storage/ports/changes.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import type { ObjectHead, StoredObject } from '../../storage/ports/object-store.ts';
import { queryPages } from '../../storage/ports/paging.ts';
import { GENERATIONS, type GenerationValue, SUPERSEDED_PAGES, WALK_KEY } from '../../storage/records/publication.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../dependencies.ts';
import { putPlace } from './apply.ts';
import { REDO_PREFIX } from './bundle.ts';
import { changeMany, commit } from './change-many.ts';
import { LAYOUT_PREFIX } from './list/list-layout.ts';
import type { Projector } from './projection.ts';
import { type NewestExpired, ReachableSet, readSettledList, type SettledList } from './reachable-set.ts';

export interface GarbageOptions {
  readonly dryRun: boolean;
  /** The maximum of removed objects in one run, and of removed records. */
  readonly maxRemovals?: number;
  /** The walk ends after about this many objects: it finishes its page of the listing. */
  readonly maxWalked?: number;
  /** Asked before each batch of at most 1,000 objects; `false` ends the run. Default: there is time. */
  readonly hasTime?: () => boolean;
}

export interface GarbageReport {
  /** Keys of objects that were removed, or would be in a dry run. */
  readonly removed: readonly string[];
  /** The number of objects that were examined and kept. */
  readonly kept: number;
  /** The number of records that were removed because no later sweep needs them. */
  readonly prunedRecords: number;
  /** Keys of an unknown form: never removed. */
  readonly unknown: readonly string[];
  /** Whether work is left: the next run continues. */
  readonly endedEarly: boolean;
}

/** Such a run takes some minutes, and the server does not publish during a sweep. */
const DEFAULT_MAX_REMOVALS = 10_000;

/**
 * A walk reads about one record for each object. Through 3,000,000 objects (1,000,000 markets) every hour, that would
 * be 72 million reads a day. At this number an hour, everything is walked twice a day.
 *
 * Only the walk finds pages that were superseded. So they stay after their cursors have expired until it comes to them: an
 * hour in a small store, half a day among 3,000,000 objects, and longer while runs end at their cap or their time.
 */
const DEFAULT_MAX_WALKED = 250_000;

/** Larger objects, such as parts of exports, are not held in memory while they are removed. */
const HELD_BYTES_MAX = 2 ** 20;

/** A page is kept this long after its generation was replaced, because a cache may serve an old list until then. */
export const PAGE_RETENTION_SECONDS = CURSOR_LIFETIME_SECONDS + FRESH_SECONDS + STALE_IF_ERROR_SECONDS;

const NOTHING_DONE: GarbageReport = { removed: [], kept: 0, prunedRecords: 0, unknown: [], endedEarly: false };

/** Does nothing while a generation is not applied: publish first. */
export async function sweepObjects(
  storage: PublisherStorage,
  projectors: readonly Projector[],
  options: GarbageOptions,
): Promise<GarbageReport> {
  const list = await readSettledList(storage);
  if (list === null) return NOTHING_DONE;
  const run = new Sweep(storage, projectors, options, list);
  const newestExpired = await run.pruneGenerations();
  return await run.removeAll(new ReachableSet(storage, projectors, list, newestExpired));
}

type KeyedObject = StoredObject & { readonly key: string };

/** One run and its results so far. */
class Sweep {
  readonly #storage: PublisherStorage;
  readonly #projectors: readonly Projector[];
  readonly #options: Required<GarbageOptions>;
  readonly #list: SettledList;
  readonly #removed = new Set<string>();
  readonly #unknown: string[] = [];
  #kept = 0;
  #prunedRecords = 0;
  #endedEarly = false;

  constructor(storage: PublisherStorage, projectors: readonly Projector[], options: GarbageOptions, list: SettledList) {
    this.#storage = storage;
    this.#projectors = projectors;
    this.#list = list;
    this.#options = {
      maxRemovals: DEFAULT_MAX_REMOVALS,
      maxWalked: DEFAULT_MAX_WALKED,
      hasTime: () => true,
      ...options,
    };
  }

  /**
   * Finds the newest expired generation. A generation has expired when no cache can still serve a valid cursor of a page
   * that it superseded. Removes the records of earlier generations while reading them, so that no run reads much more than
   * it removes. If this ends early, an older generation is found, and more is kept.
   */
  async pruneGenerations(): Promise<NewestExpired> {
    const { ledger, nowMs } = this.#storage;
    const now = nowMs();
    const expiredBeforeMs = now - PAGE_RETENTION_SECONDS * 1000;
    // A time in the future is wrong: the clock was set back. The generations after it say when it was replaced.
    const appliedAtMs = ({ value }: Item<GenerationValue>) =>
      (value.appliedAtMs ?? 0) > now ? null : value.appliedAtMs;
    /** Read and not removed: the newest expired generation, and later ones without a time, such as those that were given up. */
    let last: readonly Item<GenerationValue>[] = [];
    for await (const items of queryPages(ledger, GENERATIONS)) {
      const retainedAt = items.findIndex((item) => (appliedAtMs(item) ?? 0) >= expiredBeforeMs);
      const read = [...last, ...(retainedAt < 0 ? items : items.slice(0, retainedAt))];
      const newest = Math.max(
        0,
        read.findLastIndex((item) => appliedAtMs(item) !== null),
      );
      const isDone = await this.#prune(read.slice(0, newest));
      last = read.slice(newest);
      if (retainedAt >= 0 || !isDone || !this.#mayGoOn()) break;
    }
    const newest = last[0];
    if (newest === undefined || appliedAtMs(newest) === null) return { generation: 0, logSize: 0 };
    return { generation: newest.revision, logSize: newest.value.logSize ?? 0 };
  }

  async removeAll(reach: ReachableSet): Promise<GarbageReport> {
    await this.#removeListed(reach, REDO_PREFIX, '', Number.POSITIVE_INFINITY);
    await this.#removeListed(reach, LAYOUT_PREFIX, '', Number.POSITIVE_INFINITY);
    await this.#removeExpired();
    if (reach.newestExpired >= this.#list.consistentSince) await this.#walk(reach);
    await this.#pruneSuperseded(reach);
    return {
      removed: [...this.#removed],
      kept: this.#kept,
      prunedRecords: this.#prunedRecords,
      unknown: this.#unknown,
      endedEarly: this.#endedEarly,
    };
  }

  /** Every run reads all these records, those of retained pages too. */
  async #pruneSuperseded(reach: ReachableSet): Promise<void> {
    for await (const items of queryPages(this.#storage.ledger, SUPERSEDED_PAGES)) {
      if (!this.#mayGoOn()) return;
      await this.#prune(items.filter(reach.isExpired));
    }
  }

  /**
   * Removes objects that an expired record of a projection names. The record goes first, so that no other work relies on
   * them.
   */
  async #removeExpired(): Promise<void> {
    for (const { reachable } of this.#projectors) {
      for (const { record, keys } of (await reachable?.expired?.(this.#storage)) ?? []) {
        if (!this.#mayGoOn()) return;
        if (await this.#prune([record])) await this.#remove(keys);
      }
    }
  }

  async #walk(reach: ReachableSet): Promise<void> {
    const { dryRun, maxWalked } = this.#options;
    const begin = (await this.#storage.ledger.get(WALK_KEY))?.value.after ?? '';
    const end = await this.#removeListed(reach, `${PUBLIC_PREFIX}/`, begin, maxWalked);
    if (dryRun) return;
    await commit(this.#storage, [put(WALK_KEY, 0, { after: end ?? '' })]);
  }

  /** Walks the objects with this prefix, after a key. Returns the last examined key; null at the end. */
  async #removeListed(reach: ReachableSet, prefix: string, begin: string, most: number): Promise<string | null> {
    let after: string | null = begin;
    for (let looked = 0; after !== null; ) {
      if (looked >= most || !this.#mayGoOn()) {
        this.#endedEarly = true;
        break;
      }
      const page = await this.#storage.objects.list(prefix, { after });
      const { unreachable, unknown } = await reach.judge(page.keys);
      const due = unreachable.slice(0, this.#room);
      await this.#remove(due, reach);
      const done =
        due.length < unreachable.length ? page.keys.slice(0, page.keys.indexOf(due.at(-1) as string) + 1) : page.keys;
      this.#kept += done.filter((key) => !this.#removed.has(key)).length;
      this.#unknown.push(...unknown.filter((key) => done.includes(key)));
      looked += done.length;
      after = done.length < page.keys.length ? (done.at(-1) as string) : page.next;
    }
    return after;
  }

  /**
   * Removes each object, unless a later generation has put it before or since it was judged. A body is removed before the
   * objects that it links to, and put back after them.
   */
  async #remove(keys: readonly string[], reach?: ReachableSet): Promise<void> {
    const { objects } = this.#storage;
    const back: KeyedObject[] = [];
    const isRemoved = async (key: string): Promise<boolean> => {
      const present = await objects.stat(key);
      if (present === null || present.metadata.generation > this.#list.generation) return false;
      if (reach === undefined || !reach.mayBeUsedAgain(key)) {
        return this.#options.dryRun || (await objects.delete(key, present.etag)) === 'deleted';
      }
      return await this.#removeUnused(reach, key, present, back);
    };
    const gone = new Set<string>();
    const remove = async (key: string) => (await isRemoved(key)) && gone.add(key);
    const isPage = (key: string) => 'cursor' in (parsePublicKey(key) ?? {});
    const places = Map.groupBy(keys, (key) => (isPage(key) ? -1 : putPlace({ key, isGone: false })));
    try {
      for (const place of [...places.keys()].sort((one, other) => other - one)) {
        await pMap(places.get(place) ?? [], remove, { concurrency: OBJECT_CONCURRENCY });
      }
    } finally {
      for (const { key, body, metadata } of back.reverse()) await objects.put(key, body, metadata, { kind: 'absent' });
    }
    for (const key of keys) if (gone.has(key)) this.#removed.add(key);
  }

  /**
   * Removes an object that a later generation may put again with the same bytes. If it has done so while the request was on
   * its way, the object must be put `back`, as one of its earlier generation: no newer object is replaced.
   */
  async #removeUnused(
    reach: ReachableSet,
    key: string,
    { etag, sizeBytes }: ObjectHead,
    back: KeyedObject[],
  ): Promise<boolean> {
    if (this.#options.dryRun) return !(await reach.isInUseAgain(key));
    const held = sizeBytes <= HELD_BYTES_MAX ? await this.#readUnlessDamaged(key) : null;
    if ((held !== null && held.etag !== etag) || (await reach.isInUseAgain(key))) return false;
    if ((await this.#storage.objects.delete(key, etag)) === 'refused') return false;
    if (!(await reach.isInUseAgain(key))) return true;
    if (held !== null) back.push({ ...held, key });
    return false;
  }

  async #readUnlessDamaged(key: string): Promise<StoredObject | null> {
    try {
      const found = await this.#storage.objects.get(key);
      return found.kind === 'found' ? found : null;
    } catch (error) {
      if (error instanceof StorageCorrupt) return null;
      throw error;
    }
  }

  /** Removes records. One that was written again since it was read stays. Returns whether all are removed. */
  async #prune(records: readonly Item<unknown>[]): Promise<boolean> {
    const due = records.slice(0, this.#options.maxRemovals - this.#prunedRecords).map(removed);
    if (due.length < records.length) this.#endedEarly = true;
    const pruned = this.#options.dryRun ? due : await changeMany(this.#storage, due);
    this.#prunedRecords += pruned.length;
    return pruned.length === records.length;
  }

  /** How many more objects may be removed. */
  get #room(): number {
    return this.#options.maxRemovals - this.#removed.size;
  }

  #mayGoOn(): boolean {
    if (this.#room > 0 && this.#options.hasTime()) return true;
    this.#endedEarly = true;
    return false;
  }
}
