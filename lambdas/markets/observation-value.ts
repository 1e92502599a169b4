/**
 * Turns a record into the stored value. Members are in canonical order, so that neither storage nor rendering sorts.
 */
import type { MarketRecord, ObservationRecord, RowError } from '../../contract/ingest/ingest-records.ts';
import { inOrder } from '../../contract/values/canonical-json.ts';
import type { MarketAttributes } from '../../contract/values/market.ts';
import {
  canonicalInstant,
  isUnknown,
  type Metric,
  type Observation,
  RETRACTED,
  type RetractionKind,
} from '../../contract/values/metric.ts';
import { plainDecimal } from '../../contract/values/money/money.ts';
import { announce } from '../../storage/records/announced-values.ts';
import { EMPTY_SUM } from '../../storage/records/history-sum.ts';
import type { MarketRecordValue, NewestValues } from '../../storage/records/markets.ts';
import { metricPart, valuesIn, withValue } from '../../storage/records/newest-values.ts';
import { amountOfRecord } from './rules/amount-rules.ts';
import { restate, withoutComparison } from './rules/standing.ts';

type OwnRule = Pick<MarketRecordValue, 'outliers' | 'outliersReason'>;
type OwnAttributes = Pick<MarketRecordValue, 'attributes'>;
type Definition = OwnRule &
  OwnAttributes &
  Pick<MarketRecordValue, 'kind' | 'name' | 'nativeCurrency' | 'sources' | 'status' | 'unit'>;

/** The market's record before its first observation. */
export function newMarketValue(record: MarketRecord): MarketRecordValue {
  return inOrder({
    ...definitionOf(record, { sources: [] }),
    ...{ firstObservedAt: null, lastObservedAt: null, lastOrder: null, latest: {} },
    ...{ observations: 0, sum: EMPTY_SUM, unknownValues: 0, updatedAt: null },
  });
}

/**
 * The fields of a market's record that its definition sets.
 *
 * @param known the sources, attributes, rule for outliers and unit to use if the definition leaves them out, or keeps them
 */
export function definitionOf(
  record: Omit<MarketRecord, 'type' | 'slug'>,
  known: OwnRule &
    OwnAttributes &
    Pick<MarketRecordValue, 'sources'> &
    Partial<Pick<MarketRecordValue, 'observations' | 'unit'>>,
): Definition {
  const { kind, name, nativeCurrency, sources = known.sources, status, keepUnit = false } = record;
  const unit = (keepUnit && (known.observations ?? 0) > 0 && known.unit) || record.unit;
  return {
    ...attributesOf(record.attributes, known.attributes),
    kind,
    name,
    nativeCurrency,
    ...ruleOf(record, known),
    sources: sources.map(({ attribution, cadence, label, licence, publisher, url }) => {
      // A source without a cadence is stored in the form that was used before cadences existed.
      return { attribution, ...(cadence ? { cadence } : {}), label, licence, publisher, url };
    }),
    status,
    unit: { of: unit.of, quantity: unit.quantity },
  };
}

/** Repeated text of a source is not news: it keeps the moment since which it is known. */
function attributesOf(sent: MarketAttributes | undefined, known: MarketAttributes = {}): OwnAttributes {
  const attributes = Object.entries(sent ?? known).map(([name, { observedAt, sourceLabel, sourceUrl, value }]) => {
    const before = Object.hasOwn(known, name) ? known[name] : undefined;
    const isSame = before?.sourceLabel === sourceLabel && before.value === value;
    const isOlder = before !== undefined && Date.parse(observedAt) < Date.parse(before.observedAt);
    if (before !== undefined && (isSame || isOlder)) return [name, before] as const;
    return [name, { observedAt: canonicalInstant(observedAt), sourceLabel, sourceUrl, value }] as const;
  });
  return attributes.length === 0 ? {} : { attributes: Object.fromEntries(attributes) };
}

function ruleOf({ outliers, outliersReason }: Partial<MarketRecord>, known: OwnRule): OwnRule {
  if (outliers === null) return {};
  if (outliers !== undefined) return { outliers, ...(outliersReason === undefined ? {} : { outliersReason }) };
  return known.outliers === undefined ? {} : ruleOf(known, {});
}

/**
 * The metric of the record; an error if its amount contradicts its source.
 *
 * @param quantity the quantity that one price of the market buys
 */
