/**
 * Decides the effect of a batch on one market. Pure: (state in the ledger, rows) → changes and outcomes.
 *
 * An observation is identified by market, metric, `observedAt` and source. A row with the same content is `unchanged`. A row
 * with other content is a conflict, except in a correcting batch: then a new observation supersedes the old one, which stays. A
 * retraction supersedes with an unknown value; a retraction of the kind `mistake` is not shown.
 *
 * An observation about a future moment may be announced: it is in the history, but not among the newest values. Until that
 * moment, its later versions are announced, too. At that moment, {@link decideEffective} supersedes it with the same content.
 */

import { MARKET_METRICS_MAX } from '../../contract/files/limits.ts';
import type {
  IngestRecord,
  MarketRecord,
  ObservationRecord,
  RetractionRecord,
} from '../../contract/ingest/ingest-records.ts';
import { ROW_REMEDIES } from '../../contract/problems/row-remedies.ts';
import { inOrder } from '../../contract/values/canonical-json.ts';
import { laterInstant } from '../../contract/values/instants.ts';
import type { Metric, Observation, RetractionKind } from '../../contract/values/metric.ts';
import { isShowable } from '../../contract/values/showable.ts';
import {
  ANNOUNCED_VALUES_MAX,
  countAnnounced,
  isEffectiveAt,
  nextEffectiveAt,
  unannounce,
} from '../../storage/records/announced-values.ts';
import {
  firstOrderOf,
  type MarketRecordValue,
  observationIdAt,
  type PlacedMetric,
  versionOrder,
} from '../../storage/records/markets.ts';
import { metricPart, newestValues, valuesIn } from '../../storage/records/newest-values.ts';
import { defineMarket } from './define-market.ts';
import { ANNOUNCED_CHANGES, MARKET_CHANGES, marketChanges } from './market-changes.ts';
import type { KnownObservation, MarketDecision, MarketInput, RowOutcome } from './market-decision.ts';
import { newOutcome, refused, unchangedOutcome, withheldBy } from './market-decision.ts';
import { ObservationPuts } from './observation-puts.ts';
import {
  addToRecord,
  copiedRecord,
  isListedAlready,
  isSameContent,
  isTakenBack,
  metricOfRecord,
  retracted,
  showValues,
} from './observation-value.ts';
import { hasOtherReason, repetition } from './public-reason.ts';
import { isTooLargeWith, mayOutgrow, TOO_LARGE } from './record-size.ts';
import { recordedValueText, sentValueText } from './recorded-value-text.ts';
import { removedFault } from './removal.ts';
import { orderOfRow, type Row } from './rows.ts';
import { OutlierGuard } from './rules/outlier.ts';
import { restate, unchangedMarket, withoutDispute } from './rules/standing.ts';

/** Decides every row of one market as one transaction, with any number of changes. */
export function decideMarket(input: MarketInput): MarketDecision {
  return decideInParts(input, Number.POSITIVE_INFINITY)[0] as MarketDecision;
}

/**
 * Decides every row of one market, in order: first its definition, then observations from the oldest on, so that each is
 * compared with the previous one. Returns at least one part. Each part is a transaction of at most `maxChanges` changes, and is
 * valid only after the commit of the previous part.
 */
export function decideInParts(input: MarketInput, maxChanges: number): readonly MarketDecision[] {
  const draft = new MarketDraft(input);
  const parts: MarketDecision[] = [];
  for (const row of input.rows) {
    if (draft.changesAfter(row) > maxChanges) parts.push(draft.cut());
    draft.apply(row);
  }
  return [...parts, draft.cut()];
}

/**
 * Makes announced observations effective.
 *
 * @param input has as `known` the observations whose moments have come at `recordedAt`. Each needs two changes; there are at
 *   most six others
 */
export function decideEffective(input: Omit<MarketInput, 'rows' | 'mode'>): MarketDecision {
  const draft = new MarketDraft({ ...input, rows: [], mode: 'correct' });
  for (const [first, known] of input.known) draft.makeEffective(first, known);
  return draft.cut();
}

interface Version {
  readonly isAnnounced?: boolean;
  readonly publicReason?: string | undefined;
  readonly retraction?: RetractionKind | null;
}

const UNCHANGED: RowOutcome = { kind: 'unchanged' };

