/**
 * The newest value of each source, for the metrics that a market shows. Pure, and used wherever a market's record is
 * written, recounted or migrated, so that the same observations give the same record.
 */
import { BY_SOURCE_MAX } from '../../contract/files/limits.ts';
import type { Metric } from '../../contract/values/metric.ts';
import type { NewestValues, ObservationValue, PlacedMetric } from './markets.ts';

/** All values of the metric in the record, newest first. */
export function valuesIn({ order, metric, others = [] }: NewestValues): readonly PlacedMetric[] {
  return [{ metric, order }, ...others];
}

/**
 * The newest value of each source among these, which may be in any order. Sources are distinguished by label. If there are
 * too many sources, those with the newest values count. Undefined if there is no value.
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

/** The same values with one more. If they hold a version of its observation, that version must not be newer. */
export function withValue(values: NewestValues | undefined, value: PlacedMetric): NewestValues {
  // A shortcut, because nearly all feeds have one source.
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
