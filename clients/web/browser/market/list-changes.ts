/** What a list changed: of each value the one that stood before it. Pure. */
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { decimalOf } from '../../../typescript/decimal-of.ts';
import { unitOf } from './words.ts';

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

/** `−80 %`, `+12.5 %`. Empty: there is no share of zero. */
export function changeText(before: PublicObservation, after: PublicObservation): string {
  const [from, to] = [Number(decimalOf(before)), Number(decimalOf(after))];
  if (!(from > 0)) return '';
  const percent = Math.round(((to - from) / from) * 1000) / 10;
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent).toLocaleString('en')} %`;
}