class MarketDraft {
  readonly #input: MarketInput;
  readonly #known: Map<string, KnownObservation>;
  readonly #guard: OutlierGuard;
  /** The `recordedAt` of this decision. Clocks differ, but the times of a market never go backwards. */
  readonly #recordedAt: string;
  #value: MarketRecordValue | null;
  #revision: number;
  /** State of the part that is being decided. */
  #revisionBefore: number | null;
  #lastOrderBefore: string;
  #effectiveAtBefore: string | null;
  #earliestRewritten: string | null = null;
  /** Whether a row depends on the current definition of the market. Then the commit checks that it is unchanged. */
  #isDefinitionKept = false;
  #outcomes = new Map<number, RowOutcome>();
  readonly #puts = new ObservationPuts();

  constructor(input: MarketInput) {
    const before = input.market?.value ?? null;
    this.#input = input;
    this.#known = new Map(input.known);
    this.#guard = new OutlierGuard(input.neighbours);
    this.#recordedAt = laterInstant(input.recordedAt, before?.updatedAt ?? null);
    this.#value = before && copiedRecord(before);
    this.#revision = input.market?.revision ?? 0;
    this.#revisionBefore = input.market?.revision ?? null;
    this.#lastOrderBefore = before?.lastOrder ?? '';
    this.#effectiveAtBefore = before && nextEffectiveAt(before);
  }

  /**
   * The most changes that the part can have with this row: two for a row that supersedes, one for a row that is unchanged or
   * new, and those of the market.
   */
  changesAfter({ order, record }: Row): number {
    const own = order === null ? 0 : this.#known.has(order) ? 2 : 1;
    const isAnnounced = isAnnouncedBy(record) || (this.#value !== null && nextEffectiveAt(this.#value) !== null);
    const ofMarket = isAnnounced || this.#effectiveAtBefore !== null ? ANNOUNCED_CHANGES : 0;
    return this.#puts.size + own + MARKET_CHANGES + ofMarket;
  }

  apply({ index, record, order }: Row): void {
    // The batch was checked before, but the market may have been removed meanwhile.
    const removal = this.#value?.removal;
    if (removal !== undefined) {
      this.#outcomes.set(index, { kind: 'refused', error: removedFault(record, removal) });
      return;
    }
    this.#outcomes.set(index, order === null ? this.#define(record as MarketRecord) : this.#version(record, order));
  }

  #define(record: MarketRecord): RowOutcome {
    const { value, outcome } = defineMarket(this.#value, record);
    this.#value = value;
    if (outcome.kind === 'unchanged') this.#isDefinitionKept = true;
    if (outcome.kind === 'accepted' && outcome.counts === 'changedMarkets') this.#revision++;
    return outcome;
  }

  #version(record: IngestRecord, first: string): RowOutcome {
    const before = this.#known.get(first);
    if (record.type === 'retraction') return this.#retract(record, first, before);
    const outcome = this.#observe(record as ObservationRecord, first, before);
    // A refused correction leaves the value that stands.
    const newest = this.#known.get(first)?.newest;
    if (newest !== undefined) this.#guard.add(newest, first);
    return outcome;
  }

