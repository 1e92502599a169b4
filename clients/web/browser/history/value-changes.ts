/** Changes of a price over some time, and of each value of a list since its previous value. Pure. */

import type { PricePoint } from '../../../../contract/bodies/price-before.ts';
import {
  CHANGE_SPANS,
  changeShare,
  type PriceChanges,
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
 * For each row the previous one with the same metric, source and unit, if both have values, and these differ.
 *
 * @param visible newest first
 */
export function valuesBefore(visible: readonly PublicObservation[]): ReadonlyMap<string, PublicObservation> {
  const newer = new Map<string, PublicObservation>();
  const before = new Map<string, PublicObservation>();
  for (const row of visible) {
    if (!hasValue(row)) continue;
    const series = seriesOf(row);
    const next = newer.get(series);
    if (next !== undefined && decimalOf(next) !== decimalOf(row)) before.set(next.id, row);
    newer.set(series, row);
  }
  return before;
}

export interface ValueChange {
  /** The last row with another value. */
  readonly before: PublicObservation;
  /** The first row with the value of today. Rows after it may repeat the value. */
  readonly after: PublicObservation;
}

/** The last change of the value of `row`. Null: the rows have no other value of the same metric, source and unit. */
export function lastChange(visible: readonly PublicObservation[], row: PublicObservation): ValueChange | null {
  const series = seriesOf(row);
  let after = row;
  for (const before of visible.slice(visible.indexOf(row))) {
    if (!hasValue(before) || seriesOf(before) !== series) continue;
    if (decimalOf(before) !== decimalOf(row)) return { before, after };
    after = before;
  }
  return null;
}

const hasValue = (row: PublicObservation): boolean => !row.announced && decimalOf(row) !== null;

function seriesOf(row: PublicObservation): string {
  return [row.metric, row.sourceLabel, unitOf(row)].join('\n');
}

/** `−80 %`. Empty if no share can be stated, such as after a value of zero. */
export function changeText(before: PublicObservation, after: PublicObservation): string {
  const share = changeShare(decimalOf(before), decimalOf(after));
  return share === null ? '' : percentText(share);
}

/** Changes among the prices of {@link shownSeries}. */
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

/** Reads only as many rows as needed, because a history may be long. */
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
