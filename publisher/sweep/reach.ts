/**
 * What readers may still ask for: the mark phase of garbage collection, which says why it is safe (collect-garbage.ts).
 * Look-ups go in batches, and what they show to be in use is done with. Only what they do not is looked at more closely.
 */

import pMap from 'p-map';
import { cursorGeneration } from '../../contract/cursors.ts';
import { parsePublicKey, publicKey } from '../../contract/public-objects.ts';
import type { Item, Ledger } from '../../storage/ledger.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { queryPages, readAll } from '../../storage/paging.ts';
import { marketIndexKey } from '../../storage/records/markets.ts';
import {
  GENERATIONS,
  HEAD_KEY,
  historyPageKey,
  historyPagesOf,
  listChangeKey,
  publishedHeadsKey,
  type SupersededValue,
  supersededPageKey,
} from '../../storage/records/publication.ts';
import { packedGeneration } from '../commit/packed-object.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../dependencies.ts';
import { LAYOUT_PREFIX, readLayout, readLayoutAt } from '../plan/list-layout.ts';
import { readMany } from '../read-many.ts';

/** A generation that is in place, and the market list that it shows. */
export interface SettledList {
  readonly generation: number;
  /** The cursors of its pages. */
  readonly cursors: ReadonlySet<string>;
  /** The key of its layout. */
  readonly layoutKey: string;
  /** See {@link HeadValue}; 0 where there was no doubt, and beyond all generations while there is. */
  readonly knownSince: number;
}

/** Null unless a generation is in place, applied, and its list is known. */
export async function readSettledList({ ledger, objects }: PublisherStorage): Promise<SettledList | null> {
  const head = await ledger.get(HEAD_KEY);
  if (head === null || !head.value.applied || head.value.list.isDoubtful) return null;
  const { list } = head.value;
  const knownSince = head.value.knownSince === null ? Number.POSITIVE_INFINITY : (head.value.knownSince ?? 0);
  const layout = await readLayout(objects, list);
  if (layout === null || list.layout === null) return null;
  const cursors = new Set(layout.pages.map(({ cursor }) => cursor));
  return { generation: head.revision, cursors, layoutKey: list.layout.key, knownSince };
}

interface Body {
  readonly key: string;
  readonly slug: string;
}

interface HistoryPage extends Body {
  readonly cursor: string;
}

export interface Verdict {
  /** Keys, in the order in which they were given, of what no reader can reach. */
  readonly unreachable: readonly string[];
  /** Keys that no rule knows. */
  readonly unknown: readonly string[];
}

export class Reach {
  readonly #ledger: Ledger;
  readonly #objects: ObjectStore;
  readonly #list: SettledList;
  /** What this generation or an earlier one has superseded is retained no longer; 0: all is retained. */
  readonly newestExpired: number;
  #retainedListPages: Promise<ReadonlySet<string>> | null = null;

  constructor({ ledger, objects }: PublisherStorage, list: SettledList, newestExpired: number) {
    this.#ledger = ledger;
    this.#objects = objects;
    this.#list = list;
    this.newestExpired = newestExpired;
  }

  /** What a later generation has put is never unreachable. */
  get generation(): number {
    return this.#list.generation;
  }

  readonly isExpired = ({ value }: Item<SupersededValue>): boolean => value.generation <= this.newestExpired;

