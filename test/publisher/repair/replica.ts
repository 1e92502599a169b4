/** A replica of a ledger as DynamoDB's global tables make it: item by item, each in its newest version, in any order. */
import type { Change, Ledger } from '../../../storage/ports/ledger.ts';
import { APPEND_ONLY } from '../../../storage/records/keys.ts';
import { OBSERVATION_PREFIX, type ObservationValue } from '../../../storage/records/markets.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import type { LoggedLedger } from '../logged-ledger.ts';

export interface Replica {
  readonly ledger: Ledger;
  /** The observations of transactions that have arrived as a whole. */
  readonly whole: readonly ObservationValue[];
}

/**
 * The whole of the first transactions, and of the last ones each item that arrives. An item of an early transaction that
 * a late one has changed has arrived, too.
 *
 * @param late how many of the last transactions are there in part
 */
export async function replicaOf(
  { transactions }: LoggedLedger,
  late: number,
  arrives: () => boolean,
): Promise<Replica> {
  const replica = openSqliteLedger(':memory:');
  const whole: ObservationValue[] = [];
  for (const [number, changes] of transactions.entries()) {
    const isLate = number >= transactions.length - late;
    const arrived = changes.filter(({ kind }) => kind !== 'check').filter(() => !isLate || arrives());
    if (arrived.length > 0) await write(replica, arrived, number);
    if (arrived.length === changes.filter(({ kind }) => kind !== 'check').length) {
      const values = arrived.flatMap((change) =>
        change.kind === 'put' ? [{ ...change.key, value: change.value }] : [],
      );
      const observations = values.filter(({ sort }) => sort.startsWith(OBSERVATION_PREFIX));
      whole.push(...observations.map(({ value }) => value as unknown as ObservationValue));
    }
  }
  return { ledger: replica, whole };
}

async function write(replica: Ledger, changes: readonly Change[], number: number): Promise<void> {
  const any = { kind: 'any' } as const;
  // The audit is only ever created.
  const isFree = (change: Change) => 'if' in change && !change.key.partition.startsWith(APPEND_ONLY);
  const free = changes.map((change) => (isFree(change) ? ({ ...change, if: any } as Change) : change));
  const { committed } = await replica.transact(free, { attemptId: `replica-${number}` });
  if (!committed) throw new Error(`transaction ${number} could not be copied`);
}
