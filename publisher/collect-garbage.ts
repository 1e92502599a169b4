/**
 * Removes what no reader can reach any more: bodies of markets that are no longer published, pages whose cursors have
 * expired, redo bundles that are applied, leftovers of publishers that died. Nothing else deletes any of it. Mark and sweep, capped per run; a dry run says what it would remove.
 *
 * Safety: nothing is removed that belongs to the generation being prepared, since only objects whose generation is at or
 * below an *applied* HEAD are looked at, and names of pages and bundles are never used again. A head body goes only while
 * it still has the ETag that was seen together with a generation that old, and the ledger lists no such market: one that is
 * defined again may be published with the same bytes, and so with the same ETag, at any moment.
 *
 * Pages that are unreachable stay so, whatever is published while the sweep is under way: a page is either in the layout that
 * was read, or newer than HEAD was then, or marked as dropped before the layout let go of it (plan-markets.ts).
 */
import { CURSOR_LIFETIME_SECONDS, FRESH_SECONDS, STALE_IF_ERROR_SECONDS } from '../contract/limits.ts';
import { PUBLIC_OBJECTS, PUBLIC_PREFIX, type PublicObjectName, parsePublicKey } from '../contract/public-objects.ts';
import { type Item, type Ledger, MAX_TRANSACT_CHANGES } from '../storage/ledger.ts';
import {
  GENERATION_PREFIX,
  type GenerationValue,
  HEAD_KEY,
  type HeadValue,
  marketIndexKey,
  PAGE_PREFIX,
  PUBLICATION_PARTITION,
  type PublishedPage,
  publishedHeadsKey,
  publishedPartition,
  UNLINKED_PARTITION,
  type UnlinkedValue,
  unlinkedKey,
} from '../storage/records.ts';
import { bundleGeneration, REDO_PREFIX } from './bundle.ts';
import type { PublisherStorage } from './dependencies.ts';
import { readLayout } from './plan-market-list.ts';
import { readAll } from './read-market.ts';

export interface GarbageOptions {
  readonly dryRun: boolean;
  /** At most this many objects are removed in one run, and at most this many records. */
  readonly maxRemovals?: number;
}

export interface GarbageReport {
  /** Keys that were removed, or would be. */
  readonly removed: readonly string[];
  readonly kept: number;
  /** How many records that told what to keep were no longer needed, and went too. None in a run that was capped. */
  readonly prunedRecords: number;
  /** Keys that no rule knows: never removed. */
  readonly unknown: readonly string[];
  /** Whether the cap ended the run before everything was looked at. */
  readonly capped: boolean;
}

const DEFAULT_MAX_REMOVALS = 10_000;

/** How long a page is kept after the generation that showed it was replaced: a list may come out of a cache that late. */
export const PAGE_RETENTION_SECONDS = CURSOR_LIFETIME_SECONDS + FRESH_SECONDS + STALE_IF_ERROR_SECONDS;

const NOTHING_DONE: GarbageReport = { removed: [], kept: 0, prunedRecords: 0, unknown: [], capped: false };

/** Marks and sweeps. Does nothing while a generation is being applied, or waits to be: publish first. */
export async function collectGarbage(dependencies: PublisherStorage, options: GarbageOptions): Promise<GarbageReport> {
  const reach = await Reach.read(dependencies);
  if (reach === null) return NOTHING_DONE;

  const maxRemovals = options.maxRemovals ?? DEFAULT_MAX_REMOVALS;
  const removed: string[] = [];
  const unknown: string[] = [];
  let kept = 0;
  for await (const key of allKeys(dependencies)) {
    if (removed.length >= maxRemovals) return { removed, kept, prunedRecords: 0, unknown, capped: true };
    const verdict = await reach.judge(key);
    if (verdict === 'unknown') unknown.push(key);
    if (verdict === 'unreachable' && (await remove(dependencies, key, reach.generation, options))) removed.push(key);
    else kept++;
  }
  const prunedRecords = await pruneRecords(dependencies, reach, { ...options, maxRemovals });
  return { removed, kept, prunedRecords, unknown, capped: false };
}

/** Removes the object unless a generation after the one that was judged has put it, then or now. */
async function remove(
  { objects }: PublisherStorage,
  key: string,
  generation: number,
  { dryRun }: GarbageOptions,
): Promise<boolean> {
  const present = await objects.stat(key);
  if (present === null || present.metadata.generation > generation) return false;
  return dryRun || (await objects.delete(key, present.etag)) === 'deleted';
}

/**
 * Removes records that make no difference to any sweep to come: a page whose drop has expired is judged as one that was
 * never in use, and of the expired generations only the newest is asked for.
 */
