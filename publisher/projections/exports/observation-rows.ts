/** Turns entries of the log into the rows of one part of the observations. */
import type { ExportRow } from '../../../contract/bodies/export-tables.ts';
import type { LogEntry, ObservationEntry } from '../../../contract/log/entries.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import { moneyTexts } from '../../../contract/values/money/money-texts.ts';
import { valueCells } from './market-rows.ts';

export interface SupersededAt {
  /** The index in the log of the superseding entry. */
  readonly index: number;
  readonly by: string;
  readonly at: string;
  /** The moment of both observations: a correction has the same moment. */
  readonly observedAt: string;
}

/** Changes that entries make to rows of earlier parts. */
export interface EarlierChanges {
  /** Changes by the id of the superseded observation. */
  readonly superseded: ReadonlyMap<string, SupersededAt>;
  /** Markets whose earlier rows no longer count. */
  readonly reset: ReadonlySet<string>;
}

export type ObservationRow = ExportRow & {
  readonly market: string;
  readonly observedAt: string;
  readonly metric: string;
  readonly id: string;
  readonly logIndex: number;
};

/**
 * An observation of a part. Its entry becomes a row only when the row is written, because all rows at once take too much
 * memory. The entry is kept as bytes of its tile: strings may grow the heap to several times their size before they are
 * collected.
 */
interface Place {
  readonly index: number;
  /** The entries of its tile, and the position of its entry in them. */
  readonly tile: Buffer;
  readonly start: number;
  readonly end: number;
  readonly id: string;
  readonly market: string;
  readonly metric: string;
  /** With three digits after the second. */
  readonly observedAt: string;
}

type Order = Pick<Place, 'index' | 'market' | 'metric' | 'observedAt'>;

/** The rows of the entries of one part, while they are read in order. */
export class PartRows {
  readonly #observations: Place[] = [];
  readonly #quantities = new Map<string, number>();
  /** The index in the log from which a market's observations count: a reset cancels everything before it. */
  readonly #countsFrom = new Map<string, number>();
  readonly #superseded = new Map<string, SupersededAt>();
  /** Slugs and metrics, each stored once: thousands of observations share them. */
  readonly #names = new Map<string, string>();

  /** Adds the entries of a tile. @param first the index in the log of the first entry */
  addTile(first: number, texts: readonly string[]): void {
    const bytes = Buffer.from(texts.join(''));
    let start = 0;
    for (const [place, text] of texts.entries()) {
      const end = start + Buffer.byteLength(text);
      this.#add(text, { index: first + place, tile: bytes, start, end });
      start = end;
    }
  }

  #add(text: string, entry: Pick<Place, 'index' | 'tile' | 'start' | 'end'>): void {
    const { index } = entry;
    const facts = JSON.parse(text) as LogEntry;
    if (facts.type === 'observation') {
      // An announced value has no row: readers of a table would take it for a price.
      if (facts.announced) return;
      const { supersedes, id, recordedAt, observedAt } = facts;
      const [market, metric] = [this.#once(facts.market), this.#once(facts.metric)];
      this.#observations.push({ ...entry, id, market, metric, observedAt: millisecondInstant(observedAt) });
      if (supersedes !== null) this.#superseded.set(supersedes, { index, by: id, at: recordedAt, observedAt });
    } else if (facts.type === 'market') this.#quantities.set(facts.market, facts.unit.quantity);
    else if (facts.type === 'reset') this.#countsFrom.set(facts.market, index);
  }

