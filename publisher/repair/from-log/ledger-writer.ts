/** Fills a ledger that nobody else uses, in transactions that are as large as a ledger takes. */
import type { Json } from '../../../contract/values/canonical-json.ts';
import { type Change, type ItemKey, MAX_TRANSACT_CHANGES } from '../../../storage/ports/ledger.ts';
import type { PublisherStorage } from '../../dependencies.ts';

/** Well below the ledger's limit on a transaction, 4 MiB: records of the log's entries may be large. */
const TRANSACTION_CHARACTERS = 1024 * 1024;

export class LedgerWriter {
  readonly #storage: Pick<PublisherStorage, 'ledger' | 'newAttemptId'>;
  #changes: Change[] = [];
  #characters = 0;

  constructor(storage: Pick<PublisherStorage, 'ledger' | 'newAttemptId'>) {
    this.#storage = storage;
  }

  async add(change: Change): Promise<void> {
    const characters = JSON.stringify(change).length;
    if (this.#characters + characters > TRANSACTION_CHARACTERS || this.#changes.length === MAX_TRANSACT_CHANGES)
      await this.flush();
    this.#changes.push(change);
    this.#characters += characters;
  }

  async flush(): Promise<void> {
    const changes = this.#changes;
    this.#changes = [];
    this.#characters = 0;
    if (changes.length === 0) return;
    const { ledger, newAttemptId } = this.#storage;
    // Unconditional, so never refused.
    await ledger.transact(changes, { attemptId: newAttemptId() });
  }
}

/** Without a condition. */
export function put<Value extends Json>(key: ItemKey<Value>, revision: number, value: Value): Change {
  return { kind: 'put', key, revision, value, if: { kind: 'any' } };
}
