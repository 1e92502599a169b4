import type {
  IngestMode,
  IngestRecord,
  ObservationRecord,
  RowError,
  RowErrorCode,
} from '../../contract/ingest/ingest-records.ts';
import type { ShownBeside, ShownWithheld } from '../../contract/ingest/row-counts.ts';
import type { Unit } from '../../contract/values/market.ts';
import type { Metric, Observation } from '../../contract/values/metric.ts';
import type { Change, Item, PutChange } from '../../storage/ports/ledger.ts';
import type { MarketRecordValue, PlacedMetric } from '../../storage/records/markets.ts';
import { valuesIn } from '../../storage/records/newest-values.ts';
import type { Row } from './rows.ts';
import type { NeighboursRead } from './rules/outlier.ts';

export type RowOutcome =
  /**
   * @param counts the part of the accepted rows that it belongs to. Absent: the values
   * @param corrects the newest version of a known observation, with the content that replaces it
   * @param beside the value of the same source that stands at the same moment with another URL
   * @param withheld a price that rounds to zero, and so is unknown
   */
  | {
      readonly kind: 'accepted';
      readonly counts?: 'newMarkets' | 'changedMarkets' | 'retractions';
      readonly corrects?: { readonly from: Observation; readonly to: Metric; readonly unit: Unit };
      readonly beside?: ShownBeside;
      readonly withheld?: ShownWithheld;
    }
  /** @param isRetracted whether the row gives a value that was retracted, and stays so */
  | { readonly kind: 'unchanged'; readonly isRetracted?: true }
  | { readonly kind: 'refused'; readonly error: RowError };

export function refused(code: RowErrorCode, pointer: string, detail: string): RowOutcome {
  return { kind: 'refused', error: { pointer, code, detail } };
}

/** The outcome of a row that gives what is known of its observation. */
export function unchangedOutcome({ type }: IngestRecord, { newest }: KnownObservation): RowOutcome {
  return type === 'observation' && newest.retraction !== null
    ? { kind: 'unchanged', isRetracted: true }
    : { kind: 'unchanged' };
}

/**
 * The outcome of a row with a new observation. Compares it with the newest values only, because they are in the record.
 *
 * @param before the market before the batch: two rows of one batch may have two URLs
 */
export function newOutcome(
  { market, metric }: ObservationRecord,
  value: Metric,
  before: MarketRecordValue | null,
): RowOutcome {
  const { observedAt, sourceLabel, sourceUrl } = value;
  const newest = before?.latest[metric];
  const known = newest && valuesIn(newest).find((each) => each.metric.sourceLabel === sourceLabel)?.metric;
  if (known === undefined || known.observedAt !== observedAt || known.sourceUrl === sourceUrl)
    return { kind: 'accepted' };
  return {
    kind: 'accepted',
    beside: { market, metric, observedAt, sourceLabel, sourceUrl, knownUrl: known.sourceUrl },
  };
}

/** The price that the record states and the metric lacks: see `amountOfRecord`. */
export function withheldBy(
  { market, metric, unknownReason }: ObservationRecord,
  { observedAt, sourceValue, unknownReason: reason }: Metric,
): { readonly withheld?: ShownWithheld } {
  if (reason === null || unknownReason !== null || sourceValue === null) return {};
  return { withheld: { market, metric, observedAt, sourceValue } };
}

/** The effect of one transaction on a market. */
export interface MarketDecision {
  readonly slug: string;
  /** The next revision of the market's record; null if the market is unchanged. */
  readonly record: PutChange<MarketRecordValue> | null;
  /** The record comes first. Without a record, there are only checks that rows are really `unchanged`, or nothing. */
  readonly changes: readonly Change[];
  /** By row index. */
  readonly outcomes: ReadonlyMap<number, RowOutcome>;
}

/** The versions of an observation that a decision needs. `first` is the version that was appended. */
export interface KnownObservation {
  readonly first: Observation;
  readonly newest: Observation;
  /** The newest version that is not a retraction: the last stated value. */
  readonly stated: Observation;
  /** The number of versions before the newest one. */
  readonly ordinal: number;
  /** The revision of the newest version's item. */
  readonly revision: number;
}

export interface MarketInput {
  readonly slug: string;
  /** The market's record; null if the market is new. Then its definition must be the first row. */
  readonly market: Item<MarketRecordValue> | null;
  /** The observations that the rows identify, by {@link orderKey} with ordinal 0. */
  readonly known: ReadonlyMap<string, KnownObservation>;
  readonly rows: readonly Row[];
  readonly mode: IngestMode;
  /** RFC 3339. It becomes `recordedAt`, unless the market was changed at a later time: then that time does. */
  readonly recordedAt: string;
  /** By metric: see `readOtherValues`. Default: every observation of the market is known. */
  readonly otherValues?: ReadonlyMap<string, readonly PlacedMetric[]> | undefined;
  /** The neighbours of new values in the ledger, for finding outliers. Without it, no value is an outlier. */
  readonly neighbours?: NeighboursRead;
  /** The announced values that come first once rows have taken others away, by their order: see `announced.ts`. */
  readonly announced?: ReadonlyMap<string, Metric>;
}