  /**
   * Judges any number of objects, some thousands at a time. Of what is in use, one record is looked up for each page of a
   * history and each body of a market, in batches of {@link MAX_GET_KEYS}.
   */
  async judge(keys: readonly string[]): Promise<Verdict> {
    const unreachable = new Set<string>();
    const unknown: string[] = [];
    const bodies: Body[] = [];
    const historyPages: HistoryPage[] = [];
    const lostPages: string[] = [];
    for (const key of keys) {
      const written = packedGeneration(key);
      const name = parsePublicKey(key);
      if (written !== null) {
        if (this.#isPackedDone(key, written)) unreachable.add(key);
      } else if (name === null) unknown.push(key);
      else if ('cursor' in name) {
        // A later one may not be in the layout yet.
        if (cursorGeneration(name.cursor) > this.generation) continue;
        if (name.kind === 'history-page') historyPages.push({ key, ...name });
        else if (await this.#isListPageLost(name.cursor)) lostPages.push(key);
      } else if (name.kind === 'market' || name.kind === 'history') bodies.push({ key, slug: name.slug });
    }
    for (const { key } of await this.#withoutMarket(bodies)) unreachable.add(key);
    lostPages.push(...(await this.#lostHistoryPages(historyPages)));
    // After the records of pages have been read: what they let go of in between is known as superseded by now.
    const superseded = await readMany(this.#ledger, lostPages.map(supersededPageKey));
    for (const [index, key] of lostPages.entries()) {
      const record = superseded[index] ?? null;
      if (record === null || this.isExpired(record)) unreachable.add(key);
    }
    return { unreachable: keys.filter((key) => unreachable.has(key)), unknown };
  }

  /** Whether it is the body of a market that is published or listed now, whatever it was when it was judged. */
  async isBodyInUse(key: string): Promise<boolean> {
    const name = parsePublicKey(key);
    if (name?.kind !== 'market' && name?.kind !== 'history') return false;
    // The records of a generation that is being applied show one after the other: the next run looks again.
    const before = await this.#ledger.get(HEAD_KEY);
    const isGone = (await this.#withoutMarket([{ key, slug: name.slug }])).length > 0;
    const after = await this.#ledger.get(HEAD_KEY);
    return !isGone || before?.value.applied !== true || after?.attemptId !== before.attemptId;
  }

  /** Bundles of earlier generations; layouts of expired ones, unless the list still has that layout. */
  #isPackedDone(key: string, written: number): boolean {
    if (!key.startsWith(LAYOUT_PREFIX)) return written < this.generation;
    return written <= this.newestExpired && key !== this.#list.layoutKey;
  }

  /**
   * Whether no list shows the page, and none that is retained has superseded it. A page that a retained generation has put is
   * not looked at before that has expired: by then it was superseded, or never shown.
   */
  async #isListPageLost(cursor: string): Promise<boolean> {
    if (this.#list.cursors.has(cursor) || cursorGeneration(cursor) > this.newestExpired) return false;
    this.#retainedListPages ??= this.#readRetainedListPages();
    return !(await this.#retainedListPages).has(cursor);
  }

  /** The older ones of the pages that retained generations have superseded. */
  async #readRetainedListPages(): Promise<ReadonlySet<string>> {
    const cursors = new Set<string>();
    for await (const generations of queryPages(this.#ledger, GENERATIONS)) {
      for (const { revision, value } of generations) {
        if (revision <= this.newestExpired || value.layout === null) continue;
        const layout = await readLayoutAt(this.#objects, value.layout);
        for (const cursor of layout?.superseded ?? []) {
          if (cursorGeneration(cursor) <= this.newestExpired) cursors.add(cursor);
        }
      }
    }
    return cursors;
  }

  /**
   * Published first: a market that is not may be listed, and be published before that is asked. Of a market that was removed,
   * the list that readers have may say more: it is remembered that it has changed until a list is published without it.
   */
  async #withoutMarket(bodies: readonly Body[]): Promise<readonly Body[]> {
    const heads = await readMany(
      this.#ledger,
      bodies.map(({ slug }) => publishedHeadsKey(slug)),
    );
    const unpublished = bodies.filter((_, index) => heads[index] === null);
    const listed = await readMany(
      this.#ledger,
      unpublished.map(({ slug }) => marketIndexKey(slug)),
    );
    const unlisted = unpublished.filter((_, index) => listed[index] === null);
    const changes = await readMany(
      this.#ledger,
      unlisted.map(({ slug }) => listChangeKey(slug)),
    );
    return unlisted.filter((_, index) => changes[index] === null);
  }

  /**
   * Pages that are in no layout. Where none of a market's is garbage, as many as there are have the first places of its
   * layout; what is not found at these may be at a later one, and the whole layout is read for it.
   */
  async #lostHistoryPages(pages: readonly HistoryPage[]): Promise<readonly string[]> {
    const places = [...Map.groupBy(pages, ({ slug }) => slug)].flatMap(([slug, some]) =>
      some.map((_, index) => ({ slug, record: historyPageKey(slug, index) })),
    );
    const records = await readMany(
      this.#ledger,
      places.map(({ record }) => record),
    );
    const found = new Set(
      places.flatMap(({ slug }, index) => {
        const page = records[index]?.value;
        return page === undefined ? [] : [publicKey({ kind: 'history-page', slug, cursor: page.cursor })];
      }),
    );
    const doubtful = Map.groupBy(
      pages.filter(({ key }) => !found.has(key)),
      ({ slug }) => slug,
    );
    const lost = await pMap(
      doubtful,
      async ([slug, some]) => {
        const layout = await readAll(this.#ledger, historyPagesOf(slug));
        const cursors = new Set(layout.map((item) => item.value.cursor));
        return some.filter(({ cursor }) => !cursors.has(cursor)).map(({ key }) => key);
      },
      { concurrency: OBJECT_CONCURRENCY },
    );
    return lost.flat();
  }
}
