/**
 * Leases of work. A lease is written into the work item itself, under the condition that the item is as it was read. It ends when
 * it is given back, or by time: a worker that died holds up its lanes for {@link LEASE_MS} at most.
 *
 * A lease only saves work that would be done twice. A worker that is slower than its lease is overtaken, and the checkpoints of
 * its batch fence it off.
 */
import { replaced, type Versioned, written } from '../../storage/changes.ts';
import type { Ledger } from '../../storage/ledger.ts';
import type { WorkValue } from '../../storage/records/batches.ts';
import type { Runtime } from '../../storage/runtime.ts';

export const LEASE_MS = 30_000;

/** An item of the queue, as it was read or written. */
export type WorkItem = Versioned<WorkValue>;

export interface LeaseDependencies extends Pick<Runtime, 'nowMs' | 'newAttemptId'> {
  readonly ledger: Pick<Ledger, 'transact'>;
  /** Names this worker. No other one that may be at work has the same name. */
  readonly owner: string;
}

/** From when on this worker may take the item, in milliseconds since the epoch; 0: it always might. */
export function heldUntilMs({ value: { lease } }: WorkItem, owner: string): number {
  return lease === null || lease.owner === owner ? 0 : lease.untilMs;
}

/** Whether the item is this worker's for long enough to begin something. */
export function isHeld({ value: { lease } }: WorkItem, { owner, nowMs }: LeaseDependencies): boolean {
  return lease?.owner === owner && lease.untilMs - nowMs() > LEASE_MS / 2;
}

type Hint = Pick<WorkValue, 'touches'>;

/**
 * Leases these items of one lane, or renews their leases, up to the first that another worker has. Returns the items that are
 * leased now.
 */
export async function takeLeases(
  dependencies: LeaseDependencies,
  items: readonly WorkItem[],
  hint: Hint = {},
): Promise<readonly WorkItem[]> {
  const lease = { owner: dependencies.owner, untilMs: dependencies.nowMs() + LEASE_MS };
  return await write(dependencies, items, { lease, ...hint });
}

/** Gives leases back, so that no worker waits for their end. Returns the items that are still there. */
export async function giveBack(
  dependencies: LeaseDependencies,
  items: readonly WorkItem[],
  hint: Hint = {},
): Promise<readonly WorkItem[]> {
  const own = items.filter(({ value }) => value.lease?.owner === dependencies.owner);
  return await write(dependencies, own, { lease: null, ...hint });
}

async function write(
  { ledger, newAttemptId, owner }: LeaseDependencies,
  items: readonly WorkItem[],
  leasing: Pick<WorkValue, 'lease'> & Hint,
): Promise<readonly WorkItem[]> {
  for (let left = items; left.length > 0; ) {
    const changes = left.map((item) => replaced<WorkValue>(item, { ...item.value, ...leasing }));
    const result = await ledger.transact(changes, { attemptId: newAttemptId() });
    if (result.committed) return changes.map(written);
    const found = new Map(result.refusals.map(({ index, found }) => [index, found as WorkItem | null]));
    const asFound = left.map((item, index) => (found.has(index) ? (found.get(index) ?? null) : item));
    // Items that are gone have been done. An item that another worker has ends the list: those after it come later.
    const end = asFound.findIndex(
      (item, index) => found.has(index) && item !== null && item.value.lease?.owner !== owner,
    );
    left = asFound.slice(0, end === -1 ? asFound.length : end).filter((item) => item !== null);
  }
  return [];
}
