/** Changes: of a price over some time, and of each value in a list from the value before it. Pure. */

import type { PricePoint } from '../../../../contract/bodies/price-before.ts';
import {
  CHANGE_SPANS,
  changeShare,
  type PriceChange,
  percentText,
  priceChange,
  shownSeries,
} from '../../../../contract/bodies/price-change.ts';
import { RECENT_ROWS_MAX } from '../../../../contract/files/limits.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { isShowable } from '../../../../contract/values/showable.ts';
import { decimalOf } from '../../../typescript/decimal-of.ts';
import type { RowWords } from '../market/row-words.ts';
import { unitOf } from '../market/words.ts';
import type { HistoryView } from './as-of-view.ts';

/**
 * Of each row the one before it, of the same metric, source and unit, if both have values, and other ones.
 *
 * @param visible newest first
 */
export function valuesBefore(visible: readonly PublicObservation[]): ReadonlyMap<string, PublicObservation> {
  const newer = new Map<string, PublicObservation>();
  const before = new Map<string, PublicObservation>();
  for (const row of visible) {
    if (row.announced || decimalOf(row) === null) continue;
    const series = [row.metric, row.sourceLabel, unitOf(row)].join('\n');
    const next = newer.get(series);
    if (next !== undefined && decimalOf(next) !== decimalOf(row)) before.set(next.id, row);
    newer.set(series, row);
  }
  return before;
}

/** `−80 %`. Empty: there is no share of zero. */
export function changeText(before: PublicObservation, after: PublicObservation): string {
  const share = changeShare(decimalOf(before), decimalOf(after));
  return share === null ? '' : percentText(share);
}

export interface PriceChanges {
  /** The shortest span first. */
  readonly changes: readonly (PriceChange | null)[];
  /** Of the changes, if it is not that of the price. */
  readonly otherSource: string | null;
}

/** Among the prices of {@link shownSeries}. */
export function priceChanges({ visible, metrics }: HistoryView): PriceChanges {
  const newest = metrics.price?.sourceLabel;
  const source = shownSource(visible) ?? newest;
  return {
    changes: CHANGE_SPANS.map((span) => priceChange(pricesOf(visible, source), span)),
    otherSource: source === undefined || source === newest ? null : source,
  };
}

function shownSource(visible: readonly PublicObservation[]): string | null {
  const prices = visible.slice(0, RECENT_ROWS_MAX).filter(isPrice);
  const series = [...Map.groupBy(prices, ({ sourceLabel }) => sourceLabel)].map(([source, rows]) => ({
    source,
    known: rows.filter((row) => decimalOf(row) !== null).length,
    newestAt: (rows[0] as PublicObservation).observedAt,
  }));
  return shownSeries(series)?.source ?? null;
}

const isPrice = (row: PublicObservation): boolean => row.metric === 'price' && !row.announced && isShowable(row);

/** Only as far as they are read: a long history is not gone through. */
function* pricesOf(visible: readonly PublicObservation[], source: string | undefined): Generator<PricePoint> {
  for (const row of visible) {
    if (row.sourceLabel === source && isPrice(row)) yield { decimal: decimalOf(row), observedAt: row.observedAt };
  }
}

/** `was 5.00 USD, −50 %`, by the id of the row. */
export function changesIn({ visible }: HistoryView, words: RowWords): ReadonlyMap<string, string> {
  const before = valuesBefore(visible);
  const changed = visible.flatMap((row) => {
    const last = before.get(row.id);
    if (last === undefined) return [];
    return [[row.id, [`was ${words.value(last)}`, changeText(last, row)].filter(Boolean).join(', ')] as const];
  });
  return new Map(changed);
}
