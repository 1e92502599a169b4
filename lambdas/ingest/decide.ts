/**
 * What a batch does to one market. Pure: (what the ledger holds, rows) → changes and outcomes.
 *
 * An observation is identified by market, metric, `observedAt` and source. Seen again with the same content it is
 * `unchanged`; with other content it is a conflict, unless the batch says that it corrects: then a new observation
 * supersedes the old one, which stays.
 */
import { canonicalJson, type Json } from '../../contract/canonical-json.ts';
import type { MarketRecord, ObservationRecord, RowError, RowErrorCode } from '../../contract/ingest-records.ts';
import { MARKET_METRICS_MAX } from '../../contract/limits.ts';
import { canonicalInstant, isUnknown, type Metric, type Observation } from '../../contract/metric.ts';
import type { Change, Item } from '../../storage/ledger.ts';
import {
  dirtyHistoryKey,
  dirtyMarketKey,
  type MarketRecordValue,
  marketIndexKey,
  marketKey,
  observationId,
  observationKey,
  orderKey,
} from '../../storage/records.ts';

/** `append` refuses other content for a known observation; `correct` supersedes it. */
export type IngestMode = 'append' | 'correct';

/** One row of a batch, with its place in it. */
export interface Row<Record extends MarketRecord | ObservationRecord = MarketRecord | ObservationRecord> {
  readonly index: number;
  readonly record: Record;
}

export type RowOutcome =
  | { readonly kind: 'accepted' | 'unchanged' }
  | { readonly kind: 'refused'; readonly error: RowError };

export interface MarketDecision {
  readonly slug: string;
  /** Empty when nothing changes. Holds at most `2 × rows + 4` changes. */
  readonly changes: readonly Change[];
  /** By row index. */
  readonly outcomes: ReadonlyMap<number, RowOutcome>;
}

/** The versions of an observation that a decision needs: the first, which was appended, and the newest. */
export interface KnownObservation {
  readonly first: Observation;
  readonly newest: Observation;
  /** How many versions came before the newest. */
  readonly ordinal: number;
}

export interface MarketInput {
  readonly slug: string;
  /** The market's record, null when it is new: then the rows must define it first. */
  readonly market: Item | null;
  /** The observations that the rows identify, by {@link orderKey} with ordinal 0. */
  readonly known: ReadonlyMap<string, KnownObservation>;
  readonly rows: readonly Row[];
  readonly mode: IngestMode;
  /** RFC 3339: becomes `recordedAt`. */
  readonly recordedAt: string;
}

/** Decides every row of one market, in order, as one transaction: a definition comes before what it defines. */
export function decideMarket(input: MarketInput): MarketDecision {
  const draft = new MarketDraft(input);
  for (const row of input.rows) draft.apply(row);
  return { slug: input.slug, changes: draft.changes(), outcomes: draft.outcomes };
}

const ACCEPTED: RowOutcome = { kind: 'accepted' };
const UNCHANGED: RowOutcome = { kind: 'unchanged' };

class MarketDraft {
  readonly outcomes = new Map<number, RowOutcome>();
  readonly #input: MarketInput;
  readonly #known: Map<string, KnownObservation>;
  readonly #observationChanges = new Map<string, Change>();
  #value: MarketRecordValue | null;
  #revision: number;
  #earliestRewritten: string | null = null;
  readonly #lastOrderBefore: string;

  constructor(input: MarketInput) {
    this.#input = input;
    this.#lastOrderBefore = (input.market?.value as MarketRecordValue | undefined)?.lastOrder ?? '';
    this.#known = new Map(input.known);
    this.#value = input.market && structuredClone(input.market.value as MarketRecordValue);
    this.#revision = input.market?.revision ?? 0;
  }

