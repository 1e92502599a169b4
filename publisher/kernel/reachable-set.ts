/**
 * Decides which objects readers may still request: the mark phase of garbage collection. sweep.ts explains its safety.
 * Records are read in batches. Objects that a read shows to be in use are kept, and only the others are examined further.
 */

import pMap from 'p-map';
import { cursorGeneration } from '../../contract/files/cursors.ts';
import { type PublicObjectName, parsePublicKey } from '../../contract/files/public-objects.ts';
import type { Change, Item, ItemKey } from '../../storage/ports/ledger.ts';
import { queryPages, readAll, readEach } from '../../storage/ports/paging.ts';
import { marketIndexKey } from '../../storage/records/markets.ts';
import {
  GENERATIONS,
  HEAD_KEY,
  type HeadValue,
  historyPagesOf,
  listChangeKey,
  publishedHeadsKey,
  type SupersededValue,
  supersededPageKey,
} from '../../storage/records/publication.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../dependencies.ts';
import { changeMany } from './change-many.ts';
import { packedGeneration } from './files/packed-object.ts';
import { isTileBeyond, isTileExpired } from './files/put-tile.ts';
import { LAYOUT_PREFIX, readLayout, readLayoutAt } from './list/list-layout.ts';
import { type Projector, stateOf } from './projection.ts';

/** The market list of an applied generation. */
export interface SettledList {
  readonly head: HeadValue;
  readonly generation: number;
  /** The size of its log. Null: the store may have a longer log. */
  readonly logSize: number | null;
  /** The cursors of its pages. */
  readonly cursors: ReadonlySet<string>;
  readonly layoutKey: string;
  /** See {@link HeadValue}. 0 if there was no doubt; greater than every generation while there is doubt. */
  readonly consistentSince: number;
}

/** Null unless HEAD is applied and its list is known. */
export async function readSettledList({ ledger, objects }: PublisherStorage): Promise<SettledList | null> {
  const head = await ledger.get(HEAD_KEY);
  if (head === null || !head.value.applied || head.value.list.isDoubtful) return null;
  const { list } = head.value;
  const consistentSince = head.value.knownSince === null ? Number.POSITIVE_INFINITY : (head.value.knownSince ?? 0);
  const layout = await readLayout(objects, list);
  if (layout === null || list.layout === null) return null;
  return {
    head: head.value,
    generation: head.revision,
    logSize: head.value.log?.isDoubtful ? null : (head.value.log?.size ?? 0),
    cursors: new Set(layout.pages.map(({ cursor }) => cursor)),
    layoutKey: list.layout.key,
    consistentSince,
  };
}

interface Body {
  readonly key: string;
  readonly slug: string;
}

interface HistoryPage extends Body {
  readonly cursor: string;
}

type ObjectClass =
  | { readonly kind: 'kept' }
  | { readonly kind: 'garbage' }
  /** Its key has an unknown form. */
  | { readonly kind: 'unknown' }
  /** The projection that owns it decides. */
  | { readonly kind: 'owned'; readonly owner: Projector; readonly name: PublicObjectName | null }
  | { readonly kind: 'list-page'; readonly cursor: string }
  | { readonly kind: 'history-page'; readonly slug: string; readonly cursor: string }
  | { readonly kind: 'body'; readonly slug: string };

export interface Verdict {
  /** Keys that no reader can reach, in the given order. */
  readonly unreachable: readonly string[];
  /** Keys of an unknown form. */
  readonly unknown: readonly string[];
}

/** The newest generation that has expired; 0 and 0 if none has. */
export interface NewestExpired {
  readonly generation: number;
  /** The size of its log. */
  readonly logSize: number;
}

export class ReachableSet {
  readonly #storage: PublisherStorage;
  readonly #list: SettledList;
  /** Projections by the kinds and keys of their objects. */
  readonly #owners = new Map<string, Projector>();
  /** Pages that this generation or an earlier one superseded are no longer retained. 0: all superseded pages are retained. */
  readonly newestExpired: number;
  readonly #expiredLogSize: number;
  #retainedListPages: Promise<ReadonlySet<string> | null> | null = null;
  /** The layout of the last judged market: the next keys of a listing may be its pages too. */
  #lastLayout: { readonly slug: string; readonly cursors: ReadonlySet<string> } | null = null;

