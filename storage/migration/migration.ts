/** What every step of a migration is given, and how it writes. */
import type { Change, Item, Ledger } from '../ledger.ts';
import type { Runtime } from '../runtime.ts';

export interface Migration extends Pick<Runtime, 'nowMs' | 'newAttemptId'> {
  readonly ledger: Ledger;
  /** As HEAD shall name it: what will render all markets again. */
  readonly renderer: string;
  /** Told how many markets have been looked at. */
  readonly progress?: (markets: number) => void;
  /** Asked before each market; false ends this try. Default: always true. */
  readonly hasTime?: () => boolean;
}

/** Something that is not this migration has written meanwhile. Stop that, and call the migration again. */
export class MigrationDisturbed extends Error {
  override readonly name = 'MigrationDisturbed';
}

/** @throws MigrationDisturbed when a condition does not hold. */
export async function commit({ ledger, newAttemptId }: Migration, changes: readonly Change[]): Promise<void> {
  const { committed } = await ledger.transact(changes, { attemptId: newAttemptId() });
  if (!committed)
    throw new MigrationDisturbed('the ledger was written to while it was migrated: stop what writes to it');
}

/** The item with another value; its revision stays. */
export function changed<Value>({ partition, sort, revision, attemptId }: Item<unknown>, value: Value): Change {
  const change = { kind: 'put', key: { partition, sort }, revision, value, if: { kind: 'written-by', attemptId } };
  return change as Change;
}

export function removed({ partition, sort, attemptId }: Item<unknown>): Change {
  return { kind: 'delete', key: { partition, sort }, if: { kind: 'written-by', attemptId } };
}
