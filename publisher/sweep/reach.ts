/**
 * What readers may still ask for: the mark phase of garbage collection, which says why it is safe (collect-garbage.ts).
 * Look-ups go in batches, and what they show to be in use is done with. Only what they do not is looked at more closely.
 */

import pMap from 'p-map';
import { cursorGeneration } from '../../contract/cursors.ts';
import { parsePublicKey, publicKey } from '../../contract/public-objects.ts';
import { type Item, type ItemKey, type Ledger, MAX_GET_KEYS } from '../../storage/ledger.ts';
import { readAll } from '../../storage/paging.ts';
import { marketIndexKey } from '../../storage/records/markets.ts';
import {
  HEAD_KEY,
  type HeadValue,
  type PublishedPage,
  pageKey,
  pagesOf,
  publishedHeadsKey,
  publishedPartition,
  type UnlinkedValue,
  unlinkedKey,
} from '../../storage/records/publication.ts';
import { bundleGeneration } from '../commit/bundle.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../dependencies.ts';
import { readLayout } from '../plan/plan-list.ts';

/** A generation that is in place, and the cursors of its market list's pages. */
export interface SettledList {
  readonly generation: number;
  readonly cursors: ReadonlySet<string>;
}

/** Null unless one generation was in place, applied, all the while. */
export async function readSettledList(dependencies: Pick<PublisherStorage, 'ledger'>): Promise<SettledList | null> {
  const { ledger } = dependencies;
  const head = await ledger.get(HEAD_KEY);
  if (head === null || !(head.value as HeadValue).applied) return null;
  const layout = await readLayout(dependencies);
  // A long layout takes several reads, between which a page could move to where it has been looked for already.
  if ((await ledger.get(HEAD_KEY))?.revision !== head.revision) return null;
  return { generation: head.revision, cursors: new Set(layout.map(({ cursor }) => cursor)) };
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
  readonly #list: SettledList;
  readonly #newestExpired: number;

  /** @param newestExpired what this generation or an earlier one has dropped is retained no longer; 0: all is retained. */
  constructor(ledger: Ledger, list: SettledList, newestExpired: number) {
    this.#ledger = ledger;
    this.#list = list;
    this.#newestExpired = newestExpired;
  }

  /** What a later generation has put is never unreachable. */
  get generation(): number {
    return this.#list.generation;
  }

  readonly isExpiredDrop = (item: Item): boolean => {
    return (item.value as UnlinkedValue).generation <= this.#newestExpired;
  };

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
      const written = bundleGeneration(key);
      const name = parsePublicKey(key);
      if (written !== null) {
        if (written < this.generation) unreachable.add(key);
      } else if (name === null) unknown.push(key);
      else if ('cursor' in name) {
        // A later one may not be in the layout yet.
        if (cursorGeneration(name.cursor) > this.generation) continue;
        if (name.kind === 'history-page') historyPages.push({ key, ...name });
        else if (!this.#list.cursors.has(name.cursor)) lostPages.push(key);
      } else if (name.kind === 'market' || name.kind === 'history') bodies.push({ key, slug: name.slug });
    }
    for (const { key } of await this.#withoutMarket(bodies)) unreachable.add(key);
    lostPages.push(...(await this.#lostHistoryPages(historyPages)));
    // After the layout has been read: what it let go of in between is marked by now.
    const drops = await this.#readMany(lostPages.map(unlinkedKey));
    for (const [index, key] of lostPages.entries()) {
      const drop = drops[index] ?? null;
      if (drop === null || this.isExpiredDrop(drop)) unreachable.add(key);
    }
    return { unreachable: keys.filter((key) => unreachable.has(key)), unknown };
  }

  /** Whether it is the body of a market that is published or listed now, whatever it was when it was judged. */
  async isBodyInUse(key: string): Promise<boolean> {
    const name = parsePublicKey(key);
    if (name?.kind !== 'market' && name?.kind !== 'history') return false;
    return (await this.#withoutMarket([{ key, slug: name.slug }])).length === 0;
  }

  /** Published first: a market that is not may be listed, and be published before that is asked. */
  async #withoutMarket(bodies: readonly Body[]): Promise<readonly Body[]> {
    const heads = await this.#readMany(bodies.map(({ slug }) => publishedHeadsKey(slug)));
    const unpublished = bodies.filter((_, index) => heads[index] === null);
    const listed = await this.#readMany(unpublished.map(({ slug }) => marketIndexKey(slug)));
    return unpublished.filter((_, index) => listed[index] === null);
  }

  /**
   * Pages that are in no layout. Where none of a market's is garbage, as many as there are have the first places of its
   * layout; what is not found at these may be at a later one, and the whole layout is read for it.
   */
  async #lostHistoryPages(pages: readonly HistoryPage[]): Promise<readonly string[]> {
    const places = [...Map.groupBy(pages, ({ slug }) => slug)].flatMap(([slug, some]) =>
      some.map((_, index) => ({ slug, record: pageKey(publishedPartition(slug), index) })),
    );
    const records = await this.#readMany(places.map(({ record }) => record));
    const found = new Set(
      places.flatMap(({ slug }, index) => {
        const page = records[index]?.value as PublishedPage | undefined;
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
        const layout = await readAll(this.#ledger, pagesOf(publishedPartition(slug)));
        const cursors = new Set(layout.map((item) => item.value.cursor));
        return some.filter(({ cursor }) => !cursors.has(cursor)).map(({ key }) => key);
      },
      { concurrency: OBJECT_CONCURRENCY },
    );
    return lost.flat();
  }

  async #readMany(keys: readonly ItemKey[]): Promise<readonly (Item | null)[]> {
    const getMany = (batch: readonly ItemKey[]) => this.#ledger.getMany(batch);
    return (await pMap(inBatches(keys, MAX_GET_KEYS), getMany, { concurrency: OBJECT_CONCURRENCY })).flat();
  }
}

/** In order, each of `size` but the last. */
export function inBatches<Some>(all: readonly Some[], size: number): readonly (readonly Some[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
