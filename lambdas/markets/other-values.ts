/**
 * Reads the values that a market shows once a shown one is taken away: by a retraction of the kind `mistake`, or by a
 * correction that names another source or announces the value.
 */
import { isShowable } from '../../contract/values/showable.ts';
import { HistorySum } from '../../storage/ports/history-sum.ts';
import type { LedgerReader } from '../../storage/ports/ledger.ts';
import { metricPart, valuesIn, withValue } from '../../storage/ports/newest-values.ts';
import { queryPages } from '../../storage/ports/paging.ts';
import {
  firstOrderOf,
  type MarketRecordValue,
  type NewestValues,
  observationsOf,
  orderOfObservation,
  versionOrder,
} from '../../storage/records/markets.ts';
import { Contended } from '../worker/contended.ts';
import type { MarketInput } from './market-decision.ts';

/**
 * By metric: the newest standing values, as a market shows them, without the observations that rows identify.
 *
 * Reads nothing in nearly all batches. Otherwise it reads the whole history, a part at a time: the transaction before
 * may not be completely visible yet, and only the sum of all observations shows that no value is missing.
 *
 * @throws Contended if they do not come to the record's sum: retry later
 */
export async function readOtherValues(
  ledger: LedgerReader,
  { slug, market, known, rows }: Pick<MarketInput, 'slug' | 'market' | 'known' | 'rows'>,
): Promise<NonNullable<MarketInput['otherValues']>> {
  const found = new Map<string, NewestValues | null>();
  if (market === null) return new Map();
  for (const name of metricsToRead(market.value, known, rows)) found.set(name, null);
  if (found.size === 0) return new Map();
  const sum = new HistorySum();
  for await (const items of queryPages(ledger, observationsOf(slug))) {
    for (const item of items) {
      // The decision is about this revision, and its commit is refused if there is a later one.
      if (item.revision > market.revision) continue;
      const order = orderOfObservation(item);
      sum.add(order, item.revision);
      const { value } = item;
      const values = found.get(value.metric);
      if (values === undefined || !isShowable(value) || known.has(firstOrderOf(order))) continue;
      found.set(value.metric, withValue(values ?? undefined, { metric: metricPart(value), order }));
    }
  }
  if (sum.text !== market.value.sum) {
    throw new Contended(`${slug}: its observations do not come to the sum of revision ${market.revision} yet`);
  }
  return new Map([...found].map(([name, values]) => [name, values === null ? [] : valuesIn(values)]));
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
      record.type === 'retraction'
        ? record.kind === 'mistake'
        : record.sourceLabel !== newest.sourceLabel || record.announced !== undefined;
    const shown = latest[newest.metric];
    if (!isTaken || shown === undefined) continue;
    const place = versionOrder(order, ordinal);
    if (valuesIn(shown).some((value) => value.order === place)) names.add(newest.metric);
  }
  return names;
}