  #once(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    this.#names.set(name, name);
    return name;
  }

  /** The changes to earlier parts that follow from the entries from this index on. */
  earlierChanges(from: number): EarlierChanges {
    const own = new Set(this.#observations.map(({ id }) => id));
    const superseded = [...this.#superseded].filter(([id, { index }]) => index >= from && !own.has(id));
    const reset = [...this.#countsFrom].filter(([, index]) => index >= from).map(([slug]) => slug);
    return { superseded: new Map(superseded), reset: new Set(reset) };
  }

  /** Markets whose definition is in an earlier part. */
  get undefinedMarkets(): readonly string[] {
    const all = new Set(this.#observations.map(({ market }) => market));
    return [...all].filter((slug) => !this.#quantities.has(slug));
  }

  /** The rows in order, some at a time. @param quantities those of {@link undefinedMarkets} */
  async *rows(
    quantities: ReadonlyMap<string, number>,
    yieldToEventLoop: () => Promise<void>,
  ): AsyncGenerator<readonly ObservationRow[]> {
    const seen = new Set<string>();
    const standing = this.#observations.filter(({ id, market, index }) => {
      if (index < (this.#countsFrom.get(market) ?? 0) || seen.has(id)) return false;
      seen.add(id);
      return true;
    });
    const byMarket = Map.groupBy(standing, ({ market }) => market);
    const places: Place[] = [];
    // Markets are sorted one by one, and mostly are in order already: sorting all rows at once would block other tasks.
    let sorted = 0;
    for (const market of [...byMarket.keys()].sort()) {
      for (const place of (byMarket.get(market) ?? []).sort(inExportOrder)) places.push(place);
      if (places.length - sorted < ROWS_IN_A_STRETCH) continue;
      sorted = places.length;
      await yieldToEventLoop();
    }
    const supersededAt = (id: string, market: string) => {
      const newer = this.#superseded.get(id) ?? null;
      // If the ledger has lost a version, the log states it before the reset and not after it.
      return newer !== null && newer.index >= (this.#countsFrom.get(market) ?? 0) ? newer : null;
    };
    for (let start = 0; start < places.length; start += ROWS_IN_A_STRETCH) {
      yield places.slice(start, start + ROWS_IN_A_STRETCH).map(({ index, tile, start: from, end, id, market }) => {
        const quantity = this.#quantities.get(market) ?? quantities.get(market) ?? null;
        const facts = JSON.parse(tile.toString('utf8', from, end)) as ObservationEntry;
        return observationRow(index, facts, quantity, supersededAt(id, market));
      });
    }
  }
}

/** Takes one or two milliseconds. */
const ROWS_IN_A_STRETCH = 256;

/** The row with the changes of later entries; null if they remove it. */
export function changedRow(row: ObservationRow, { superseded, reset }: EarlierChanges): ObservationRow | null {
  if (reset.has(row.market)) return null;
  const newer = superseded.get(row.id);
  return newer === undefined ? row : { ...row, supersededAt: newer.at, supersededBy: newer.by };
}

/** The order of rows in a part. `observedAt` must have three digits after the second. */
export function inExportOrder(one: Order, other: Order): number {
  if (one.market !== other.market) return one.market < other.market ? -1 : 1;
  if (one.observedAt !== other.observedAt) return one.observedAt < other.observedAt ? -1 : 1;
  if (one.metric !== other.metric) return one.metric < other.metric ? -1 : 1;
  return one.index - other.index;
}

/** The columns in the order of the table. @param quantity the quantity that one price buys. Null: unknown */
export function observationRow(
  logIndex: number,
  entry: ObservationEntry,
  quantity: number | null,
  superseded: Pick<SupersededAt, 'by' | 'at'> | null,
): ObservationRow {
  const value =
    entry.kind === 'money' ? { ...entry, ...moneyTexts(entry.amountMinor, entry.currency, quantity ?? 1) } : entry;
  return {
    market: entry.market,
    observedAt: entry.observedAt,
    metric: entry.metric,
    ...valueCells(value, quantity),
    status: entry.status,
    confidence: entry.confidence,
    rounded: entry.rounded,
    sourceValue: entry.sourceValue,
    unknownReason: entry.unknownReason,
    sourceLabel: entry.sourceLabel,
    sourceUrl: entry.sourceUrl,
    releasedAt: entry.releasedAt,
    recordedAt: entry.recordedAt,
    supersededAt: superseded?.at ?? null,
    supersededBy: superseded?.by ?? null,
    supersedes: entry.supersedes,
    retraction: entry.retraction,
    id: entry.id,
    logIndex,
  };
}
