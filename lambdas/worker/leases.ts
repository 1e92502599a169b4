/**
 * Leases of work. A lease is written into the work item itself, under the condition that the item is unchanged since it was
 * read. It ends when it is given back, or by time: a dead worker delays its lanes for at most {@link LEASE_MS}.
 *
 * A lease only prevents duplicate work. If a worker is slower than its lease, another worker overtakes it, and the checkpoints
 * of its batch refuse its later writes.
 */

import type { Runtime } from '../../storage/aws/runtime.ts';
import { replaced, type Versioned, written } from '../../storage/ports/changes.ts';
import { ConflictItems } from '../../storage/ports/conflict-items.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { WorkValue } from '../../storage/records/batches.ts';

export const LEASE_MS = 30_000;

/** An item of the queue, as read or written by this worker. */
export type WorkItem = Versioned<WorkValue>;

/** A work item of one kind. */
export type WorkOf<Kind extends WorkValue['kind']> = Versioned<WorkValue & { kind: Kind }>;

export interface LeaseDependencies extends Pick<Runtime, 'nowMs' | 'newAttemptId'> {
  readonly ledger: Pick<Ledger, 'transact'>;
  /** The name of this worker. It is unique among the running workers. */
  readonly owner: string;
}

/** The time from which this worker may take the item, in milliseconds since the epoch; 0: now. */
export function heldUntilMs({ value: { lease } }: WorkItem, owner: string): number {
  return lease === null || lease.owner === owner ? 0 : lease.untilMs;
}

/** Whether this worker has the item for long enough to begin a step. */
export function isHeld({ value: { lease } }: WorkItem, { owner, nowMs }: LeaseDependencies): boolean {
  return lease?.owner === owner && lease.untilMs - nowMs() > LEASE_MS / 2;
}

type Hint = Pick<WorkValue, 'touches'>;

/**
 * Leases these items of one lane, or renews their leases, up to the first item that another worker has. Returns the leased
 * items.
 */
export async function takeLeases(
  dependencies: LeaseDependencies,
  items: readonly WorkItem[],
  hint: Hint = {},
): Promise<readonly WorkItem[]> {
  const lease = { owner: dependencies.owner, untilMs: dependencies.nowMs() + LEASE_MS };
  return await write(dependencies, items, { lease, ...hint });
}

/** Gives leases back, so that no worker waits for their end. Returns the items that still exist. */
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
    const changes = left.map((item) => replaced(item, { ...item.value, ...leasing }));
    const result = await ledger.transact(changes, { attemptId: newAttemptId() });
    if (result.committed) return changes.map(written);
    const found = new ConflictItems(changes, result.refusals);
    const asFound = left.map((item) => ({ item, now: found.get(item) }));
    // Missing items are done. The list ends at an item that another worker has, because later items of the lane must wait.
    const end = asFound.findIndex(({ now }) => now && now.value.lease?.owner !== owner);
    left = asFound
      .slice(0, end === -1 ? asFound.length : end)
      .flatMap(({ item, now = item }) => (now === null ? [] : [now]));
  }
  return [];
}