  apply({ index, record }: Row): void {
    this.outcomes.set(index, record.type === 'market' ? this.#define(record) : this.#observe(record));
  }

  #define(record: MarketRecord): RowOutcome {
    const { name, kind, status, nativeCurrency, unit, sources } = record;
    const definition = { kind, name, nativeCurrency, sources, status, unit };
    if (this.#value === null) {
      this.#value = {
        ...definition,
        latest: {},
        observations: 0,
        unknownValues: 0,
        firstObservedAt: null,
        lastObservedAt: null,
        lastOrder: null,
      };
      return ACCEPTED;
    }
    if (isSame(definitionOf(this.#value), definition)) return UNCHANGED;
    if (this.#value.observations > 0) {
      const detail = 'is fixed once a market has observations, which are quoted in it: use a new slug';
      if (this.#value.nativeCurrency !== nativeCurrency) return refused('conflict.existing', '/nativeCurrency', detail);
      if (!isSame(this.#value.unit, unit)) return refused('conflict.existing', '/unit', detail);
    }
    Object.assign(this.#value, definition);
    this.#revision++;
    return ACCEPTED;
  }

  #observe(record: ObservationRecord): RowOutcome {
    const value = this.#value;
    // Both were checked with the batch, but against a market that others may have changed since.
    if (value === null) {
      return refused('market.unknown', '/market', `no market ${record.market}: define it with a market record`);
    }
    if (record.metric === 'price' && 'currency' in record && record.currency !== value.nativeCurrency) {
      return refused('currency.not-native', '/currency', `the market's prices are in ${value.nativeCurrency}`);
    }
    if (value.latest[record.metric] === undefined && Object.keys(value.latest).length >= MARKET_METRICS_MAX) {
      return refused(
        'record.invalid',
        '/metric',
        `a market has at most ${MARKET_METRICS_MAX} metrics: use another market`,
      );
    }
    const identity = { market: record.market, metric: record.metric, observedAt: record.observedAt };
    const first = orderKey({ ...identity, sourceUrl: record.sourceUrl, ordinal: 0 });
    const metric = metricOf(record);
    const before = this.#known.get(first);
    if (before !== undefined) {
      // A batch that is applied again after a correction brings the first version again, not a conflict.
      const same = this.#input.mode === 'append' ? before.first : before.newest;
      if (isSame(metricPart(same), metric) || isSame(metricPart(before.newest), metric)) return UNCHANGED;
      if (this.#input.mode === 'append') {
        const detail = 'this market, metric, observedAt and source have other content already: correct it, or leave it';
        return refused('conflict.existing', '', detail);
      }
    }
    const ordinal = before === undefined ? 0 : before.ordinal + 1;
    const versioned = { ...identity, sourceUrl: record.sourceUrl, ordinal };
    const order = orderKey(versioned);
    const observation = observationOf(metric, {
      id: observationId(versioned),
      metric: record.metric,
      recordedAt: this.#input.recordedAt,
      supersedes: before?.newest.id ?? null,
      supersededBy: null,
    });
    if (before !== undefined) this.#supersede(identity, record.sourceUrl, before, observation.id);
    this.#put(order, observation, { kind: 'absent' });
    this.#known.set(first, { first: before?.first ?? observation, newest: observation, ordinal });
    this.#count(value, record.metric, order, metric);
    return ACCEPTED;
  }

  /** The old observation stays, and says what corrects it. */
  #supersede(
    identity: { market: string; metric: string; observedAt: string },
    sourceUrl: string,
    { ordinal, newest }: KnownObservation,
    supersededBy: string,
  ): void {
    const order = orderKey({ ...identity, sourceUrl, ordinal });
    const { metric, recordedAt, supersedes, id } = newest;
    const fields = { id, metric, recordedAt, supersedes, supersededBy };
    // Guarded by the revision of the market, which every writer of its observations must move.
    this.#put(order, observationOf(metricPart(newest), fields), { kind: 'any' });
    this.#rewritten(order);
  }

  #count(value: MarketRecordValue, name: string, order: string, metric: Metric): void {
    this.#revision++;
    value.observations++;
    if (isUnknown(metric)) value.unknownValues++;
    const latest = value.latest[name];
    if (latest === undefined || latest.order < order) value.latest[name] = { metric, order };
    if (value.lastOrder === null || value.lastOrder < order) value.lastOrder = order;
    this.#rewritten(order);
    const { observedAt } = metric;
    if (value.firstObservedAt === null || isEarlier(observedAt, value.firstObservedAt))
      value.firstObservedAt = observedAt;
    if (value.lastObservedAt === null || isEarlier(value.lastObservedAt, observedAt)) value.lastObservedAt = observedAt;
  }

  /**
   * Whatever is not appended may lie on a closed page, which the newest page's mark does not cover. What comes after
   * everything that the ledger held before this transaction is on no page yet, in whatever order its rows came.
   */
  #rewritten(order: string): void {
    if (order > this.#lastOrderBefore) return;
    if (this.#earliestRewritten === null || order < this.#earliestRewritten) this.#earliestRewritten = order;
  }

  #put(order: string, observation: Observation, condition: Change['if']): void {
    const key = observationKey(this.#input.slug, order);
    // A row may correct what an earlier row of the batch has put: one transaction writes a key once.
    const planned = this.#observationChanges.get(order);
    this.#observationChanges.set(order, {
      kind: 'put',
      key,
      revision: 0,
      value: observation,
      if: planned?.if ?? condition,
    });
  }

  changes(): readonly Change[] {
    const { slug, market } = this.#input;
    const isNew = market === null;
    if (this.#value === null || (!isNew && this.#revision === market.revision)) return [];
    const any = { kind: 'any' } as const;
    const record: Change = {
      kind: 'put',
      key: marketKey(slug),
      revision: this.#revision,
      value: this.#value,
      if: isNew ? { kind: 'absent' } : { kind: 'revision-is', revision: market.revision },
    };
    const marks = [dirtyMarketKey(slug)];
    if (this.#earliestRewritten !== null) marks.push(dirtyHistoryKey(slug, this.#earliestRewritten));
    return [
      record,
      ...(isNew ? [{ kind: 'put', key: marketIndexKey(slug), revision: 0, value: null, if: any } as const] : []),
      ...this.#observationChanges.values(),
      ...marks.map((key) => ({ kind: 'put', key, revision: 0, value: null, if: any }) as const),
    ];
  }
}

function refused(code: RowErrorCode, pointer: string, detail: string): RowOutcome {
  return { kind: 'refused', error: { pointer, code, detail } };
}

function definitionOf({ kind, name, nativeCurrency, sources, status, unit }: MarketRecordValue) {
  return { kind, name, nativeCurrency, sources, status, unit };
}

function isSame(left: Json, right: Json): boolean {
  return canonicalJson(left) === canonicalJson(right);
}

function isEarlier(left: string, right: string): boolean {
  return Date.parse(left) < Date.parse(right);
}

/** The metric of a record, its members in canonical order. */
function metricOf(record: ObservationRecord): Metric {
  const { confidence, rounded, sourceLabel, sourceUrl, sourceValue, status, unknownReason } = record;
  const observedAt = canonicalInstant(record.observedAt);
  const provenance = { observedAt, rounded, sourceLabel, sourceUrl, sourceValue, status };
  if ('currency' in record) {
    const { amountMinor, currency } = record;
    return { amountMinor, confidence, currency, kind: 'money', ...provenance, unknownReason };
  }
  const { unit, value } = record;
  return { confidence, kind: 'scalar', ...provenance, unit, unknownReason, value };
}

/** An observation with its members in canonical order, so that rendering need not sort. */
function observationOf(metric: Metric, fields: Omit<Observation, keyof Metric>): Observation {
  const all = { ...metric, ...fields };
  return Object.fromEntries(Object.entries(all).sort(([left], [right]) => (left < right ? -1 : 1))) as Observation;
}

function metricPart(observation: Observation): Metric {
  const { id, metric, recordedAt, supersedes, supersededBy, ...part } = observation;
  return part as Metric;
}
