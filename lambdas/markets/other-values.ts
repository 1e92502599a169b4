/**
 * Reads the values that a market shows once a shown one is taken away: by a retraction of the kind `mistake`, or by a
 * correction that names another source.
 */
import { BY_SOURCE_MAX } from '../../contract/limits.ts';
import { isShowable } from '../../contract/metric.ts';
import type { LedgerReader } from '../../storage/ledger.ts';
import { metricPart, valuesIn } from '../../storage/newest-values.ts';
import { queryPages } from '../../storage/paging.ts';
import {
  firstOrderOf,
  type MarketRecordValue,
  observationsOf,
  orderOfObservation,
  type PlacedMetric,
  versionOrder,
} from '../../storage/records/markets.ts';
import type { MarketInput } from './decide.ts';

/** Usually the first page has all. */
const NEWEST_FIRST = { descending: true, limit: 200 } as const;

/**
 * By metric: the newest standing value of each source, newest first, without the observations that rows identify.
 *
 * Reads nothing in nearly all batches. Otherwise it reads from the newest observation on, until it has a value of each
 * source that the market shows. If a source has no other value, it reads the whole history: that is rare, and a part
 * is in memory at a time.
 *
 * A transaction that is being committed may not be completely visible. Then a value of it can be missed. The commit
 * cannot tell; `verify` finds it, and `repair` sets it right.
 */
export async function readOtherValues(
  ledger: LedgerReader,
  { slug, market, known, rows }: Pick<MarketInput, 'slug' | 'market' | 'known' | 'rows'>,
): Promise<NonNullable<MarketInput['otherValues']>> {
  const found = new Map<string, Map<string, PlacedMetric>>();
  if (market !== null) {
    for (const name of metricsToRead(market.value, known, rows)) found.set(name, new Map());
  }
  if (market === null || found.size === 0) return new Map();
  const isComplete = () => [...found].every(([name, values]) => hasEach(market.value.latest[name], values));
  for await (const items of queryPages(ledger, observationsOf(slug), NEWEST_FIRST)) {
    for (const { value, sort } of items) {
      const order = orderOfObservation({ sort });
      const values = found.get(value.metric);
      if (values === undefined || values.has(value.sourceLabel) || known.has(firstOrderOf(order))) continue;
      if (isShowable(value)) values.set(value.sourceLabel, { metric: metricPart(value), order });
    }
    if (isComplete()) break;
  }
  return new Map([...found].map(([name, values]) => [name, [...values.values()]]));
}

/** The metrics from which a row may take a shown value away. */
function metricsToRead(
  { latest }: MarketRecordValue,
  known: MarketInput['known'],
  rows: MarketInput['rows'],
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { record, order } of rows) {
    const before = order === null ? undefined : known.get(order);
    if (order === null || before === undefined || record.type === 'market') continue;
    const { newest, ordinal } = before;
    const isTaken =
      record.type === 'retraction' ? record.kind === 'mistake' : record.sourceLabel !== newest.sourceLabel;
    const shown = latest[newest.metric];
    if (!isTaken || shown === undefined) continue;
    const place = versionOrder(order, ordinal);
    if (valuesIn(shown).some((value) => value.order === place)) names.add(newest.metric);
  }
  return names;
}

/** While the record has room for more sources, it has every source that has a standing value. */
function hasEach(shown: MarketRecordValue['latest'][string] | undefined, found: ReadonlyMap<string, unknown>): boolean {
  if (found.size >= BY_SOURCE_MAX) return true;
  const sources = shown === undefined ? [] : valuesIn(shown).map(({ metric }) => metric.sourceLabel);
  return sources.length < BY_SOURCE_MAX && sources.every((label) => found.has(label));
}
