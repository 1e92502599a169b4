/** Fills a ledger that nothing else uses, in the largest possible transactions. */
import { type Change, MAX_TRANSACT_CHANGES } from '../../../storage/ports/ledger.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { batchesOf } from '../../kernel/change-many.ts';

export class LedgerWriter {
  readonly #storage: Pick<PublisherStorage, 'ledger' | 'newAttemptId'>;
  #changes: Change[] = [];

  constructor(storage: Pick<PublisherStorage, 'ledger' | 'newAttemptId'>) {
    this.#storage = storage;
  }

  async add(change: Change): Promise<void> {
    if (this.#changes.push(change) === MAX_TRANSACT_CHANGES) await this.flush();
  }

  async flush(): Promise<void> {
    const { ledger, newAttemptId } = this.#storage;
    // Unconditional, so never refused.
    for (const batch of batchesOf(this.#changes.splice(0), MAX_TRANSACT_CHANGES)) {
      await ledger.transact(batch, { attemptId: newAttemptId() });
    }
  }
}
