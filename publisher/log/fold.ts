/**
 * From the entries of the log back to the records that are rendered: with it, the log alone gives every public value
 * again. `verify --log` and the simulator use it. Pure. docs/log.md has the rules ("From entries to bodies").
 */
import type { LogEntry } from '../../contract/log/entries.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { parseEntry } from '../../contract/log/parse-entry.ts';
import type { Removal } from '../../contract/removed-market.ts';
import { foldObservations } from './fold-observations.ts';
import { addFact, type FoldedMarket, type MarketFact, type MarketFacts, noFacts, recordOf } from './folded-market.ts';
import { TextSpool } from './text-spool.ts';

/** A market as the log has it: shown with its record and its history, oldest observation first; or removed. */
export type Folded =
  | ({ readonly kind: 'shown' } & FoldedMarket)
  | { readonly kind: 'removed'; readonly removal: Removal };

/** An entry and its index in the log. */
export interface PlacedEntry {
  readonly index: number;
  readonly entry: MarketFact;
}

/** Takes the entries of a log, in order and each once, and gives the markets that they add up to. */
export class LogFold {
  readonly #keepsPast: boolean;
  readonly #markets = new Map<string, MarketFacts>();
  /** Observations; with the past, all entries of markets. Each text is behind its index and a space. */
  readonly #texts = new TextSpool();
  readonly #vkeys: string[] = [];

  /** `keepsPast`: also gives what earlier entries said. Default: it does not, and needs less memory. */
  constructor({ keepsPast = false } = {}) {
    this.#keepsPast = keepsPast;
  }

  /**
   * @param text the exact text of the next entry
   * @param index of the entry; needed for the past alone
   * @throws LogFaultError if it is no entry, or contradicts an earlier one
   */
  add(text: string, index = 0): void {
    const entry = parseEntry(text);
    if (entry.type === 'key') {
      this.#vkeys.push(entry.vkey);
      return;
    }
    const { market } = entry;
    if (entry.type === 'reset') this.#markets.delete(market);
    else this.#addFact(entry);
    // The history of a removed market is no longer public.
    if (!this.#keepsPast && (entry.type === 'reset' || entry.type === 'removal')) this.#texts.drop(market);
    if (this.#keepsPast || entry.type === 'observation') this.#texts.add(market, `${index} ${text}`);
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
    const entries = this.entriesOf(slug).flatMap(({ entry }) => (entry.type === 'observation' ? [entry] : []));
    return { kind: 'shown', ...recordOf(slug, facts, foldObservations(slug, entries)) };
  }

  /** Markets of which the past says anything, in order. */
  pastSlugs(): readonly string[] {
    return this.#texts.owners().sort();
  }

  isRemoved(slug: string): boolean {
    return (this.#markets.get(slug)?.removal ?? null) !== null;
  }

  /** The entries of a market that stood in a log of this size: those since its last reset. */
  entriesOf(slug: string, size = Number.POSITIVE_INFINITY): readonly PlacedEntry[] {
    const standing: PlacedEntry[] = [];
    for (const line of this.#texts.textsOf(slug)) {
      const space = line.indexOf(' ');
      const index = Number(line.slice(0, space));
      if (index >= size) break;
      const entry = JSON.parse(line.slice(space + 1)) as Exclude<LogEntry, { readonly type: 'key' }>;
      if (entry.type === 'reset') standing.length = 0;
      else standing.push({ index, entry });
    }
    return standing;
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
