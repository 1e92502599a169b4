/**
 * The announced values in a market's record. Pure, and used wherever the record is written or recounted, so that the same
 * observations give the same record.
 *
 * The record names every announced value, but has only the content of the first one of each metric. So a writer finds the
 * others by their keys, and needs no query.
 */
import { millisecondInstant } from '../../contract/values/instants.ts';
import type { Metric } from '../../contract/values/metric.ts';
import type { AnnouncedValues, MarketRecordValue, PlacedMetric } from './markets.ts';

/** The most standing announced values of one market: each takes up to 90 bytes of its record. */
export const ANNOUNCED_VALUES_MAX = 500;

type Announcing = Pick<MarketRecordValue, 'announced'>;

/**
 * The places of all announced values of a metric: by moment, and for one moment in the order by which the newest value is
 * chosen.
 */
export function announcedPlaces(values: AnnouncedValues | undefined): readonly string[] {
  return values === undefined ? [] : [values.order, ...(values.later ?? [])];
}

/** The number of announced values of all metrics. */
export function countAnnounced({ announced = {} }: Announcing): number {
  return Object.values(announced).reduce((count, { later = [] }) => count + 1 + later.length, 0);
}

/** When the next announced value becomes effective, with milliseconds; null: the market has none. */
export function nextEffectiveAt({ announced = {} }: Announcing): string | null {
  const moments = Object.values(announced).map(({ order }) => momentOf(order));
  return moments.length === 0 ? null : moments.reduce((first, moment) => (moment < first ? moment : first));
}

/** Whether the value at this place is effective at this moment. */
export function isEffectiveAt(order: string, at: string): boolean {
  return momentOf(order) <= millisecondInstant(at);
}

/** Adds an announced value to a market's record, in place. */
export function announce(value: Announcing, name: string, { order, metric }: PlacedMetric): void {
  const before = value.announced?.[name];
  const places = [...announcedPlaces(before), order];
  set(value, name, places, (place) => (place === order ? metric : (before?.metric as Metric)));
}

/**
 * Removes an announced value from a market's record, in place. Does nothing if the record lacks it.
 *
 * @param contentOf gives the value at the place that is then the first
 */
export function unannounce(value: Announcing, name: string, order: string, contentOf: (order: string) => Metric): void {
  const before = value.announced?.[name];
  const places = announcedPlaces(before);
  if (before === undefined || !places.includes(order)) return;
  const left = places.filter((place) => place !== order);
  set(value, name, left, (place) => (place === before.order ? before.metric : contentOf(place)));
}

function set(value: Announcing, name: string, places: readonly string[], contentOf: (order: string) => Metric): void {
  const { [name]: _, ...others } = value.announced ?? {};
  const [order, ...later] = places.toSorted(byMoment);
  if (order !== undefined) {
    value.announced = { ...others, [name]: { metric: contentOf(order), order, ...(later.length > 0 && { later }) } };
  } else if (Object.keys(others).length > 0) value.announced = others;
  else delete value.announced;
}

function byMoment(left: string, right: string): number {
  if (momentOf(left) !== momentOf(right)) return momentOf(left) < momentOf(right) ? -1 : 1;
  return left > right ? -1 : 1;
}

/** An order begins with its moment. */
function momentOf(order: string): string {
  return order.slice(0, '2026-01-01T00:00:00.000Z'.length);
}