async function pruneRecords(
  { ledger, newAttemptId }: PublisherStorage,
  reach: Reach,
  { dryRun, maxRemovals }: { readonly dryRun: boolean; readonly maxRemovals: number },
): Promise<number> {
  const ranges = [
    { partition: UNLINKED_PARTITION, prefix: '', isExpired: reach.isExpiredDrop },
    { partition: PUBLICATION_PARTITION, prefix: GENERATION_PREFIX, isExpired: reach.isExpiredGeneration },
  ];
  let pruned = 0;
  for (const { partition, prefix, isExpired } of ranges) {
    for (let after: string | null | undefined; after !== null && pruned < maxRemovals; ) {
      const limit = MAX_TRANSACT_CHANGES;
      const page = await ledger.query(partition, { prefix, limit, ...(after === undefined ? {} : { after }) });
      const expired = page.items.filter(isExpired).slice(0, maxRemovals - pruned);
      if (expired.length > 0 && !dryRun) {
        const deletes = expired.map(
          ({ sort }) => ({ kind: 'delete', key: { partition, sort }, if: { kind: 'any' } }) as const,
        );
        await ledger.transact(deletes, { attemptId: newAttemptId() });
      }
      pruned += expired.length;
      after = page.next;
    }
  }
  return pruned;
}

async function* allKeys({ objects }: PublisherStorage): AsyncGenerator<string> {
  for (const prefix of [`${PUBLIC_PREFIX}/`, REDO_PREFIX]) {
    for (let after: string | null | undefined; after !== null; ) {
      const page = await objects.list(prefix, after === undefined ? {} : { after });
      yield* page.keys;
      after = page.next;
    }
  }
}

type Verdict = 'reachable' | 'unreachable' | 'unknown';

/** What the retained generations reach: the mark phase. */
class Reach {
  readonly #ledger: Ledger;
  readonly generation: number;
  /** A page that was dropped by this generation or a later one is still retained. */
  readonly #retainedFrom: number;
  readonly #listCursors: ReadonlySet<string>;
  /** Keys of one market follow one another, so only the newest look-up is kept. */
  #history: { readonly slug: string; readonly cursors: ReadonlySet<string> } | null = null;

  private constructor(ledger: Ledger, generation: number, retainedFrom: number, listCursors: ReadonlySet<string>) {
    this.#ledger = ledger;
    this.generation = generation;
    this.#retainedFrom = retainedFrom;
    this.#listCursors = listCursors;
  }

  /** Null unless one generation was in place, applied, all the while. */
  static async read(dependencies: PublisherStorage): Promise<Reach | null> {
    const { ledger, nowMs } = dependencies;
    const head = await ledger.get(HEAD_KEY);
    if (head === null || !(head.value as HeadValue).applied) return null;
    const expiredBeforeMs = nowMs() - PAGE_RETENTION_SECONDS * 1000;
    const generations = await readAll(ledger, PUBLICATION_PARTITION, { prefix: GENERATION_PREFIX });
    // Applied long ago: whatever it dropped can no longer come out of any cache with a cursor that is still good.
    const expired = generations
      .map((item) => item.value as GenerationValue)
      .findLast(({ appliedAtMs }) => appliedAtMs !== null && appliedAtMs < expiredBeforeMs);
    const layout = await readLayout(dependencies);
    // A long layout takes several reads, between which a page could move to where it has been looked for already.
    if ((await ledger.get(HEAD_KEY))?.revision !== head.revision) return null;
    const cursors = new Set(layout.map(({ cursor }) => cursor));
    return new Reach(ledger, head.revision, (expired?.generation ?? 0) + 1, cursors);
  }

  readonly isExpiredDrop = (item: Item): boolean => {
    return (item.value as UnlinkedValue).generation < this.#retainedFrom;
  };

  readonly isExpiredGeneration = (item: Item): boolean => {
    return (item.value as GenerationValue).generation < this.#retainedFrom - 1;
  };

  /** What a newer generation has put is none of this one's business: `remove` lets it be, whatever this says. */
  async judge(key: string): Promise<Verdict> {
    const written = bundleGeneration(key);
    if (written !== null) return reachableIf(written === this.generation);
    const name = parsePublicKey(key);
    if (name === null) return 'unknown';
    if (PUBLIC_OBJECTS[name.kind].retention === 'page') return await this.#judgePage(key, name);
    if (name.kind !== 'market' && name.kind !== 'history') return 'reachable';
    const { slug } = name;
    const known = await this.#ledger.getMany([publishedHeadsKey(slug), marketIndexKey(slug)]);
    return reachableIf(known.some((item) => item !== null));
  }

  async #judgePage(key: string, name: PublicObjectName): Promise<Verdict> {
    if (!('cursor' in name)) return 'reachable';
    const cursors = name.kind === 'history-page' ? await this.#historyCursors(name.slug) : this.#listCursors;
    if (cursors.has(name.cursor)) return 'reachable';
    const dropped = await this.#ledger.get(unlinkedKey(key));
    return reachableIf(dropped !== null && !this.isExpiredDrop(dropped));
  }

  async #historyCursors(slug: string): Promise<ReadonlySet<string>> {
    if (this.#history?.slug !== slug) {
      const pages = await readAll(this.#ledger, publishedPartition(slug), { prefix: PAGE_PREFIX });
      this.#history = { slug, cursors: new Set(pages.map((item) => (item.value as PublishedPage).cursor)) };
    }
    return this.#history.cursors;
  }
}

function reachableIf(condition: boolean): Verdict {
  return condition ? 'reachable' : 'unreachable';
}
