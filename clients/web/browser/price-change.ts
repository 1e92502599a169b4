/** By how much a price has changed in a day, a month or a year. Pure. */

/** A price and its moment. */
export interface PricePoint {
  /** Exact. Null: unknown. */
  readonly decimal: string | null;
  /** RFC 3339 in UTC. */
  readonly observedAt: string;
}

export type ChangeSpan = 'day' | 'month' | 'year';

export interface PriceChange {
  /** A share: 0.01 is one percent. */
  readonly share: number;
  /** The moment of the price that is compared. */
  readonly since: string;
}

const DAY_MS = 86_400_000;
/** In days. Markets rest on weekends and holidays, so a price of some days before stands in. */
const SPANS: Readonly<Record<ChangeSpan, { readonly least: number; readonly aim: number; readonly most: number }>> = {
  day: { least: 0.5, aim: 1, most: 4 },
  month: { least: 25, aim: 30, most: 36 },
  year: { least: 350, aim: 365, most: 380 },
};

/** Null: a price is unknown or zero, or none is from about that time. @param newestFirst prices of one source */
export function priceChange(newestFirst: Iterable<PricePoint>, span: ChangeSpan): PriceChange | null {
  const { least, aim, most } = SPANS[span];
  let newest: PricePoint | null = null;
  let found: { readonly point: PricePoint; readonly off: number } | null = null;
  for (const point of newestFirst) {
    newest ??= point;
    const days = (Date.parse(newest.observedAt) - Date.parse(point.observedAt)) / DAY_MS;
    if (days > most) break;
    const off = Math.abs(days - aim);
    if (days >= least && point.decimal !== null && off < (found?.off ?? Infinity)) found = { point, off };
  }
  const share = found === null ? null : changeShare(found.point.decimal, newest?.decimal ?? null);
  return found === null || share === null ? null : { share, since: found.point.observedAt };
}

/** Null: there is no share of zero, of a negative number, or of an unknown one. */
export function changeShare(before: string | null, after: string | null): number | null {
  if (before === null || after === null || !(Number(before) > 0)) return null;
  return (Number(after) - Number(before)) / Number(before);
}

/** `−80 %`, `+12.5 %`, `0 %`. @param decimals the fewest; at most two */
export function percentText(share: number, decimals: 0 | 2 = 0): string {
  const percent = Math.round(share * 10_000) / 100;
  const sign = percent < 0 ? '−' : percent > 0 ? '+' : '';
  return `${sign}${Math.abs(percent).toLocaleString('en', { minimumFractionDigits: decimals })} %`;
}
