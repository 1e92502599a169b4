/**
 * Failures that pass: other writers changed the same items, or a transaction is not completely visible yet. And one failure
 * that does not pass: an item is missing.
 */

import type { Runtime } from '../../storage/aws/runtime.ts';
import { dropped } from '../../storage/ports/changes.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Change, ItemKey, Ledger, Refusal } from '../../storage/ports/ledger.ts';
import { describeKey } from '../../storage/ports/ledger-rules.ts';
import type { WorkValue } from '../../storage/records/batches.ts';

/** Each time that the change was decided, other writers had changed the items. Retry later. */
export class Contended extends Error {
  override readonly name = 'Contended';
}

/**
 * Names the items that refused the last try. An observation that no record counts is part of an incomplete transaction, which a
 * restored ledger may contain. A repair of its market removes it.
 */
export function contendedOn(what: string, changes: readonly Change[], refusals: readonly Refusal[]): Contended {
  const keys = refusals.flatMap(({ index }) => changes[index]?.key ?? []);
  return new Contended(
    `${what}: other writers changed the same items in each try, at last ${keys.map(describeKey).join(' and ')}`,
  );
}

/** Whether the same work may succeed if it is tried again. */
export function isRetryable(error: unknown): boolean {
  return error instanceof StorageUnavailable || error instanceof Contended;
}

export interface MissingDependencies extends Pick<Runtime, 'newAttemptId'> {
  readonly ledger: Pick<Ledger, 'transact'>;
}

/**
 * Handles a missing item that was written in one transaction with items that were found. A transaction may become visible item
 * by item, so only another transaction can prove that the item does not exist.
 *
 * @param work the work that was written with it. If a restored ledger has lost the item, the work can never be done. Then it is
 *   removed, so that later work in its lane can continue
 * @throws Contended if the item is visible by now, StorageCorrupt if it does not exist
 */
export async function missingItem(
  { ledger, newAttemptId }: MissingDependencies,
  { partition, sort }: ItemKey<unknown>,
  work?: ItemKey<WorkValue>,
): Promise<never> {
  const check = { kind: 'check', key: { partition, sort }, if: { kind: 'absent' } } as const;
  const changes = work === undefined ? [check] : [check, dropped(work)];
  const { committed } = await ledger.transact(changes, { attemptId: newAttemptId() });
  throw committed
    ? new StorageCorrupt(`${partition}, ${sort} is missing`)
    : new Contended(`${partition}, ${sort} was not visible yet`);
}
