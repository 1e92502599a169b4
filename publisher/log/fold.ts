/**
 * From the entries of the log back to the records that are rendered: with it, the log alone gives every public value
 * again. `verify --log` and the simulator use it. Pure. docs/log.md has the rules ("From entries to bodies").
 */
import type { LogEntry, ObservationEntry, TakedownEntry } from '../../contract/log/entries.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { parseEntry } from '../../contract/log/parse-entry.ts';
import type { Removal } from '../../contract/removed-market.ts';
import { foldObservations } from './fold-observations.ts';
import { type FoldedMarket, type MarketFacts, recordOf } from './folded-market.ts';
import { TextSpool } from './text-spool.ts';

/** A market as the log has it: shown with its record and its history, oldest observation first; or removed. */
export type Folded =
  | ({ readonly kind: 'shown' } & FoldedMarket)
  | { readonly kind: 'removed'; readonly removal: Removal };

/** Takes the entries of a log, in order and each once, and gives the markets that they add up to. */
export class LogFold {
  readonly #markets = new Map<string, MarketFacts>();
  readonly #observations = new TextSpool();
  readonly #vkeys: string[] = [];
  /** Indexes of entries whose text was taken down. */
  readonly #takenDown: number[] = [];
  /** Indexes that `takedown` entries name. */
  readonly #announced = new Set<number>();
  #size = 0;

  /**
   * @param text the exact text of the next entry
   * @throws LogFaultError if it is no entry, or contradicts an earlier one
   */
  add(text: string): void {
    const index = this.#size++;
    const entry = parseEntry(text);
    if (entry.type === 'takedown') this.#announce(entry, index);
    else if (entry.type === 'key') this.#vkeys.push(entry.vkey);
    else if (entry.type === 'reset') this.#reset(entry.market);
    else this.#addFact(entry, text);
  }

  /** In the place of the next entry: its text was taken down. */
  addTakenDown(): void {
    this.#takenDown.push(this.#size++);
  }

  /** How many entries were taken down. */
  get takenDown(): number {
    return this.#takenDown.length;
  }

  /** Whether the log itself says that this entry may have gone. A line in its place is nobody's word. */
  isAnnounced(index: number): boolean {
    return this.#announced.has(index);
  }

  /** Entries that are gone, in order, although the log does not say so: somebody hides them. */
  unannounced(): readonly number[] {
    return this.#takenDown.filter((index) => !this.isAnnounced(index));
  }

  /** The verifier keys that `key` entries have announced, oldest first. */
  get vkeys(): readonly string[] {
    return this.#vkeys;
  }

  /** The slugs of all markets that are shown or removed, in order. */
  slugs(): readonly string[] {
    return [...this.#markets.keys()].sort();
  }

  /**
   * The market; null if the log says nothing of it, or nothing since it was reset.
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
    const entries = this.#observations.textsOf(slug).map((text) => JSON.parse(text) as ObservationEntry);
    return { kind: 'shown', ...recordOf(slug, facts, foldObservations(slug, entries)) };
  }

  /** The answer of a removed market follows from its removal, so no body needs what is gone. */
  #announce({ market, first, last }: TakedownEntry, index: number): void {
    if (!this.#markets.get(market)?.removal) {
      throw new LogFaultError(`entries of ${market} are taken down, and it is not removed`);
    }
    if (first > last || last >= index)
      throw new LogFaultError(`no entries ${first} to ${last} are before entry ${index}`);
    for (let named = first; named <= last; named++) this.#announced.add(named);
  }

  #reset(slug: string): void {
    this.#markets.delete(slug);
    this.#observations.drop(slug);
  }

  #addFact(entry: Exclude<LogEntry, { readonly type: 'key' | 'reset' | 'takedown' }>, text: string): void {
    const facts = this.#factsOf(entry.market);
    if (facts.removal !== null) throw new LogFaultError(`${entry.market} was removed, and has a later entry`);
    facts.revision = Math.max(facts.revision, entry.revision);
    switch (entry.type) {
      case 'market':
        facts.market = entry;
        break;
      case 'source':
        facts.sources.set(entry.position, entry);
        break;
      case 'standing':
        facts.standing = entry;
        break;
      case 'observation':
        this.#observations.add(entry.market, text);
        break;
      case 'removal':
        facts.removal = entry;
        // Its history is no longer public.
        this.#observations.drop(entry.market);
        break;
    }
  }

  #factsOf(slug: string): MarketFacts {
    let facts = this.#markets.get(slug);
    if (facts === undefined) {
      facts = { market: null, sources: new Map(), standing: null, removal: null, revision: 0 };
      this.#markets.set(slug, facts);
    }
    return facts;
  }
}