  constructor(
    storage: PublisherStorage,
    projectors: readonly Projector[],
    list: SettledList,
    { generation, logSize }: NewestExpired,
  ) {
    this.#storage = storage;
    for (const projector of projectors) for (const kind of projector.kinds) this.#owners.set(kind, projector);
    for (const projector of projectors) for (const key of projector.keys ?? []) this.#owners.set(key, projector);
    this.#list = list;
    this.newestExpired = generation;
    this.#expiredLogSize = logSize;
  }

  /** Objects of a later generation are always reachable. */
  get generation(): number {
    return this.#list.generation;
  }

  readonly isExpired = ({ value }: Item<SupersededValue>): boolean => value.generation <= this.newestExpired;

  /**
   * Judges any number of objects, some thousands at a time. For each market body in use, it reads one record, in batches of
   * {@link MAX_GET_KEYS}; for the pages of each history, it reads the history's layout.
   *
   * @param head the HEAD by which projections decide. Default: the HEAD at the start of the run
   */
  async judge(keys: readonly string[], head = this.#list.head): Promise<Verdict> {
    const objects = keys.map((key) => ({ key, ...this.#classOf(key) }));
    const ofClass = <Kind extends ObjectClass['kind']>(kind: Kind) =>
      objects.filter((one): one is { key: string } & Extract<ObjectClass, { kind: Kind }> => one.kind === kind);
    const unreachable = new Set(ofClass('garbage').map(({ key }) => key));
    for (const [owner, owned] of Map.groupBy(ofClass('owned'), (object) => object.owner)) {
      // A projection without this hook keeps all of its objects.
      const found = await owner.reachable?.unreachable(this.#storage, owned, stateOf(owner, head));
      for (const key of found ?? []) unreachable.add(key);
    }
    for (const { key } of await this.#withoutMarket(ofClass('body'))) unreachable.add(key);
    const lostPages = [...(await this.#lostHistoryPages(ofClass('history-page')))];
    for (const { key, cursor } of ofClass('list-page')) if (await this.#isListPageLost(cursor)) lostPages.push(key);
    for (const key of await this.#unretained(lostPages)) unreachable.add(key);
    return {
      unreachable: keys.filter((key) => unreachable.has(key)),
      unknown: ofClass('unknown').map(({ key }) => key),
    };
  }

  /** Classifies an object by its key and the list alone. */
  #classOf(key: string): ObjectClass {
    const unless = (isKept: boolean): ObjectClass => ({ kind: isKept ? 'kept' : 'garbage' });
    const written = packedGeneration(key);
    if (written !== null) return unless(!this.#isPackedDone(key, written));
    const name = parsePublicKey(key);
    const owner = this.#owners.get(name?.kind ?? key);
    if (owner !== undefined) return { kind: 'owned', owner, name };
    if (name === null) return { kind: 'unknown' };
    if ('tile' in name) return unless(!isTileExpired(key, this.#expiredLogSize) && !this.#isStray(key));
    if ('cursor' in name) {
      // A page of a later generation may not be in the layout yet.
      if (cursorGeneration(name.cursor) > this.generation) return { kind: 'kept' };
      return name.kind === 'history-page' ? name : { kind: 'list-page', cursor: name.cursor };
    }
    return name.kind === 'market' || name.kind === 'history' ? { kind: 'body', slug: name.slug } : { kind: 'kept' };
  }

  /** Those of the unused pages whose cursors have expired. */
  async #unretained(lostPages: readonly string[]): Promise<readonly string[]> {
    // These are read after the layouts: a page that a layout has dropped in between is recorded as superseded by now.
    const records = await readEach(this.#storage.ledger, lostPages, supersededPageKey);
    const expired = records.flatMap(([key, record]) => (record !== null && this.isExpired(record) ? [key] : []));
    const unrecorded = records.flatMap(([key, record]) => (record === null ? [key] : []));
    return [...expired, ...(await this.#neverSuperseded(unrecorded))];
  }

  /**
   * The pages of `keys` that no record names. The transaction that drops a page records it as superseded, but its items may
   * become visible in any order: only the condition of a transaction proves that a record is absent.
   */
  async #neverSuperseded(keys: readonly string[]): Promise<readonly string[]> {
    const pages = new Map(keys.map((key) => [supersededPageKey(key).sort, key]));
    const checks = keys.map((key): Change => {
      return { kind: 'check', key: supersededPageKey(key) as ItemKey, if: { kind: 'absent' } };
    });
    return (await changeMany(this.#storage, checks)).map(({ key }) => pages.get(key.sort) as string);
  }

  /** Whether the tile lies beyond the end of the log: its generation was given up. */
  #isStray(key: string): boolean {
    const { logSize } = this.#list;
    return logSize !== null && isTileBeyond(key, logSize);
  }

  /** Whether it is a tile, a file or a market body: a later generation can put it with the same bytes. */
  mayBeUsedAgain(key: string): boolean {
    const { kind } = this.#classOf(key);
    return this.#isStray(key) || kind === 'owned' || kind === 'body';
  }

  /** Whether such an object is in use now, even if it was not when it was judged. */
  async isInUseAgain(key: string): Promise<boolean> {
    const isStray = this.#isStray(key);
    const before = await this.#storage.ledger.get(HEAD_KEY);
    if (before === null || isStray) return before?.revision !== this.generation;
    const { unreachable } = await this.judge([key], before.value);
    // While a generation is being applied, its records become visible one after the other, so keep the object. The next run
    // judges it again.
    const after = await this.#storage.ledger.get(HEAD_KEY);
    return unreachable.length === 0 || !before.value.applied || after?.attemptId !== before.attemptId;
  }

  /**
   * Whether a packed object is no longer needed. Bundles: once a later generation is applied, or, where bundles are kept,
   * once theirs has expired. Layouts: once theirs has expired and the list does not use them.
   */
  #isPackedDone(key: string, written: number): boolean {
    if (!key.startsWith(LAYOUT_PREFIX) && !this.#storage.keepsBundles) return written < this.generation;
    return written <= this.newestExpired && key !== this.#list.layoutKey;
  }

  /**
   * Whether the page is in no list and no retained generation has superseded it. A page of a retained generation is not
   * examined before that generation has expired. By then it was superseded, or it was never published.
   */
  async #isListPageLost(cursor: string): Promise<boolean> {
    if (this.#list.cursors.has(cursor) || cursorGeneration(cursor) > this.newestExpired) return false;
    this.#retainedListPages ??= this.#readRetainedListPages();
    const retained = await this.#retainedListPages;
    return retained !== null && !retained.has(cursor);
  }

  /**
   * The pages that retained generations have superseded, without pages of later generations. Null: one of the layouts
   * is lost, so every page may be retained.
   */
  async #readRetainedListPages(): Promise<ReadonlySet<string> | null> {
    const cursors = new Set<string>();
    for await (const generations of queryPages(this.#storage.ledger, GENERATIONS)) {
      for (const { revision, value } of generations) {
        if (revision <= this.newestExpired || value.layout === null) continue;
        const layout = await readLayoutAt(this.#storage.objects, value.layout);
        if (layout === null) return null;
        for (const cursor of layout.superseded) {
          if (cursorGeneration(cursor) <= this.newestExpired) cursors.add(cursor);
        }
      }
    }
    return cursors;
  }

  /**
   * Reads the published records first: a market that is not published may be listed, and may be published before the
   * list is read. For a removed market, the ledger remembers the change until a list without it is published.
   */
  async #withoutMarket(bodies: readonly Body[]): Promise<readonly Body[]> {
    let left = bodies;
    for (const keyOf of [publishedHeadsKey, marketIndexKey, listChangeKey]) {
      const found = await readEach(this.#storage.ledger, left, ({ slug }): ItemKey<unknown> => keyOf(slug));
      left = found.flatMap(([body, item]) => (item === null ? [body] : []));
    }
    return left;
  }

  /** Pages that are in no layout. */
  async #lostHistoryPages(pages: readonly HistoryPage[]): Promise<readonly string[]> {
    const last = this.#lastLayout;
    const judged = await pMap(
      Map.groupBy(pages, ({ slug }) => slug),
      async ([slug, some]) => {
        const cursors = last?.slug === slug ? last.cursors : await this.#layoutOf(slug);
        return { slug, cursors, lost: some.filter(({ cursor }) => !cursors.has(cursor)).map(({ key }) => key) };
      },
      { concurrency: OBJECT_CONCURRENCY },
    );
    this.#lastLayout = judged.at(-1) ?? last;
    return judged.flatMap(({ lost }) => lost);
  }

  async #layoutOf(slug: string): Promise<ReadonlySet<string>> {
    const layout = await readAll(this.#storage.ledger, historyPagesOf(slug));
    return new Set(layout.map(({ value }) => value.cursor));
  }
}
