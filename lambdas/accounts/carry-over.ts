/**
 * A restore returns to an earlier ledger. There, keys that were revoked or rotated later would be valid again, and erased
 * persons would return. This module carries these changes over from a later ledger.
 */

import type { Runtime } from '../../storage/aws/runtime.ts';
import { ConflictItems } from '../../storage/ports/conflict-items.ts';
import type { Change, Item, Ledger, LedgerReader } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import {
  API_KEYS,
  type ApiKeyValue,
  ERASURES,
  type ErasureValue,
  endOfKey,
  erasureKey,
  waitlistRequestKey,
  waitlistRequestOf,
} from '../../storage/records/accounts.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { serviceAudits } from '../review/audit-changes.ts';
import { revoked, takenFromAccount } from './api-keys.ts';
import { erasureChanges, readAccount } from './erasures.ts';

const ACTION = 'system:restore';

/** The accounts of one ledger. */
export interface KnownAccounts {
  /** Its newest generation; 0: none. */
  readonly generation: number;
  readonly keys: ReadonlyMap<string, Item<ApiKeyValue>>;
  readonly erasures: readonly ErasureValue[];
}

export async function readAccounts(ledger: LedgerReader): Promise<KnownAccounts> {
  const [head, keys, erasures] = [
    await ledger.get(HEAD_KEY),
    await readAll(ledger, API_KEYS),
    await readAll(ledger, ERASURES),
  ];
  return {
    generation: head?.value.generation ?? 0,
    keys: new Map(keys.map((item) => [item.sort, item])),
    erasures: erasures.map(({ value }) => value),
  };
}

/**
 * The valid keys of an earlier ledger whose later state no other ledger knows.
 *
 * @param later all ledgers that may be later
 */
export async function findRevivedKeys(
  earlier: LedgerReader,
  later: readonly KnownAccounts[],
  nowMs: number,
): Promise<readonly Item<ApiKeyValue>[]> {
  const { generation, keys } = await readAccounts(earlier);
  const reallyLater = later.filter((each) => each.generation >= generation);
  const isKnown = ({ sort, revision }: Item<ApiKeyValue>) =>
    reallyLater.some((each) => (each.keys.get(sort)?.revision ?? 0) >= revision);
  return [...keys.values()].filter((key) => endOfKey(key.value, nowMs) === null && !isKnown(key));
}

export interface CarryOverDependencies extends Pick<Runtime, 'nowMs' | 'newAttemptId' | 'newId'> {
  readonly ledger: Ledger;
}

/** Copies the state of every key that a later ledger has changed. Returns their number. May be repeated. */
export async function carryKeysOver(
  dependencies: CarryOverDependencies,
  later: readonly KnownAccounts[],
): Promise<number> {
  return await changeKeys(dependencies, ({ sort, revision }) => {
    const items = later.flatMap(({ keys }) => keys.get(sort) ?? []);
    const newest = items.toSorted((left, right) => right.revision - left.revision)[0];
    return newest !== undefined && newest.revision > revision ? newest : null;
  });
}

/** Revokes every valid key. Returns their number. May be repeated. */
export async function revokeAllKeys(dependencies: CarryOverDependencies): Promise<number> {
  const nowMs = dependencies.nowMs();
  return await changeKeys(dependencies, ({ value, revision }) =>
    endOfKey(value, nowMs) === null
      ? { value: revoked(value, new Date(nowMs).toISOString()), revision: revision + 1 }
      : null,
  );
}

async function changeKeys(
  dependencies: CarryOverDependencies,
  change: (item: Item<ApiKeyValue>) => Pick<Item<ApiKeyValue>, 'value' | 'revision'> | null,
): Promise<number> {
  const { ledger, nowMs } = dependencies;
  let changed = 0;
  for (const item of await readAll(ledger, API_KEYS)) {
    const after = change(item);
    if (after === null) continue;
    const { partition, sort, revision, value } = item;
    const isRevokedNow = value.revokedAt === null && after.value.revokedAt !== null;
    const request = isRevokedNow ? waitlistRequestOf(value.subject) : null;
    await commitCarried(dependencies, `api-key/${sort}`, async (found) => {
      const application = request === null ? null : await ledger.get(waitlistRequestKey(request));
      return [
        {
          kind: 'put',
          key: { partition, sort },
          revision: after.revision,
          value: after.value,
          if: { kind: 'revision-is', revision },
        },
        ...takenFromAccount(value, application, nowMs(), found),
      ];
    });
    changed += 1;
  }
  return changed;
}

/** Starts every erasure that only a later ledger knows. Returns their number. May be repeated. */
export async function repeatErasures(
  dependencies: CarryOverDependencies,
  later: readonly KnownAccounts[],
): Promise<number> {
  const { ledger, nowMs } = dependencies;
  const all = new Map(later.flatMap(({ erasures }) => erasures.map((erasure) => [erasure.id, erasure] as const)));
  let repeated = 0;
  for (const erasure of all.values()) {
    if ((await ledger.get(erasureKey(erasure.id))) !== null) continue;
    // An account that was made after the backup is not in this ledger.
    if ((await readAccount(erasure.subject, ledger)) === 'unknown') continue;
    await commitCarried(dependencies, `erasure/${erasure.id}`, async (found) => {
      const account = await readAccount(erasure.subject, ledger);
      if (account === 'unknown') return [];
      const at = { nowMs: nowMs(), now: new Date(nowMs()).toISOString() };
      return erasureChanges({ ...erasure, finishedAt: null }, account, at, found);
    });
    repeated += 1;
  }
  return repeated;
}

/** If a quota counter refuses, the second try leaves it out. There is no other writer. */
export async function commitCarried(
  { ledger, nowMs, newAttemptId, newId }: CarryOverDependencies,
  target: string,
  decide: (found: ConflictItems) => Promise<readonly Change[]>,
): Promise<void> {
  const at = new Date(nowMs()).toISOString();
  const audits = serviceAudits(ACTION, [target], { newId, at });
  let found = new ConflictItems();
  for (let tries = 0; tries < 3; tries += 1) {
    const changes = [...audits, ...(await decide(found))];
    const result = await ledger.transact(changes, { attemptId: newAttemptId() });
    if (result.committed) return;
    found = new ConflictItems(changes, result.refusals);
  }
  throw new Error(`The restored ledger refuses to change ${target}: another process writes to it.`);
}
