/**
 * Removes what no reader can reach any more: pages whose cursors have expired, bundles and layouts that nobody needs, leftovers of
 * publishers that died, bodies of markets that are no longer published. Nothing else deletes public objects. A run ends when all
 * is done or when its cap or its time is reached; a dry run says what a run would remove.
 *
 * The garbage of a day's publications is found without looking for it, and goes first, in every run. Layouts name the pages of the
 * list that they have superseded, and records those of histories. So a run costs what there is to remove. Only what nothing
 * names, leftovers and bodies of removed markets, takes a walk through everything that is public, and of that each run does a
 * piece, from where the run before stopped: the ledger keeps the place.
 *
 * Safety: nothing is removed that belongs to the generation being prepared, since only objects whose generation is at or
 * below an *applied* HEAD are looked at, and names of pages and bundles are never used again. A head body goes only while
 * it still has the ETag that was seen together with a generation that old, and the ledger, asked after that, lists no such
 * market: one that is defined again may be published with the same bytes, and so with the same ETag, at any moment.
 *
 * Pages that are unreachable stay so, whatever is published while the sweep is under way, and however long that is: a page
 * is either in use as the records said that were read, or newer than HEAD was then, or known as superseded in the same
 * transaction in which the records let go of it. What had expired when the run began has expired ever since.
 *
 * Records go that make no difference to any sweep to come. Of expired generations only the newest is asked for. A page that was
 * superseded by an expired generation is judged as one that was never in use, so its record may go before the page or without
 * it: a walk finds what a run leaves behind.
 *
 * After a restore the ledger does not know which pages readers hold cursors of. Nothing is removed before it knows again what is
 * published, and nothing is walked before the generation that ended the doubt has expired.
 */
import pMap from 'p-map';
import { CURSOR_LIFETIME_SECONDS, FRESH_SECONDS, STALE_IF_ERROR_SECONDS } from '../../contract/limits.ts';
import { PUBLIC_PREFIX, publicKey } from '../../contract/public-objects.ts';
import { type Item, MAX_TRANSACT_CHANGES } from '../../storage/ledger.ts';
import { inBatches, queryPages } from '../../storage/paging.ts';
import {
  GENERATIONS,
  type GenerationValue,
  SUPERSEDED_PAGES,
  WALK_KEY,
  type WalkValue,
} from '../../storage/records/publication.ts';
import { REDO_PREFIX } from '../commit/bundle.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../dependencies.ts';
import { LAYOUT_PREFIX, readLayoutAt } from '../plan/list-layout.ts';
import { Reach, readSettledList, type SettledList } from './reach.ts';

export interface GarbageOptions {
  readonly dryRun: boolean;
  /** At most this many objects are removed in one run, and at most this many records. */
  readonly maxRemovals?: number;
  /** The walk ends after this many objects, give or take a page of a listing. */
  readonly maxWalked?: number;
  /** Asked before each batch of at most 1,000 objects; once it says no, the run ends. Left out: there is time. */
  readonly hasTime?: () => boolean;
}

export interface GarbageReport {
  /** Keys that were removed, or would be. */
  readonly removed: readonly string[];
  /** How many objects were looked at and are still there. */
  readonly kept: number;
  /** How many records that told what to keep were no longer needed, and went too. */
  readonly prunedRecords: number;
  /** Keys that no rule knows: never removed. */
  readonly unknown: readonly string[];
  /** Whether something is left to look at: the next run goes on there. */
  readonly endedEarly: boolean;
}

/** In some minutes; the embedded server does not publish meanwhile. */
const DEFAULT_MAX_REMOVALS = 10_000;

/**
 * A walk reads about one record an object: through 3,000,000 of them (1,000,000 markets) every hour, 72 million reads a day,
 * for the little that no record names. This many an hour look at all of them twice a day.
 */
const DEFAULT_MAX_WALKED = 250_000;

/** How long a page is kept after the generation that showed it was replaced: a list may come out of a cache that late. */
export const PAGE_RETENTION_SECONDS = CURSOR_LIFETIME_SECONDS + FRESH_SECONDS + STALE_IF_ERROR_SECONDS;

const NOTHING_DONE: GarbageReport = { removed: [], kept: 0, prunedRecords: 0, unknown: [], endedEarly: false };

