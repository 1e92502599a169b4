/** The observations that one transaction writes, and their effect on the sum of the history. */
import type { Observation } from '../../contract/metric.ts';
import { HistorySum } from '../../storage/history-sum.ts';
import type { PutChange } from '../../storage/ledger.ts';
import { observationKey } from '../../storage/records/markets.ts';

interface ObservationPut {
  readonly observation: Observation;
  /** The revision of the replaced item; null for a new item. */
  readonly replaced: number | null;
}

export class ObservationPuts {
  #puts = new Map<string, ObservationPut>();
  /** The revisions at which earlier transactions of the batch put observations, by their order. */
  readonly #revisions = new Map<string, number>();

  get size(): number {
    return this.#puts.size;
  }

  /** A new version: refused if its item exists. */
  add(order: string, observation: Observation): void {
    this.#put(order, observation, null);
  }

  /**
   * @param revision of the item in the ledger; for an item that this batch has put, the batch's own revision is used
   */
  replace(order: string, observation: Observation, revision: number): void {
    this.#put(order, observation, this.#revisions.get(order) ?? revision);
  }

  #put(order: string, observation: Observation, replaced: number | null): void {
    // A row may correct an observation of an earlier row in the same transaction, and a transaction writes a key only
    // once.
    const planned = this.#puts.get(order);
    this.#puts.set(order, { observation, replaced: planned === undefined ? replaced : planned.replaced });
  }

  /**
   * Ends the transaction, which gives the market this revision, and begins the next one.
   *
   * @param sum of the history before
   */
  take(slug: string, revision: number, sum: string): { readonly changes: readonly PutChange[]; readonly sum: string } {
    const moved = new HistorySum(sum);
    const changes: PutChange[] = [];
    for (const [order, { observation, replaced }] of this.#puts) {
      if (replaced !== null) moved.remove(order, replaced);
      moved.add(order, revision);
      this.#revisions.set(order, revision);
      // The condition on the market's revision guards a replaced item: every writer of observations changes that
      // revision.
      const condition = { kind: replaced === null ? 'absent' : 'any' } as const;
      changes.push({ kind: 'put', key: observationKey(slug, order), revision, value: observation, if: condition });
    }
    this.#puts = new Map();
    return { changes, sum: moved.text };
  }
}
