/**
 * Finds the records of a file that have the same identity as an earlier one, at any distance. Of two records that contradict each
 * other, none is stored: nothing shows which of the two values is right.
 */
import { millisecondInstant } from '../../contract/values/instants.ts';
import { type Earlier, IdentitySet } from './identity-set.ts';

interface EarlierRecord extends Earlier {
  readonly identity: string;
}

/** The identities of one file. The service compares only the records of one batch, and a file may be divided into many. */
export class RepeatedRecords {
  readonly #identities = new IdentitySet();

  /**
   * The record's first occurrence; null if this is the first, or if identifying members are missing. @param place line or row,
   * from 1 on
   */
  earlierOf(record: object, place: number): EarlierRecord | null {
    const identity = identityOf(record);
    const earlier =
      identity === null ? null : this.#identities.add(identity, place, JSON.stringify({ ...record, observedAt: null }));
    return earlier && { ...earlier, identity: identity as string };
  }
}

/** With more contradictions than this, the first records of the others are stored. */
const CONTRADICTIONS_MAX = 100_000;
const DUPLICATE = { column: null, pointer: '', code: 'duplicate.in-batch' } as const;

/** The records of a file that later ones contradict, as far as it was read. */
export class ContradictedRecords {
  /** The place of the later record, by the identity of the observation. */
  readonly #places = new Map<string, string>();

  get size(): number {
    return this.#places.size;
  }

  /** @param fault of the later record: see `repeatFault`. Other faults are ignored */
  add({ contradicts, line, row, detail }: LaterFault): void {
    if (contradicts === undefined || this.#places.size === CONTRADICTIONS_MAX) return;
    this.#places.set(contradicts, detail.startsWith('row ') ? `row ${row}` : `line ${line}`);
  }

  /** The fault of the first record. Null: no later one contradicts it. */
  faultOf(record: { readonly type?: unknown }) {
    const place = this.#places.get(identityOf(record) ?? '');
    // Of two definitions of a market, the first one counts, as in the service: else no row of the market could be stored.
    if (place === undefined || record.type === 'market') return null;
    const detail = `${place} is about the same observation, and says something else: keep the right one`;
    return { ...DUPLICATE, detail, rule: 'contradicted' } as const;
  }
}

interface LaterFault {
  readonly contradicts?: string;
  readonly line: number;
  readonly row?: number;
  readonly detail: string;
}

/** The market, metric, moment and source of an observation or its retraction; the slug of a market. */
export function identityOf(record: object): string | null {
  const { type, slug, market, metric, observedAt, sourceUrl } = record as { readonly [name: string]: unknown };
  if (type === 'market') return typeof slug === 'string' ? slug : null;
  if (![market, metric, observedAt, sourceUrl].every((text) => typeof text === 'string')) return null;
  const moment = (observedAt as string).replace('+00:00', 'Z');
  const instant = Number.isNaN(Date.parse(moment)) ? moment : millisecondInstant(moment);
  return `${market} ${metric} ${instant} ${sourceUrl}`;
}

/**
 * The fault of the later record.
 *
 * @param unit the unit of the place
 * @param leaveOut how a repetition of the same can be left out, in words for its sender
 */
export function repeatFault({ place, isSame, identity }: EarlierRecord, unit: 'line' | 'row', leaveOut = '') {
  const about = `${unit} ${place} is about the same observation or market, and says`;
  if (isSame)
    return { ...DUPLICATE, detail: `${about} the same: leave one of them out${leaveOut}`, rule: 'repeated' } as const;
  const detail = `${about} something else: keep the right one`;
  return { ...DUPLICATE, detail, rule: 'contradicted', contradicts: identity } as const;
}