/** Marks and sweeps. Does nothing while a generation is being applied, or waits to be: publish first. */
export async function collectGarbage(dependencies: PublisherStorage, options: GarbageOptions): Promise<GarbageReport> {
  const list = await readSettledList(dependencies);
  if (list === null) return NOTHING_DONE;
  const sweep = new Sweep(dependencies, options, list);
  const newestExpired = await sweep.pruneGenerations();
  return await sweep.removeAll(new Reach(dependencies, list, newestExpired));
}

/** One run, and what it has done so far. */
class Sweep {
  readonly #storage: PublisherStorage;
  readonly #options: Required<GarbageOptions>;
  readonly #list: SettledList;
  readonly #removed = new Set<string>();
  readonly #unknown: string[] = [];
  #kept = 0;
  #prunedRecords = 0;
  #endedEarly = false;

  constructor(storage: PublisherStorage, options: GarbageOptions, list: SettledList) {
    this.#storage = storage;
    this.#list = list;
    this.#options = {
      maxRemovals: DEFAULT_MAX_REMOVALS,
      maxWalked: DEFAULT_MAX_WALKED,
      hasTime: () => true,
      ...options,
    };
  }

  /**
   * The newest generation that has expired, 0 if none has: applied so long ago that whatever it superseded can no longer come
   * out of any cache with a cursor that is still good. The pages of the list that it superseded go, and the records of earlier ones
   * as they are read: no run reads much more than it removes. Where it ends early, an older one keeps more.
   */
  async pruneGenerations(): Promise<number> {
    const { ledger, nowMs } = this.#storage;
    const expiredBeforeMs = nowMs() - PAGE_RETENTION_SECONDS * 1000;
    const appliedAtMs = ({ value }: Item<GenerationValue>) => value.appliedAtMs;
    /** Read and not removed: the newest expired one, and after it those that were given up and never applied. */
    let last: readonly Item<GenerationValue>[] = [];
    for await (const items of queryPages(ledger, GENERATIONS)) {
      const retainedAt = items.findIndex((item) => (appliedAtMs(item) ?? 0) >= expiredBeforeMs);
      const read = [...last, ...(retainedAt < 0 ? items : items.slice(0, retainedAt))];
      const newest = Math.max(
        0,
        read.findLastIndex((item) => appliedAtMs(item) !== null),
      );
      const swept = await this.#removeListPages(read.slice(0, newest + 1));
      const due = read.slice(0, Math.min(newest, swept, this.#room));
      await this.#prune(due);
      last = read.slice(newest);
      if (due.length < newest || !this.#mayGoOn()) this.#endedEarly = true;
      if (retainedAt >= 0 || this.#endedEarly) break;
    }
    const newest = last[0];
    return newest === undefined || appliedAtMs(newest) === null ? 0 : newest.revision;
  }

  /** What is found by name, and then a piece of the walk. */
  async removeAll(reach: Reach): Promise<GarbageReport> {
    await this.#removeListed(reach, REDO_PREFIX, '', Number.POSITIVE_INFINITY);
    await this.#removeListed(reach, LAYOUT_PREFIX, '', Number.POSITIVE_INFINITY);
    await this.#removeSuperseded(reach);
    if (reach.newestExpired >= this.#list.knownSince) await this.#walk(reach);
    return {
      removed: [...this.#removed],
      kept: this.#kept,
      prunedRecords: this.#prunedRecords,
      unknown: this.#unknown,
      endedEarly: this.#endedEarly,
    };
  }

  /** The pages of lists that these generations superseded. Returns of how many generations they have been removed. */
  async #removeListPages(generations: readonly Item<GenerationValue>[]): Promise<number> {
    for (const [index, { value }] of generations.entries()) {
      if (value.layout === null) continue;
      if (!this.#mayGoOn()) return index;
      const layout = await readLayoutAt(this.#storage.objects, value.layout);
      const superseded = layout?.superseded.filter((cursor) => !this.#list.cursors.has(cursor)) ?? [];
      const keys = superseded.map((cursor) => publicKey({ kind: 'market-list-page', cursor }));
      const due = keys.slice(0, this.#room);
      await this.#remove(due);
      if (due.length < keys.length) return index;
    }
    return generations.length;
  }

  /** Every record is read in every run, also of what is retained. Of those that expire, both the page and the record go. */
  async #removeSuperseded(reach: Reach): Promise<void> {
    for await (const items of queryPages(this.#storage.ledger, SUPERSEDED_PAGES)) {
      if (!this.#mayGoOn()) return;
      const expired = items.filter(reach.isExpired);
      const due = expired.slice(0, this.#room);
      const { unreachable } = await reach.judge(due.map(({ sort }) => sort));
      await this.#remove(unreachable, reach);
      await this.#prune(due);
      if (due.length < expired.length) this.#endedEarly = true;
    }
  }

  async #walk(reach: Reach): Promise<void> {
    const { ledger, newAttemptId } = this.#storage;
    const { dryRun, maxWalked } = this.#options;
    const begin = ((await ledger.get(WALK_KEY))?.value as WalkValue | undefined)?.after ?? '';
    const end = await this.#removeListed(reach, `${PUBLIC_PREFIX}/`, begin, maxWalked);
    if (dryRun) return;
    const value: WalkValue = { after: end ?? '' };
    await ledger.transact([{ kind: 'put', key: WALK_KEY, revision: 0, value, if: { kind: 'any' } }], {
      attemptId: newAttemptId(),
    });
  }

  /** Goes through the objects with this prefix, after a key. Returns the last one that was looked at, null at the end. */
  async #removeListed(reach: Reach, prefix: string, begin: string, most: number): Promise<string | null> {
    let after: string | null = begin;
    for (let looked = 0; after !== null; ) {
      if (looked >= most || !this.#mayGoOn()) {
        this.#endedEarly = true;
        break;
      }
      const page = await this.#storage.objects.list(prefix, { after });
      const { unreachable, unknown } = await reach.judge(page.keys);
      // In a dry run, what was removed by name is still there.
      const left = unreachable.filter((key) => !this.#removed.has(key));
      const due = left.slice(0, this.#room);
      await this.#remove(due, reach);
      const done =
        due.length < left.length ? page.keys.slice(0, page.keys.indexOf(due.at(-1) as string) + 1) : page.keys;
      this.#kept += done.filter((key) => !this.#removed.has(key)).length;
      this.#unknown.push(...unknown.filter((key) => done.includes(key)));
      looked += done.length;
      after = done.length < page.keys.length ? (done.at(-1) as string) : page.next;
    }
    return after;
  }

  /** Removes each object unless a generation after the one that was judged has put it, then or now. */
  async #remove(keys: readonly string[], reach?: Reach): Promise<void> {
    const { objects } = this.#storage;
    const isRemoved = async (key: string): Promise<boolean> => {
      const present = await objects.stat(key);
      if (present === null || present.metadata.generation > this.#list.generation) return false;
      if (await reach?.isBodyInUse(key)) return false;
      return this.#options.dryRun || (await objects.delete(key, present.etag)) === 'deleted';
    };
    const outcomes = await pMap(keys, isRemoved, { concurrency: OBJECT_CONCURRENCY });
    for (const [index, key] of keys.entries()) if (outcomes[index]) this.#removed.add(key);
  }

  /** A record that was written again since it was read keeps its batch: the next run takes the others. */
  async #prune(records: readonly Item<unknown>[]): Promise<void> {
    const { ledger, newAttemptId } = this.#storage;
    const pruneBatch = async (batch: readonly Item<unknown>[]): Promise<void> => {
      const deletes = batch.map(({ partition, sort, attemptId }) => {
        return { kind: 'delete', key: { partition, sort }, if: { kind: 'written-by', attemptId } } as const;
      });
      const isPruned =
        this.#options.dryRun || (await ledger.transact(deletes, { attemptId: newAttemptId() })).committed;
      if (isPruned) this.#prunedRecords += batch.length;
    };
    await pMap(inBatches(records, MAX_TRANSACT_CHANGES), pruneBatch, { concurrency: OBJECT_CONCURRENCY });
  }

  /** How many more objects may be removed, and how many more records. */
  get #room(): number {
    return this.#options.maxRemovals - Math.max(this.#removed.size, this.#prunedRecords);
  }

  #mayGoOn(): boolean {
    if (this.#room > 0 && this.#options.hasTime()) return true;
    this.#endedEarly = true;
    return false;
  }
}