  #observe(record: ObservationRecord, first: string, before: KnownObservation | undefined): RowOutcome {
    const value = this.#value;
    // The market and its currency were checked before, but another writer may have changed the market meanwhile.
    if (value === null) {
      return refused('market.unknown', '/market', `no market ${record.market}: define it with a market record`);
    }
    if (record.metric === 'price' && 'currency' in record && record.currency !== value.nativeCurrency) {
      return refused('currency.not-native', '/currency', `the market's prices are in ${value.nativeCurrency}`);
    }
    const metrics = { ...value.announced, ...value.latest };
    if (metrics[record.metric] === undefined && Object.keys(metrics).length >= MARKET_METRICS_MAX) {
      const detail = `a market has at most ${MARKET_METRICS_MAX} metrics: use another market`;
      return refused('record.invalid', '/metric', detail);
    }
    const metric = metricOfRecord(record, value.unit.quantity);
    if ('error' in metric) return { kind: 'refused', error: metric.error };
    if (before !== undefined && this.#input.mode === 'append') {
      // If a batch is applied again after a correction, its row repeats the first version. That is no conflict. No check is
      // added to the transaction: an appended row never changes a known observation, whichever version is the newest.
      if ([before.newest, before.first].some((version) => isSameContent(version, metric, record)))
        return unchangedOutcome(record, before);
      const detail =
        'this market, metric, observedAt and source already have other content: leave it, or correct it by the mode ' +
        '`correct` (at the command line: tidemark ingest --mode correct)';
      return refused('conflict.existing', '', detail);
    }
    const repeated = repetition(record, metric, before);
    if (repeated?.kind === 'unchanged' && before !== undefined) return this.#unchanged(record, before);
    if (repeated !== null) return repeated;
    if (record.ifChanged === true && before === undefined && isListedAlready(value, record.metric, metric, first)) {
      this.#isDefinitionKept = true;
      return UNCHANGED;
    }
    const other = record.outlierConfirmed
      ? null
      : this.#guard.contradictionOf(metric, record.metric, { order: first, replaced: before?.newest }, value.outliers);
    if (other !== null) {
      const detail = `${sentValueText(metric, value.unit)} is too far from ${recordedValueText(other, value.unit)} of ${other.observedAt}${other === before?.newest ? ', which it would replace' : ''}: if the value is right, ${ROW_REMEDIES.outlier}`;
      return refused('outlier', metric.kind === 'money' ? '/amountMinor' : '/value', detail);
    }
    const isAnnounced = isAnnouncedBy(record);
    if (isAnnounced && countAnnounced(value) >= ANNOUNCED_VALUES_MAX) {
      const detail = `a market has at most ${ANNOUNCED_VALUES_MAX} announced values: send the later ones later`;
      return refused('record.invalid', '/announced', detail);
    }
    if (mayOutgrow(value)) {
      const order = before === undefined ? first : versionOrder(first, before.ordinal + 1);
      if (isTooLargeWith(value, record.metric, { metric, order }, isAnnounced)) return TOO_LARGE;
    }
    this.#append(value, record.metric, first, before, metric, { isAnnounced, publicReason: record.publicReason });
    const outcome =
      before === undefined
        ? newOutcome(record, metric, this.#input.market?.value ?? null)
        : ({ kind: 'accepted', corrects: { from: before.newest, to: metric, unit: value.unit } } as const);
    return { ...outcome, ...withheldBy(record, metric) };
  }

