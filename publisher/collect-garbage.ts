/**
 * Removes what no reader can reach any more: pages whose cursors have expired, redo bundles that are applied, leftovers
 * of publishers that died. Mark and sweep, capped per run; a dry run says what it would remove.
 *
 * Safety: nothing is removed that belongs to the generation being prepared, since only objects whose generation is at or
 * below an *applied* HEAD are looked at, and names of pages and bundles are never used again. A head body goes only while
 * it still has the ETag that was seen together with a generation that old.
 */
import { cursorGeneration } from '../contract/cursors.ts';
import { CURSOR_LIFETIME_SECONDS, FRESH_SECONDS, STALE_IF_ERROR_SECONDS } from '../contract/limits.ts';
import { PUBLIC_OBJECTS, PUBLIC_PREFIX, type PublicObjectName, parsePublicKey } from '../contract/public-objects.ts';
import type { Ledger } from '../storage/ledger.ts';
import type { ETag } from '../storage/object-store.ts';
import {
  GENERATION_PREFIX,
  type GenerationValue,
  HEAD_KEY,
  type HeadValue,
  PAGE_PREFIX,
  PUBLICATION_PARTITION,
  type PublishedPage,
  publishedHeadsKey,
  publishedPartition,
  type UnlinkedValue,
  unlinkedKey,
} from '../storage/records.ts';
import { bundleGeneration, REDO_PREFIX } from './bundle.ts';
import type { PublisherDependencies } from './dependencies.ts';
import { readLayout } from './plan-market-list.ts';
import { readAll } from './read-market.ts';

export interface GarbageOptions {
  readonly dryRun: boolean;
  /** At most this many objects are removed in one run. */
  readonly maxRemovals?: number;
}

export interface GarbageReport {
  /** Keys that were removed, or would be. */
  readonly removed: readonly string[];
  readonly kept: number;
  /** Keys that no rule knows: never removed. */
  readonly unknown: readonly string[];
  /** Whether the cap ended the run before everything was looked at. */
  readonly capped: boolean;
}

const DEFAULT_MAX_REMOVALS = 10_000;

/** How long a page is kept after the generation that showed it was replaced: a list may come out of a cache that late. */
export const PAGE_RETENTION_SECONDS = CURSOR_LIFETIME_SECONDS + FRESH_SECONDS + STALE_IF_ERROR_SECONDS;

/** Marks and sweeps. Does nothing while a generation is committed but not applied: publish first. */
export async function collectGarbage(
  dependencies: PublisherDependencies,
  options: GarbageOptions,
): Promise<GarbageReport> {
  const { objects, ledger } = dependencies;
  const head = (await ledger.get(HEAD_KEY))?.value as HeadValue | undefined;
  if (head === undefined || !head.applied) return { removed: [], kept: 0, unknown: [], capped: false };

  const reach = await Reach.of(dependencies, head);
  const maxRemovals = options.maxRemovals ?? DEFAULT_MAX_REMOVALS;
  const removed: string[] = [];
  const unknown: string[] = [];
  let kept = 0;
  for await (const key of allKeys(dependencies)) {
    if (removed.length >= maxRemovals) return { removed, kept, unknown, capped: true };
    const verdict = await reach.judge(key);
    if (verdict === 'unknown') unknown.push(key);
    if (verdict !== 'unreachable') {
      kept++;
      continue;
    }
    const present = await objects.stat(key);
    if (present === null || present.metadata.generation > head.generation) continue;
    if (!options.dryRun && !(await remove(dependencies, key, present.etag))) continue;
    removed.push(key);
  }
  return { removed, kept, unknown, capped: false };
}

async function remove(dependencies: PublisherDependencies, key: string, etag: ETag): Promise<boolean> {
  const { ledger, objects, newAttemptId } = dependencies;
  if ((await objects.delete(key, etag)) === 'refused') return false;
  // After the object, so that dying in between leaves a record without an object, which does no harm.
  const change = { kind: 'delete', key: unlinkedKey(key), if: { kind: 'any' } } as const;
  await ledger.transact([change], { attemptId: newAttemptId() });
  return true;
}

async function* allKeys({ objects }: PublisherDependencies): AsyncGenerator<string> {
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
  readonly #head: HeadValue;
  /** A page that was dropped by this generation or a later one is still retained. */
  readonly #retainedFrom: number;
  readonly #listCursors: ReadonlySet<string>;
  /** Keys of one market follow one another, so only the newest look-up is kept. */
  #history: { readonly slug: string; readonly cursors: ReadonlySet<string> } | null = null;

  private constructor(ledger: Ledger, head: HeadValue, retainedFrom: number, listCursors: ReadonlySet<string>) {
    this.#ledger = ledger;
    this.#head = head;
    this.#retainedFrom = retainedFrom;
    this.#listCursors = listCursors;
  }

  static async of(dependencies: PublisherDependencies, head: HeadValue): Promise<Reach> {
    const { ledger, nowMs } = dependencies;
    const expiredBeforeMs = nowMs() - PAGE_RETENTION_SECONDS * 1000;
    const generations = await readAll(ledger, PUBLICATION_PARTITION, { prefix: GENERATION_PREFIX });
    // Applied long ago: whatever it dropped can no longer come out of any cache with a cursor that is still good.
    const expired = generations
      .map((item) => item.value as GenerationValue)
      .findLast(({ appliedAtMs }) => appliedAtMs !== null && appliedAtMs < expiredBeforeMs);
    const layout = await readLayout(dependencies);
    return new Reach(ledger, head, (expired?.generation ?? 0) + 1, new Set(layout.map(({ cursor }) => cursor)));
  }

  async judge(key: string): Promise<Verdict> {
    const written = bundleGeneration(key);
    if (written !== null)
      return written === this.#head.generation ? 'reachable' : reachableIf(written > this.#head.generation);
    const name = parsePublicKey(key);
    if (name === null) return 'unknown';
    if (PUBLIC_OBJECTS[name.kind].retention === 'page') return await this.#judgePage(key, name);
    if (name.kind !== 'market' && name.kind !== 'history') return 'reachable';
    return reachableIf((await this.#ledger.get(publishedHeadsKey(name.slug))) !== null);
  }

  async #judgePage(key: string, name: PublicObjectName): Promise<Verdict> {
    if (!('cursor' in name)) return 'reachable';
    if (cursorGeneration(name.cursor) > this.#head.generation) return 'reachable';
    const cursors = name.kind === 'history-page' ? await this.#historyCursors(name.slug) : this.#listCursors;
    if (cursors.has(name.cursor)) return 'reachable';
    const dropped = (await this.#ledger.get(unlinkedKey(key)))?.value as UnlinkedValue | undefined;
    return reachableIf(dropped !== undefined && dropped.generation >= this.#retainedFrom);
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
