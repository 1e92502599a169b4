/**
 * Failures that pass by themselves: others are in the way, or a transaction of theirs is not visible as a whole yet. And one that
 * does not pass: an item is missing.
 */
import { StorageCorrupt, StorageUnavailable } from '../../storage/errors.ts';
import type { Change, ItemKey, Ledger, Refusal } from '../../storage/ledger.ts';
import { describeKey } from '../../storage/ledger-rules.ts';
import { workKey } from '../../storage/records/batches.ts';
import type { Runtime } from '../../storage/runtime.ts';

/** Other writers have changed what was to be committed, each time it was decided anew. Retry later. */
export class Contended extends Error {
  override readonly name = 'Contended';
}

/**
 * In whose way the last try was: an observation that no record knows is a part of a transaction, which a restored copy of the ledger
 * may hold. It goes when its market is repaired.
 */
export function inTheWay(what: string, changes: readonly Change[], refusals: readonly Refusal[]): Contended {
  const keys = refusals.flatMap(({ index }) => changes[index]?.key ?? []);
  return new Contended(`${what}: others were in the way each time, at last ${keys.map(describeKey).join(' and ')}`);
}

/** Whether what has failed may be done by trying again. */
export function mayPass(error: unknown): boolean {
  return error instanceof StorageUnavailable || error instanceof Contended;
}

export interface MissingDependencies extends Pick<Runtime, 'newAttemptId'> {
  readonly ledger: Pick<Ledger, 'transact'>;
}

/**
 * For what work is about, which was written together with the work itself. Where it is not there, a restored copy of the ledger has
 * lost it: nothing can be done, now or ever. So the work goes, and what follows it in its lane is not held up.
 *
 * @throws as `missing`
 */
export async function missingSubject(
  dependencies: MissingDependencies,
  key: ItemKey<unknown>,
  id: string,
): Promise<never> {
  return await missing(dependencies, key, [{ kind: 'delete', key: workKey(id), if: { kind: 'any' } }]);
}

/**
 * For an item that was written together with other ones, which were found. A transaction may become visible item by item, so
 * only another transaction can tell that an item is not there.
 *
 * @param end what is to be committed where it is not
 * @throws Contended when it is there by now, StorageCorrupt when it is not.
 */
export async function missing(
  { ledger, newAttemptId }: MissingDependencies,
  { partition, sort }: ItemKey<unknown>,
  end: readonly Change[] = [],
): Promise<never> {
  const check = { kind: 'check', key: { partition, sort }, if: { kind: 'absent' } } as const;
  const { committed } = await ledger.transact([check, ...end], { attemptId: newAttemptId() });
  throw committed
    ? new StorageCorrupt(`${partition}, ${sort} is missing`)
    : new Contended(`${partition}, ${sort} was not visible yet`);
}
