/** A ledger that can be compared as a whole. */
import type { Json } from '../../contract/values/canonical-json.ts';
import type { Change, ItemKey, Ledger } from '../../storage/ports/ledger.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';

export type LedgerDump = Map<string, { revision: number; value: Json }>;

export interface RecordedLedger extends Ledger {
  /** All items by key: revision and value, without the time of recording. */
  dump(): Promise<LedgerDump>;
  /** The number of changed items of each transaction, in order. */
  readonly transactions: readonly number[];
  /** The changes of all transactions, in order. */
  readonly changes: readonly Change[];
}

export function openRecordedLedger(ledger: Ledger = openSqliteLedger(':memory:')): RecordedLedger {
  const keys = new Map<string, ItemKey>();
  const transactions: number[] = [];
  const recorded: Change[] = [];
  return {
    transactions,
    changes: recorded,
    async transact(changes, options) {
      transactions.push(changes.length);
      recorded.push(...changes);
      for (const { key } of changes) keys.set(`${key.partition} ${key.sort}`, key);
      return await ledger.transact(changes, options);
    },
    get: (key) => ledger.get(key),
    getMany: (several) => ledger.getMany(several),
    query: (partition, options) => ledger.query(partition, options),
    async dump() {
      const found = new Map<string, { revision: number; value: Json }>();
      for (const [name, key] of [...keys].sort(([left], [right]) => (left < right ? -1 : 1))) {
        const item = await ledger.get(key);
        if (item) found.set(name, { revision: item.revision, value: withoutTimes(item.value) });
      }
      return found;
    },
  };
}

/** Without the items of batches and their audit: their effect. */
export function recordsOf(dump: LedgerDump): LedgerDump {
  const own = ['audit/', 'batch/', 'work/', 'awaiting-generation/'];
  return new Map([...dump].filter(([name]) => !own.some((prefix) => name.startsWith(prefix))));
}

function withoutTimes(value: Json): Json {
  const isTime = (name: string, inner: unknown) => TIMES.has(name) && inner !== null;
  return JSON.parse(JSON.stringify(value, (name, inner) => (isTime(name, inner) ? 'a time' : inner))) as Json;
}

/** Of the service's own clock. */
const TIMES: ReadonlySet<string> = new Set(['recordedAt', 'supersededAt', 'updatedAt']);