export function metricOfRecord(record: ObservationRecord, quantity: number): Metric | { readonly error: RowError } {
  const { confidence, sourceLabel, sourceUrl, status, unknownReason } = record;
  const observedAt = canonicalInstant(record.observedAt);
  const releasedAt = record.releasedAt == null ? null : canonicalInstant(record.releasedAt);
  // The members are in the order of canonical JSON: this is computed for every row.
  if (!('currency' in record)) {
    const { rounded, sourceValue, unit, value } = record;
    return {
      ...{ confidence, kind: 'scalar', observedAt, releasedAt, rounded, sourceLabel, sourceUrl, sourceValue, status },
      ...{ unit, unknownReason, value },
    };
  }
  const amount = amountOfRecord(record, quantity);
  if ('error' in amount) return amount;
  const { amountMinor, rounded, sourceValue } = amount;
  const reason = amountMinor === null ? (unknownReason ?? 'withheld') : null;
  return {
    ...{ amountMinor, confidence, currency: record.currency, kind: 'money', observedAt, releasedAt, rounded },
    ...{ sourceLabel, sourceUrl, sourceValue, status, unknownReason: reason },
  };
}

/**
 * The same metric without its value. Its provenance stays, except the time of release: the sender of a retraction does not
 * state when the source withdrew the value.
 */
export function retracted(metric: Metric, kind: RetractionKind | null): Metric {
  const unknownReason = RETRACTED[kind ?? 'withdrawn'];
  const nothing = { releasedAt: null, rounded: false, sourceValue: null, unknownReason } as const;
  return metric.kind === 'money'
    ? { ...metric, ...nothing, amountMinor: null }
    : { ...metric, ...nothing, value: null };
}

/**
 * Whether an observation has exactly the content of a record. A record without `releasedAt` makes no statement about it. Every
 * member of a metric is a plain value.
 *
 * @param metric the metric of the record
 */
export function isSameContent(
  observation: Observation,
  metric: Metric,
  { releasedAt }: Pick<ObservationRecord, 'releasedAt'>,
): boolean {
  if (observation.retraction === 'mistake') return false;
  return Object.entries(metric).every(([name, value]) => {
    if (name === 'releasedAt' && releasedAt === undefined) return true;
    if (name === 'sourceValue') return isSameSpelling(observation.sourceValue, metric.sourceValue);
    return observation[name as keyof Metric] === value;
  });
}

/**
 * Whether the newest standing value of a metric from the same source is older than `order`, and has the same content. For
 * lists, which repeat all their values each day: another moment, release or permanent link is not news.
 */
export function isListedAlready({ latest }: MarketRecordValue, name: string, metric: Metric, order: string): boolean {
  const newest = latest[name] && valuesIn(latest[name]).find((each) => each.metric.sourceLabel === metric.sourceLabel);
  if (newest === undefined || newest.order > order) return false;
  const { observedAt, releasedAt, sourceUrl, sourceValue, ...said } = metric;
  return (
    isSameSpelling(newest.metric.sourceValue, sourceValue) &&
    Object.entries(said).every(([field, value]) => newest.metric[field as keyof Metric] === value)
  );
}

/** Earlier versions stored numbers with exponents in full. A file that is sent again must not correct all of them. */
function isSameSpelling(known: string | null, sent: string | null): boolean {
  return known === sent || (known !== null && sent !== null && plainDecimal(known) === plainDecimal(sent));
}

/** Whether a retraction of this kind changes nothing. A retraction without a kind only states that there is no value. */
export function isTakenBack(observation: Observation, kind: RetractionKind | null): boolean {
  if (kind !== null) return observation.retraction === kind;
  return observation.retraction !== null || isSameContent(observation, retracted(metricPart(observation), null), {});
}

/** Sets the values of a metric that the market shows, in place. */
export function showValues(value: MarketRecordValue, name: string, values: NewestValues | undefined): void {
  const before = value.latest[name]?.order;
  if (values === undefined) delete value.latest[name];
  else value.latest[name] = values;
  if (before !== values?.order) restate(value, (standing) => withoutComparison(standing, name));
}

/** Copies the parts that will be changed in place. Parts that are only replaced are shared. */
export function copiedRecord(value: MarketRecordValue): MarketRecordValue {
  return { ...value, latest: { ...value.latest } };
}

/** Adds an observation to its market's record, in place. */
export function addToRecord(value: MarketRecordValue, observation: Observation, order: string, metric: Metric): void {
  value.observations++;
  if (isUnknown(metric)) value.unknownValues++;
  const { metric: name, retraction } = observation;
  if (retraction !== 'mistake') {
    if (observation.announced) announce(value, name, { metric, order });
    else showValues(value, name, withValue(value.latest[name], { metric, order }));
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
