/**
 * The values of a metric that a market shows: the newest one of each source. Pure, and used wherever a market's record
 * is written, recounted or migrated, so that the same observations give the same record.
 */
import { BY_SOURCE_MAX } from '../../contract/files/limits.ts';
import type { Metric } from '../../contract/values/metric.ts';
import type { NewestValues, ObservationValue, PlacedMetric } from './markets.ts';

/** All values of the metric in the record, newest first. */
export function valuesIn({ order, metric, others = [] }: NewestValues): readonly PlacedMetric[] {
  return [{ metric, order }, ...others];
}

/**
 * The newest value of each source among these, in any order. A source is a label. Of many sources, those with the
 * newest values. Undefined if there is no value.
 */
export function newestValues(values: Iterable<PlacedMetric>): NewestValues | undefined {
  const bySource = new Map<string, PlacedMetric>();
  for (const value of values) {
    const { sourceLabel } = value.metric;
    const other = bySource.get(sourceLabel);
    if (other === undefined || other.order < value.order) bySource.set(sourceLabel, value);
  }
  const sorted = [...bySource.values()].sort((left, right) => (left.order < right.order ? 1 : -1));
  const [newest, ...others] = sorted.slice(0, BY_SOURCE_MAX);
  if (newest === undefined) return undefined;
  const { metric, order } = newest;
  return others.length === 0 ? { metric, order } : { metric, order, others };
}

/** The same with one more value, which is not older than the version of its observation that they may have. */
export function withValue(values: NewestValues | undefined, value: PlacedMetric): NewestValues {
  // Nearly all feeds have one source.
  if (values === undefined || (values.others === undefined && isNewer(value, values))) {
    return { metric: value.metric, order: value.order };
  }
  return newestValues([...valuesIn(values), value]) as NewestValues;
}

function isNewer(value: PlacedMetric, than: PlacedMetric): boolean {
  return value.metric.sourceLabel === than.metric.sourceLabel && value.order > than.order;
}

export function metricPart(observation: ObservationValue): Metric {
  const { announced, firstRevision, id, metric, publicReason, recordedAt, ...rest } = observation;
  const { retraction, supersededAt, supersededBy, supersedes, ...part } = rest;
  return part as Metric;
}
