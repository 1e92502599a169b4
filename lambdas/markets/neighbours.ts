/**
 * Reads the values that a new one is compared with: for each side in time, the nearest standing, known value that is
 * not zero. A value that the same batch is about to change is left out, because it may be the wrong one.
 */
import type { IngestMode } from '../../contract/ingest-records.ts';
import type { Observation } from '../../contract/metric.ts';
import type { Item, LedgerReader } from '../../storage/ledger.ts';
import { readPage } from '../../storage/paging.ts';
import {
  firstOrderOf,
  observationKey,
  observationsOf,
  orderOfObservation,
  type PlacedMetric,
} from '../../storage/records/markets.ts';
import { isSameContent, metricOfRecord } from './observation-value.ts';
import { isComparable, type Neighbours } from './outlier.ts';
import type { MarketState } from './read-markets.ts';

/** How many observations to read on one side of a row, at most. If none of them is comparable, that side has none. */
export const LOOK_AROUND = 100;

/**
 * The neighbours in the ledger of each row that brings a new value, by the row's order. A row takes at most two
 * queries. A row after the newest value of its metric, as daily feeds send, takes none.
 */
export async function readNeighbours(
  ledger: LedgerReader,
  state: MarketState,
  mode: IngestMode,
): Promise<ReadonlyMap<string, Neighbours>> {
  const found = new Map<string, Neighbours>();
  const { market, slug, rows } = state;
  if (market === null) return found;
  const { latest, unit } = market.value;
  const { changed, compared } = rowsToCompare(state, mode, unit.quantity);
  const window = new HistoryWindow(ledger, slug);
  for (const { record, order } of rows) {
    if (record.type !== 'observation' || order === null || !compared.has(order)) continue;
    const { metric: name } = record;
    const newest = latest[name];
    if (newest === undefined) continue;
    const isCompared = ({ metric }: PlacedMetric, place: string) =>
      isComparable(metric) && !changed.has(firstOrderOf(place));
    const isNewest = firstOrderOf(newest.order) < order;
    if (isNewest && isCompared(newest, newest.order)) {
      found.set(order, { before: newest, after: null });
      continue;
    }
    const accepts = ({ order: place, metric }: PlacedObservation) =>
      metric.metric === name &&
      metric.supersededBy === null &&
      firstOrderOf(place) !== order &&
      isCompared({ order: place, metric }, place);
    const before = await window.before(order, accepts);
    found.set(order, { before, after: isNewest ? null : await window.after(order, accepts) });
  }
  return found;
}

/** The rows that change a known observation, and those that bring a value to compare, by their order. */
function rowsToCompare({ known, rows }: MarketState, mode: IngestMode, quantity: number) {
  const changed = new Set<string>();
  const compared = new Set<string>();
  for (const { record, order } of rows) {
    if (order === null || record.type === 'market') continue;
    const before = known.get(order)?.newest;
    if (record.type === 'retraction') {
      changed.add(order);
      continue;
    }
    const metric = metricOfRecord(record, quantity);
    if ('error' in metric) continue;
    const isChange = before !== undefined && mode === 'correct' && !isSameContent(before, metric, record);
    if (isChange) changed.add(order);
    if ((isChange || before === undefined) && !record.outlierConfirmed && isComparable(metric)) compared.add(order);
  }
  return { changed, compared };
}

type PlacedObservation = PlacedMetric & { readonly metric: Observation };
type Accepts = (observation: PlacedObservation) => boolean;

/** A part of a history that is read completely, and moves with rows that come in order. */
class HistoryWindow {
  readonly #ledger: LedgerReader;
  readonly #slug: string;
  #items: readonly PlacedObservation[] = [];
  /** Everything between these two orders is in the window. */
  #from = '';
  #to = '';

  constructor(ledger: LedgerReader, slug: string) {
    this.#ledger = ledger;
    this.#slug = slug;
  }

  async before(order: string, accepts: Accepts): Promise<PlacedMetric | null> {
    if (order < this.#from || order > this.#to) {
      this.#items = [];
      this.#from = order;
      this.#to = order;
    }
    const lastOf = (items: readonly PlacedObservation[]) =>
      items.findLast((item) => item.order < order && accepts(item)) ?? null;
    const here = lastOf(this.#items);
    if (here !== null || this.#from === START) return here;
    const { items, next } = await this.#read(this.#from, true);
    this.#items = [...items.toReversed(), ...this.#items];
    this.#from = next === null ? START : (items.at(-1)?.order ?? this.#from);
    return lastOf(this.#items);
  }

  /** For an order that {@link before} was just called with. */
  async after(order: string, accepts: Accepts): Promise<PlacedMetric | null> {
    const firstOf = (items: readonly PlacedObservation[]) =>
      items.find((item) => item.order > order && accepts(item)) ?? null;
    const here = firstOf(this.#items);
    if (here !== null || this.#to === END) return here;
    const { items, next } = await this.#read(this.#to, false);
    const dropped = this.#items.slice(0, -LOOK_AROUND);
    this.#from = dropped.at(-1)?.order ?? this.#from;
    this.#items = [...this.#items.slice(-LOOK_AROUND), ...items];
    this.#to = next === null ? END : (items.at(-1)?.order ?? this.#to);
    return firstOf(items);
  }

  async #read(from: string, descending: boolean) {
    const after = observationKey(this.#slug, from).sort;
    const page = await readPage(this.#ledger, observationsOf(this.#slug), { after, descending, limit: LOOK_AROUND });
    return { items: page.items.map(placed), next: page.next };
  }
}

/** Before and after every order: an order begins with a year. */
const START = '';
const END = '~';

function placed(item: Item<Observation>): PlacedObservation {
  return { order: orderOfObservation(item), metric: item.value };
}
