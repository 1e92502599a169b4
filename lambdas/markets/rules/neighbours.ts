/**
 * Reads the values for comparison with a new one: on each side in time, the nearest standing, known values that are not zero.
 * One is enough for most rows; `outlier.ts` states when more are needed. A value that the same batch will change is left out,
 * because it may be the wrong one.
 */
import type { IngestMode } from '../../../contract/ingest/ingest-records.ts';
import { OUTLIER_NEIGHBOURS_MAX } from '../../../contract/values/market.ts';
import type { Observation } from '../../../contract/values/metric.ts';
import type { Item, LedgerReader } from '../../../storage/ports/ledger.ts';
import { readPage } from '../../../storage/ports/paging.ts';
import {
  firstOrderOf,
  observationKey,
  observationsOf,
  orderOfObservation,
  type PlacedMetric,
} from '../../../storage/records/markets.ts';
import { isSameContent, metricOfRecord } from '../observation-value.ts';
import type { MarketState } from '../read-markets.ts';
import { isComparable, type Neighbours, type NeighboursRead } from './outlier.ts';
import { isWithoutValue } from './row-rules.ts';

/** The limit of observations to read on one side of a row. Some of them may not be comparable. */
export const LOOK_AROUND = 100;

/**
 * The neighbours in the ledger of each row with a new value. A row causes at most two queries; rows that lie close together
 * share them. If only the nearest neighbours are needed, a row after the newest value of its metric causes no query. Daily
 * feeds send such rows.
 *
 * @param all whether to read as many neighbours as any rule needs. Default: if the market has a rule of its own
 */
export async function readNeighbours(
  ledger: LedgerReader,
  state: MarketState,
  mode: IngestMode,
  all: boolean = hasOwnRule(state),
): Promise<NeighboursRead> {
  const found = new Map<string, Neighbours>();
  const { market, slug, rows } = state;
  if (market === null) return { of: found, areAll: true };
  const most = all ? OUTLIER_NEIGHBOURS_MAX : 1;
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
    if (!all && isNewest && isCompared(newest, newest.order)) {
      found.set(order, { before: [newest], after: [] });
      continue;
    }
    const accepts = ({ order: place, metric }: PlacedObservation) =>
      metric.metric === name &&
      metric.supersededBy === null &&
      firstOrderOf(place) !== order &&
      isCompared({ order: place, metric }, place);
    const before = await window.before(order, accepts, most);
    // If several rows follow the newest value, the first one finds the end of the history for all.
    found.set(order, { before, after: isNewest && !all ? [] : await window.after(order, accepts, most) });
  }
  return { of: found, areAll: all };
}

/** Whether the rows define a rule for outliers, or the market has one. */
function hasOwnRule({ market, rows }: MarketState): boolean {
  const defined = rows.flatMap(({ record }) =>
    record.type === 'market' && record.outliers !== undefined ? [record.outliers] : [],
  );
  const [rule = market?.value.outliers ?? null] = defined;
  return typeof rule === 'object' && rule !== null;
}

/** The rows that change a known observation, and the rows whose value must be compared, by their order. */
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
    if (before !== undefined) {
      const metric = metricOfRecord(record, quantity);
      if (mode !== 'correct' || 'error' in metric || isSameContent(before, metric, record)) continue;
      changed.add(order);
    }
    if (!record.outlierConfirmed && !isWithoutValue(record)) compared.add(order);
  }
  return { changed, compared };
}

type PlacedObservation = PlacedMetric & { readonly metric: Observation };
type Accepts = (observation: PlacedObservation) => boolean;

/** A part of a history that is completely in memory. It moves forward with rows in order. */
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

  /** The nearest accepted values before `order`, nearest first, at most `most`. */
  async before(order: string, accepts: Accepts, most: number): Promise<readonly PlacedMetric[]> {
    if (order < this.#from || order > this.#to) {
      this.#items = [];
      this.#from = order;
      this.#to = order;
    }
    const lastOf = (items: readonly PlacedObservation[]) =>
      taken(items.toReversed(), (item) => item.order < order && accepts(item), most);
    const here = lastOf(this.#items);
    if (here.length === most || this.#from === START) return here;
    const { items, next } = await this.#read(this.#from, true);
    this.#items = [...items.toReversed(), ...this.#items];
    this.#from = next === null ? START : (items.at(-1)?.order ?? this.#from);
    return lastOf(this.#items);
  }

  /** The same after `order`. Call {@link before} with this order first. */
  async after(order: string, accepts: Accepts, most: number): Promise<readonly PlacedMetric[]> {
    const firstOf = (items: readonly PlacedObservation[]) =>
      taken(items, (item) => item.order > order && accepts(item), most);
    const here = firstOf(this.#items);
    if (here.length === most || this.#to === END) return here;
    const { items, next } = await this.#read(this.#to, false);
    const dropped = this.#items.slice(0, -LOOK_AROUND);
    this.#from = dropped.at(-1)?.order ?? this.#from;
    this.#items = [...this.#items.slice(-LOOK_AROUND), ...items];
    this.#to = next === null ? END : (items.at(-1)?.order ?? this.#to);
    return firstOf(this.#items);
  }

  async #read(from: string, descending: boolean) {
    const after = observationKey(this.#slug, from).sort;
    const page = await readPage(this.#ledger, observationsOf(this.#slug), { after, descending, limit: LOOK_AROUND });
    return { items: page.items.map(placed), next: page.next };
  }
}

function taken(items: readonly PlacedObservation[], accepts: Accepts, most: number): readonly PlacedMetric[] {
  const found: PlacedMetric[] = [];
  for (const item of items) {
    if (found.length === most) break;
    if (accepts(item)) found.push(item);
  }
  return found;
}

/** Before and after every order: an order begins with a year. */
const START = '';
const END = '~';

function placed(item: Item<Observation>): PlacedObservation {
  return { order: orderOfObservation(item), metric: item.value };
}