  #retract(record: RetractionRecord, first: string, before: KnownObservation | undefined): RowOutcome {
    const value = this.#value;
    if (value === null || before === undefined) {
      return refused('observation.unknown', '', 'no observation of this market, metric, observedAt and source');
    }
    const { newest } = before;
    const retraction = record.kind ?? newest.retraction;
    if (isTakenBack(newest, retraction) && !hasOtherReason(record, newest)) return this.#unchanged(record, before);
    const how = { retraction, publicReason: record.publicReason };
    this.#append(value, record.metric, first, before, retracted(metricPart(newest), retraction), how);
    return { kind: 'accepted', counts: 'retractions' };
  }

  /** Supersedes the announced observation by one with the same content. */
  makeEffective(first: string, before: KnownObservation): void {
    const { metric, ...how } = before.newest;
    if (this.#value === null) return;
    this.#append(this.#value, metric, first, before, metricPart(before.newest), how);
  }

  /**
   * The row agrees with the newest version that was read. A later version may be committed and not yet visible. So the
   * transaction checks that no later version exists.
   */
  #unchanged(record: ObservationRecord | RetractionRecord, before: KnownObservation): RowOutcome {
    this.#puts.expectNone(orderOfRow(record, before.ordinal + 1));
    return unchangedOutcome(record, before);
  }

  /**
   * Writes the first or the next version of an observation. Until its moment has come, a version of an announced observation is
   * announced, too.
   *
   * @param how `retraction`: the kind; null: no kind was given; undefined: this is not a retraction
   */
  #append(
    value: MarketRecordValue,
    name: string,
    first: string,
    before: KnownObservation | undefined,
    metric: Metric,
    { isAnnounced = false, publicReason, retraction }: Version,
  ): void {
    const ordinal = before === undefined ? 0 : before.ordinal + 1;
    const order = versionOrder(first, ordinal);
    const isAhead = !isEffectiveAt(order, this.#recordedAt);
    const observation: Observation = inOrder({
      ...metric,
      ...(isAhead && (isAnnounced || before?.newest.announced) ? { announced: true } : {}),
      id: observationIdAt(this.#input.slug, order),
      metric: name,
      ...(publicReason !== undefined && { publicReason }),
      recordedAt: this.#recordedAt,
      retraction: retraction ?? null,
      supersededAt: null,
      supersedes: before?.newest.id ?? null,
      supersededBy: null,
    });
    const orderBefore = before && versionOrder(first, before.ordinal);
    if (before !== undefined) this.#supersede(value, orderBefore as string, before, observation.id);
    this.#puts.add(order, observation);
    // Revision 0 stands for the part's own revision, which is set when the part ends.
    const stated = retraction !== undefined && before !== undefined ? before.stated : observation;
    this.#known.set(first, { first: before?.first ?? observation, newest: observation, stated, ordinal, revision: 0 });
    this.#revision++;
    addToRecord(value, observation, order, metric);
    if (orderBefore !== undefined) {
      unannounce(value, name, orderBefore, (place) => this.#contentOf(place));
      this.#showOthers(value, name, orderBefore);
    }
    this.#rewritten(order);
  }

  /** The content of the announced value at this place, which now comes first. */
  #contentOf(place: string): Metric {
    const known = this.#known.get(firstOrderOf(place));
    const content = known === undefined ? this.#input.announced?.get(place) : metricPart(known.newest);
    if (content === undefined)
      throw new RangeError(`${this.#input.slug}: the announced value at ${place} was not read`);
    return content;
  }

  /** If the market still shows the superseded version, its source shows another observation from now on, or none. */
  #showOthers(value: MarketRecordValue, name: string, superseded: string): void {
    const shown = value.latest[name];
    if (shown === undefined || valuesIn(shown).every(({ order }) => order !== superseded)) return;
    const others: PlacedMetric[] = [...(this.#input.otherValues?.get(name) ?? [])];
    for (const [first, { newest, ordinal }] of this.#known) {
      if (newest.metric !== name || !isShowable(newest)) continue;
      others.push({ metric: metricPart(newest), order: versionOrder(first, ordinal) });
    }
    showValues(value, name, newestValues(others));
  }

  /** The old observation stays and names its correction. If it was the latest, disputes about it end. */
  #supersede(
    value: MarketRecordValue,
    order: string,
    { newest, revision }: KnownObservation,
    supersededBy: string,
  ): void {
    this.#puts.replace(order, { ...newest, supersededAt: this.#recordedAt, supersededBy }, revision);
    this.#rewritten(order);
    if (value.latest[newest.metric]?.order !== order) return;
    restate(value, (standing) => withoutDispute(standing, newest.metric));
  }

  /**
   * Notes where the history was rewritten. An observation before the newest one may lie on a closed page, which the mark of the
   * newest page does not cover. An observation after everything that the ledger had before this transaction is on no page yet,
   * whatever the order of the rows.
   */
  #rewritten(order: string): void {
    if (order > this.#lastOrderBefore) return;
    if (this.#earliestRewritten === null || order < this.#earliestRewritten) this.#earliestRewritten = order;
  }

  /** Ends a part, and begins the next one from its result. */
  cut(): MarketDecision {
    const decision = { slug: this.#input.slug, ...this.#changes(), outcomes: this.#outcomes };
    this.#outcomes = new Map();
    this.#earliestRewritten = null;
    this.#isDefinitionKept = false;
    if (this.#value !== null) {
      this.#value = copiedRecord(this.#value);
      this.#revisionBefore = this.#revision;
      this.#lastOrderBefore = this.#value.lastOrder ?? '';
      this.#effectiveAtBefore = nextEffectiveAt(this.#value);
    }
    return decision;
  }

  /**
   * Every item has the market's new revision, or its mark names that revision. So readers can recognise which items belong
   * together.
   */
  #changes(): Pick<MarketDecision, 'record' | 'changes'> {
    const { slug } = this.#input;
    const before = this.#revisionBefore;
    const revision = this.#revision;
    if (this.#value === null) return { record: null, changes: [] };
    const { changes: observations, sum } = this.#puts.take(slug, revision, this.#value.sum);
    if (revision === before) {
      const kept = this.#isDefinitionKept ? [unchangedMarket(slug, { revision })] : [];
      return { record: null, changes: [...kept, ...observations] };
    }
    Object.assign(this.#value, { sum, updatedAt: this.#recordedAt });
    const places = { rewrittenFrom: this.#earliestRewritten, effectiveAtBefore: this.#effectiveAtBefore };
    const [record, ...others] = marketChanges(slug, { before, revision, value: this.#value, ...places });
    return { record, changes: [record, ...observations, ...others] };
  }
}

function isAnnouncedBy(record: IngestRecord): boolean {
  return record.type === 'observation' && record.announced !== undefined && record.announced !== false;
}
