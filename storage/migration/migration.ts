/** The dependencies of every step of a migration, and its way to write. */
import type { Change, Item, Ledger } from '../ledger.ts';
import type { Runtime } from '../runtime.ts';

export interface Migration extends Pick<Runtime, 'nowMs' | 'newAttemptId'> {
  readonly ledger: Ledger;
  /** The renderer that HEAD will name: it will render all markets again. */
  readonly renderer: string;
  /** Receives the number of markets so far. */
  readonly progress?: (markets: number) => void;
  /** Asked before each market; false ends this try. Default: always true. */
  readonly hasTime?: () => boolean;
}

/** Something else has written to the ledger in the meantime. Stop it, and call the migration again. */
export class MigrationDisturbed extends Error {
  override readonly name = 'MigrationDisturbed';
}

/** @throws MigrationDisturbed if a condition does not hold */
export async function commit({ ledger, newAttemptId }: Migration, changes: readonly Change[]): Promise<void> {
  const { committed } = await ledger.transact(changes, { attemptId: newAttemptId() });
  if (!committed)
    throw new MigrationDisturbed('the ledger was written to during its migration: stop every other writer');
}

/** The item with another value; its revision stays. */
export function changed<Value>({ partition, sort, revision, attemptId }: Item<unknown>, value: Value): Change {
  const change = { kind: 'put', key: { partition, sort }, revision, value, if: { kind: 'written-by', attemptId } };
  return change as Change;
}
