/**
 * The events of feeds: each version of an observation is an event, and so is the removal of a market. They follow from
 * records alone, and never change. Pure.
 */
import type { Removal } from '../../../contract/files/removed-market.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { Unit } from '../../../contract/values/market.ts';
import { isUnknown, type Observation } from '../../../contract/values/metric.ts';
import { moneyTexts } from '../../../contract/values/money/money-texts.ts';
import { Newest } from './newest.ts';

export const FEED_ENTRIES_MAX = 100;

export type EventKind = 'new-value' | 'announced' | 'effective' | 'correction' | 'retraction' | 'removal';

export interface FeedEvent {
  readonly slug: string;
  readonly kind: EventKind;
  /** The id of the observation, or `removal`. */
  readonly id: string;
  readonly recordedAt: string;
  /** The moment of the value. */
  readonly at: string;
  readonly title: string;
  readonly summary: string;
  /** Null: the service itself. */
  readonly source: { readonly label: string; readonly url: string } | null;
}

/** An observation as in the ledger, in the log and in histories. */
export type FeedRow = Observation;

/** Greater keys are newer: by the time of recording, then by the moment of the value. */
export function keyOfEvent({ recordedAt, at, slug, id }: Pick<FeedEvent, 'recordedAt' | 'at' | 'slug' | 'id'>): string {
  return `${millisecondInstant(recordedAt)} ${millisecondInstant(at)} ${slug} ${id}`;
}

export const isCorrection = (kind: EventKind): boolean => kind === 'correction' || kind === 'retraction';

/** An event without its texts. They are written only for the newest events, which a feed shows. */
export type Candidate =
  | { readonly slug: string; readonly unit: Unit; readonly row: FeedRow; readonly before: FeedRow | null }
  | { readonly slug: string; readonly removal: Removal };

export interface NewestEvents {
  readonly changes: Newest<Candidate>;
  readonly corrections: Newest<Candidate>;
}

export function noEvents(): NewestEvents {
  return { changes: new Newest(FEED_ENTRIES_MAX), corrections: new Newest(FEED_ENTRIES_MAX) };
}

/** Receives the rows of one market's history, oldest first. */
export class MarketEvents implements NewestEvents {
  readonly changes = noEvents().changes;
  readonly corrections = noEvents().corrections;
  readonly #slug: string;
  readonly #unit: Unit;
  #last: FeedRow | null = null;

  /** @param unit the unit of the price: it is fixed once there is an observation */
  constructor(slug: string, unit: Unit) {
    this.#slug = slug;
    this.#unit = unit;
  }

  /** The versions of an observation are consecutive. A correction without its predecessor is already in the feed. */
  add(row: FeedRow): void {
    const [slug, unit] = [this.#slug, this.#unit];
    const before = row.supersedes === null ? null : this.#last;
    this.#last = row;
    if ((before?.id ?? null) !== row.supersedes) return;
    const key = keyOfEvent({ recordedAt: row.recordedAt, at: row.observedAt, slug, id: row.id });
    this.changes.add(key, { slug, unit, row, before });
    if (isCorrection(kindOf(row, before))) this.corrections.add(key, { slug, unit, row, before });
  }

  remove(removal: Removal): void {
    const { removedAt } = removal;
    const key = keyOfEvent({ recordedAt: removedAt, at: removedAt, slug: this.#slug, id: 'removal' });
    this.changes.add(key, { slug: this.#slug, removal });
  }
}

export function eventOf(candidate: Candidate): FeedEvent {
  return 'removal' in candidate ? removalEvent(candidate) : rowEvent(candidate);
}

function removalEvent({
  slug,
  removal: { reason, replacedBy, removedAt },
}: Extract<Candidate, { removal: Removal }>): FeedEvent {
  const instead = replacedBy === null ? '' : ` Read ${replacedBy} instead.`;
  return {
    slug,
    kind: 'removal',
    id: 'removal',
    recordedAt: removedAt,
    at: removedAt,
    title: `${slug}: removed (${removedAt})`,
    summary: `${reason}${instead}`,
    source: null,
  };
}

function kindOf(row: FeedRow, before: FeedRow | null): EventKind {
  if (row.retraction !== null) return 'retraction';
  if (before === null) return row.announced ? 'announced' : 'new-value';
  const isSame = isUnknown(row) === isUnknown(before) && valueText(row, 1) === valueText(before, 1);
  return before.announced && !row.announced && isSame ? 'effective' : 'correction';
}

const WORDS: { readonly [Kind in EventKind]: string } = {
  'new-value': '',
  announced: ', announced',
  effective: ', now effective',
  correction: ', corrected from ',
  retraction: ', taken back: ',
  removal: '',
};

function rowEvent({ slug, unit, row, before }: Extract<Candidate, { row: FeedRow }>): FeedEvent {
  const kind = kindOf(row, before);
  const name = row.metric === 'price' ? slug : `${slug} ${row.metric}`;
  const was = before === null ? '' : valueText(before, unit.quantity);
  const value = valueText(row, unit.quantity);
  const said = kind === 'retraction' ? was : value;
  // A correction may change the source or its digits only.
  const corrected = was === value ? ', corrected in its details' : WORDS.correction + was;
  const words = kind === 'correction' ? corrected : WORDS[kind] + (kind === 'retraction' ? row.retraction : '');
  const of = row.kind === 'money' ? ` Unit: ${unit.of}.` : '';
  const earlier = before === null ? '' : ` Before: ${was}, recorded ${before.recordedAt}.`;
  const why = row.publicReason === undefined ? '' : ` Reason: ${row.publicReason}`;
  return {
    slug,
    kind,
    id: row.id,
    recordedAt: row.recordedAt,
    at: row.observedAt,
    title: `${name}: ${said}${words} (${row.observedAt})`,
    summary:
      `Value: ${value}.${of} Observed ${row.observedAt}, recorded ${row.recordedAt}. Source: ${row.sourceLabel}. ` +
      `Confidence ${row.confidence}, ${row.status}.${earlier}${why}`,
    source: { label: row.sourceLabel, url: row.sourceUrl },
  };
}

/** Money is given for one unit, if that decimal is finite. */
function valueText(row: FeedRow, quantity: number): string {
  if (isUnknown(row)) return `unknown: ${row.unknownReason}`;
  if (row.kind === 'scalar') return `${row.value} ${row.unit}`;
  const { decimal, decimalPerUnit } = moneyTexts(row.amountMinor, row.currency, quantity);
  return decimalPerUnit === null ? `${decimal} ${row.currency} per ${quantity}` : `${decimalPerUnit} ${row.currency}`;
}
