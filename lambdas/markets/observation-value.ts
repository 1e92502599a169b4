/**
 * Turns a record into the stored value. Members are in canonical order, so that neither storage nor rendering sorts.
 */
import type { MarketRecord, ObservationRecord, RowError } from '../../contract/ingest-records.ts';
import type { Source } from '../../contract/market.ts';
import { canonicalInstant, isUnknown, type Metric, type Observation } from '../../contract/metric.ts';
import { EMPTY_SUM } from '../../storage/history-sum.ts';
import type { MarketRecordValue } from '../../storage/records/markets.ts';
import { amountOfRecord } from './amount-rules.ts';
import { restate, withoutComparison } from './standing.ts';

type Definition = Pick<MarketRecordValue, 'kind' | 'name' | 'nativeCurrency' | 'sources' | 'status' | 'unit'>;

/** The market's record before its first observation. */
export function newMarketValue(record: MarketRecord): MarketRecordValue {
  const { kind, name, nativeCurrency, sources, status, unit } = definitionOf(record, []);
  return {
    firstObservedAt: null,
    kind,
    lastObservedAt: null,
    lastOrder: null,
    latest: {},
    name,
    nativeCurrency,
    observations: 0,
    sources,
    status,
    sum: EMPTY_SUM,
    unit,
    unknownValues: 0,
  };
}

/**
 * The fields of a market's record that its definition sets.
 *
 * @param known the sources of a definition that leaves them out
 */
export function definitionOf(
  record: Omit<Definition, 'sources'> & Partial<Definition>,
  known: readonly Source[],
): Definition {
  const { kind, name, nativeCurrency, sources = known, status, unit } = record;
  return {
    kind,
    name,
    nativeCurrency,
    sources: sources.map(({ attribution, label, licence, publisher, url }) => ({
      attribution,
      label,
      licence,
      publisher,
      url,
    })),
    status,
    unit: { of: unit.of, quantity: unit.quantity },
  };
}

/**
 * The metric that the record gives; an error if its amount disagrees with its source.
 *
 * @param quantity that one price of the market buys
 */
export function metricOfRecord(record: ObservationRecord, quantity: number): Metric | { readonly error: RowError } {
  const { confidence, sourceLabel, sourceUrl, status, unknownReason } = record;
  const observedAt = canonicalInstant(record.observedAt);
  if ('currency' in record) {
    const amount = amountOfRecord(record, quantity);
    if ('error' in amount) return amount;
    const { amountMinor, rounded, sourceValue } = amount;
    const provenance = { observedAt, rounded, sourceLabel, sourceUrl, sourceValue, status };
    return { amountMinor, confidence, currency: record.currency, kind: 'money', ...provenance, unknownReason };
  }
  const { rounded, sourceValue, unit, value } = record;
  const provenance = { observedAt, rounded, sourceLabel, sourceUrl, sourceValue, status };
  return { confidence, kind: 'scalar', ...provenance, unit, unknownReason, value };
}

/** The same metric with its value withheld. Its provenance stays. */
export function retracted(metric: Metric): Metric {
  const nothing = { rounded: false, sourceValue: null, unknownReason: 'withheld' } as const;
  return metric.kind === 'money'
    ? { ...metric, ...nothing, amountMinor: null }
    : { ...metric, ...nothing, value: null };
}

export function observationOf(
  metric: Metric,
  { id, metric: name, recordedAt, supersededBy, supersedes }: Omit<Observation, keyof Metric>,
): Observation {
  const { confidence, observedAt, rounded, sourceLabel, sourceUrl, sourceValue, status, unknownReason } = metric;
  const provenance = { observedAt, recordedAt, rounded, sourceLabel, sourceUrl, sourceValue, status };
  const links = { supersededBy, supersedes };
  if (metric.kind === 'money') {
    const { amountMinor, currency, kind } = metric;
    return { amountMinor, confidence, currency, id, kind, metric: name, ...provenance, ...links, unknownReason };
  }
  const { kind, unit, value } = metric;
  return { confidence, id, kind, metric: name, ...provenance, ...links, unit, unknownReason, value };
}

/** The metric of an observation. */
export function metricPart({ id, metric, recordedAt, supersedes, supersededBy, ...part }: Observation): Metric {
  return part as Metric;
}

/** Whether an observation has exactly this content. Every member of a metric is a plain value. */
export function isSameContent(observation: Observation, metric: Metric): boolean {
  return Object.entries(metric).every(([name, value]) => observation[name as keyof Metric] === value);
}

/** Adds an observation to its market's record, in place. */
export function addToRecord(value: MarketRecordValue, name: string, order: string, metric: Metric): void {
  value.observations++;
  if (isUnknown(metric)) value.unknownValues++;
  const latest = value.latest[name];
  if (latest === undefined || latest.order < order) {
    value.latest[name] = { metric, order };
    restate(value, (standing) => withoutComparison(standing, name));
  }
  const { observedAt } = metric;
  // The order begins with the instant, so the greatest order is the latest observation.
  if (value.lastOrder === null || value.lastOrder < order) {
    value.lastOrder = order;
    value.lastObservedAt = observedAt;
    value.firstObservedAt ??= observedAt;
  } else if (value.firstObservedAt === null || Date.parse(observedAt) < Date.parse(value.firstObservedAt)) {
    value.firstObservedAt = observedAt;
  }
}
