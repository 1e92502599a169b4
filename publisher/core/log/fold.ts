/**
 * Folds the entries of the log into the records that are rendered. So the log alone gives every public value again. `verify
 * --log` and the simulator use it. Pure. docs/log.md has the rules ("From entries to bodies").
 */

import type { Removal } from '../../../contract/files/removed-market.ts';
import type { LogEntry, ServiceEntry, TakedownEntry } from '../../../contract/log/entries.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { parseEntry } from '../../../contract/log/parse-entry.ts';
import { foldObservations } from './fold-observations.ts';
import { addFact, type FoldedMarket, type MarketFact, type MarketFacts, noFacts, recordOf } from './folded-market.ts';
import { TextSpool } from './text-spool.ts';

/** A market by the log: shown, with its record and its history, oldest observation first; or removed. */
export type Folded =
  | ({ readonly kind: 'shown' } & FoldedMarket)
  | { readonly kind: 'removed'; readonly removal: Removal };

/** An entry and its index in the log. */
export interface PlacedEntry {
  readonly index: number;
  readonly entry: MarketFact;
}

/** Receives the entries of a log, each once and in order, and gives the markets that follow from them. */
export class LogFold {
  readonly #markets = new Map<string, MarketFacts>();
  /** All entries of markets. Each text is stored after its index and a space. */
  readonly #texts = new TextSpool();
  readonly #vkeys: string[] = [];
  #service: ServiceEntry | null = null;
  /** The index of the newest entry of each market that changes its bodies. */
  readonly #last = new Map<string, number>();
  /** Indexes of entries that are tombstones, or that `takedown` entries name: an older copy may still have their texts. */
  readonly #takenDown = new Set<number>();
  /** Indexes that `takedown` entries name. */
  readonly #announced = new Set<number>();
  #size = 0;

  /**
   * @param text the exact text of the next entry
   * @throws LogFaultError if the text is not an entry, or contradicts an earlier one
   */
  add(text: string): void {
    const index = this.#size++;
    const entry = parseEntry(text);
    if (entry.type === 'takedown') {
      this.#announce(entry, index);
      return;
    }
    if (entry.type === 'key') {
      this.#vkeys.push(entry.vkey);
      return;
    }
    if (entry.type === 'service') {
      this.#service = entry;
      return;
    }
    const { market } = entry;
    this.#last.set(market, index);
    if (entry.type === 'reset') this.#markets.delete(market);
    else this.#addFact(entry);
    this.#texts.add(market, `${index} ${text}`);
  }

  /** Call it instead of `add` for an entry whose text was taken down. */
  addTakenDown(): void {
    this.#takenDown.add(this.#size++);
  }

  /** The number of entries that were taken down. */
  get takenDown(): number {
    return this.#takenDown.size;
  }

  isTakenDown(index: number): boolean {
    return this.#takenDown.has(index);
  }

  /**
   * Whether the log itself says that this entry may be taken down. A tombstone line is not signed; only a `takedown` entry
   * proves it.
   */
  isAnnounced(index: number): boolean {
    return this.#announced.has(index);
  }

  /** Entries that are tombstones without a `takedown` entry, in order: the host hides them. */
  unannounced(): readonly number[] {
    return [...this.#takenDown].filter((index) => !this.isAnnounced(index));
  }

  /** The verifier keys that `key` entries have announced, oldest first. */
  get vkeys(): readonly string[] {
    return this.#vkeys;
  }

  /** The newest service entry of the log, which names the published kinds. Null: the log has no service entry. */
  get service(): ServiceEntry | null {
    return this.#service;
  }

  /** The slugs of all markets that are shown or removed, in order. */
  slugs(): readonly string[] {
    return [...this.#markets.keys()].sort();
  }

  /**
   * The market; null if the log has no entry about it, or none since its reset.
   *
   * @throws LogFaultError if its entries contradict each other
   */
  market(slug: string): Folded | null {
    const facts = this.#markets.get(slug);
    if (facts === undefined) return null;
    if (facts.removal !== null) {
      const { reason, replacedBy, removedAt } = facts.removal;
      return { kind: 'removed', removal: { reason, replacedBy, removedAt } };
    }
    const entries = this.entriesOf(slug).flatMap(({ entry }) => (entry.type === 'observation' ? [entry] : []));
    return { kind: 'shown', ...recordOf(slug, facts, foldObservations(slug, entries)) };
  }

  /** All markets that the log has ever mentioned, in order. */
  pastSlugs(): readonly string[] {
    return this.#texts.owners().sort();
  }

  /** The newest revision of a market, removed ones included; 0: the log has no entry about it. */
  revisionOf(slug: string): number {
    return this.#markets.get(slug)?.revision ?? 0;
  }

  /** The index of the newest entry of a market that changes its bodies. */
  lastIndexOf(slug: string): number {
    return this.#last.get(slug) ?? -1;
  }

  isRemoved(slug: string): boolean {
    return (this.#markets.get(slug)?.removal ?? null) !== null;
  }

  /** The standing entries of a market in a log of this size: those since its last reset. */
  entriesOf(slug: string, size = Number.POSITIVE_INFINITY): readonly PlacedEntry[] {
    return this.spansOf(slug, size).at(-1) as readonly PlacedEntry[];
  }

  /** All entries of a market in a log of this size. Each reset begins a new list; the last list stands. */
  spansOf(slug: string, size = Number.POSITIVE_INFINITY): readonly (readonly PlacedEntry[])[] {
    const spans: PlacedEntry[][] = [[]];
    for (const line of this.#texts.textsOf(slug)) {
      const space = line.indexOf(' ');
      const index = Number(line.slice(0, space));
      if (index >= size) break;
      if (this.isTakenDown(index)) continue;
      const entry = JSON.parse(line.slice(space + 1)) as Exclude<
        LogEntry,
        { readonly type: 'key' | 'service' | 'takedown' }
      >;
      if (entry.type === 'reset') spans.push([]);
      else spans.at(-1)?.push({ index, entry });
    }
    return spans;
  }

  /** Only entries of a removed market may be taken down. Its problem document follows from the removal, so no body needs them. */
  #announce({ market, first, last }: TakedownEntry, index: number): void {
    if (!this.#markets.get(market)?.removal) {
      throw new LogFaultError(`entries of ${market} are taken down, and it is not removed`);
    }
    if (first > last || last >= index)
      throw new LogFaultError(`no entries ${first} to ${last} are before entry ${index}`);
    for (let named = first; named <= last; named++) {
      this.#announced.add(named);
      this.#takenDown.add(named);
    }
  }

  #addFact(entry: MarketFact): void {
    const facts = this.#factsOf(entry.market);
    if (facts.removal !== null) throw new LogFaultError(`${entry.market} was removed, and has a later entry`);
    addFact(facts, entry);
  }

  #factsOf(slug: string): MarketFacts {
    let facts = this.#markets.get(slug);
    if (facts === undefined) {
      facts = noFacts();
      this.#markets.set(slug, facts);
    }
    return facts;
  }
}
