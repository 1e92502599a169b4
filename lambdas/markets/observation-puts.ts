/** The observations that one transaction writes or checks, and their effect on the sum of the history. */

import type { Change } from '../../storage/ports/ledger.ts';
import { HistorySum } from '../../storage/records/history-sum.ts';
import { type ObservationValue, observationKey } from '../../storage/records/markets.ts';

interface ObservationPut {
  /** Null: the transaction checks that this place of the history is empty. */
  readonly observation: ObservationValue | null;
  /** The revision of the replaced item; null for an empty place. */
  readonly replaced: number | null;
}

export class ObservationPuts {
  #puts = new Map<string, ObservationPut>();
  /** The revisions with which earlier transactions of the batch have put observations, by order. */
  readonly #revisions = new Map<string, number>();

  get size(): number {
    return this.#puts.size;
  }

  /** Adds a new version. Refused if its item exists. */
  add(order: string, observation: ObservationValue): void {
    this.#put(order, observation, null);
  }

  /**
   * Replaces an item. It states the revision at which this version was written, unless the same transaction writes the version.
   *
   * @param revision the revision of the item in the ledger; for an item that this batch has put, the batch's own revision is
   *   used
   */
  replace(order: string, observation: ObservationValue, revision: number): void {
    const before = this.#revisions.get(order) ?? revision;
    const written = this.#puts.has(order) ? {} : { firstRevision: observation.firstRevision ?? before };
    this.#put(order, { ...observation, ...written }, before);
  }

  /** The transaction checks that no version has this order. */
  expectNone(order: string): void {
    this.#put(order, null, null);
  }

  #put(order: string, observation: ObservationValue | null, replaced: number | null): void {
    // A row may correct an observation of an earlier row in the same transaction, and a transaction may name a key only once.
    const planned = this.#puts.get(order);
    this.#puts.set(order, { observation, replaced: planned === undefined ? replaced : planned.replaced });
  }

  /**
   * Ends the transaction, which gives the market this revision, and begins the next one.
   *
   * @param sum the sum of the history before the transaction
   */
  take(slug: string, revision: number, sum: string): { readonly changes: readonly Change[]; readonly sum: string } {
    const moved = new HistorySum(sum);
    const changes: Change[] = [];
    for (const [order, { observation, replaced }] of this.#puts) {
      const key = observationKey(slug, order);
      if (observation === null) {
        changes.push({ kind: 'check', key, if: { kind: 'absent' } });
        continue;
      }
      if (replaced !== null) moved.remove(order, replaced);
      moved.add(order, revision);
      this.#revisions.set(order, revision);
      // The condition on the market's revision protects a replaced item: every writer of observations changes that revision.
      const condition = { kind: replaced === null ? 'absent' : 'any' } as const;
      changes.push({ kind: 'put', key, revision, value: observation, if: condition });
    }
    this.#puts = new Map();
    return { changes, sum: moved.text };
  }
}
