/** The order of the explorer's rows. Pure. */

import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { newestMoment } from '../../../../contract/bodies/latest-words.ts';
import type { ChangeSpan, PricePoint } from '../../../../contract/bodies/price-before.ts';
import { changeSince, type PriceChange, priceChange } from '../../../../contract/bodies/price-change.ts';
import type { RecentEntry } from '../../../../contract/bodies/recent-prices.ts';
import type { ChangeShares } from './daily-changes.ts';

/** Inputs of an order besides the entries. */
export interface OrderContext {
  /** The last prices, by slug. */
  readonly recent: ReadonlyMap<string, RecentEntry>;
  /** The changes by slug, if they come from other files than {@link recent}. */
  readonly shares: ReadonlyMap<string, ChangeShares> | null;
}

const NAMES = new Intl.Collator('en', { numeric: true });

/**
 * Equal ones by name, then by slug. Unknown values come last in both directions. Prices are compared within their currency; the
 * currencies come by name. @param sort as `ListView` has it */
export function sortedEntries(
  entries: readonly LatestEntry[],
  { sort, isDescending }: { readonly sort: string; readonly isDescending: boolean },
  context: OrderContext,
): readonly LatestEntry[] {
  const keyOf = keyOfSort(sort, context);
  const sign = isDescending ? -1 : 1;
  // Each key is computed once, because many comparisons use it.
  const keyed = entries.map((entry) => ({ entry, key: keyOf(entry) }));
  keyed.sort(({ entry: left, key: one }, { entry: right, key: other }) => {
    if (sort === 'price' && one !== null && other !== null && left.currency !== right.currency)
      return left.currency < right.currency ? -1 : 1;
    if (one === other) {
      const byName = NAMES.compare(left.name, right.name) || (left.slug < right.slug ? -1 : 1);
      return byName * (sort === 'name' ? sign : 1);
    }
    if (one === null) return 1;
    if (other === null) return -1;
    return one < other ? -sign : sign;
  });
  return keyed.map(({ entry }) => entry);
}

/** The change over the last prices of a market. Null: the file does not go back far enough. */
export function changeOf(recent: RecentEntry | undefined, span: ChangeSpan): PriceChange | null {
  if (recent === undefined) return null;
  const prices = newestFirst(recent);
  if (span !== 'year') return priceChange(prices, span);
  return changeSince(recent.yearAgo ?? null, prices.next().value ?? null);
}

function* newestFirst({ decimal, observedAt }: RecentEntry): Generator<PricePoint, undefined> {
  for (let at = observedAt.length - 1; at >= 0; at--)
    yield { decimal: decimal[at] ?? null, observedAt: observedAt[at] as string };
}

type Key = number | string | null;

function keyOfSort(sort: string, { recent, shares }: OrderContext): (entry: LatestEntry) => Key {
  switch (sort) {
    case 'name':
      return () => 0;
    case 'price':
      return perUnit;
    case 'day':
    case 'month':
    case 'year':
      if (shares !== null) return ({ slug }) => shares.get(slug)?.[sort] ?? null;
      return ({ slug }) => changeOf(recent.get(slug), sort)?.share ?? null;
    case 'age':
      return (entry) => {
        const moment = newestMoment(entry);
        return moment === null ? null : -Date.parse(moment);
      };
    default:
      return ({ metrics }) => (Object.hasOwn(metrics ?? {}, sort) ? metricNumber(metrics?.[sort]) : null);
  }
}

/** A floating-point number is exact enough for an order. Per unit, because markets have different quantities. */
function perUnit({ decimal, decimalPerUnit, quantity }: LatestEntry): number | null {
  if (decimal === null) return null;
  return decimalPerUnit === null ? Number(decimal) / quantity : Number(decimalPerUnit);
}

function metricNumber(metric: NonNullable<LatestEntry['metrics']>[string] | undefined): number | null {
  const digits = metric?.decimalPerUnit ?? metric?.decimal ?? null;
  return digits === null ? null : Number(digits);
}
