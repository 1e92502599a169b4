/** Seals the audit of days that are over: a later cut at the end of a chain, or of a whole chain, is found. */

import type { Runtime } from '../../storage/aws/runtime.ts';
import { created } from '../../storage/ports/changes.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { queryPages, readPage } from '../../storage/ports/paging.ts';
import {
  AUDIT_SEALS,
  type AuditValue,
  auditOfDay,
  auditSealKey,
  dayOf,
  digestOfAudit,
  type SealValue,
} from '../../storage/records/audit.ts';

export interface SealDependencies extends Pick<Runtime, 'nowMs' | 'newAttemptId'> {
  readonly ledger: Pick<Ledger, 'query' | 'transact'>;
}

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** A write of the day before is committed seconds after midnight at the latest, also by a clock that is minutes slow. */
const OVER_AFTER_MS = HOUR_MS;

/** The first day that is not over: it cannot be sealed yet. */
export const firstOpenDay = (nowMs: number): string => dayOf(new Date(nowMs - OVER_AFTER_MS).toISOString());

export const dayAfter = (day: string, days = 1): string =>
  dayOf(new Date(Date.parse(day) + days * DAY_MS).toISOString());

/**
 * Makes a function that seals each day that is over and not sealed, in order. The first call on a ledger seals the day
 * before. Call it often: it reads at most one item until the next day is over.
 *
 * @throws StorageUnavailable if storage fails: the next call continues
 */
export function createAuditSealer({ ledger, nowMs, newAttemptId }: SealDependencies): () => Promise<void> {
  let sealedBefore = '';
  return async () => {
    const open = firstOpenDay(nowMs());
    if (sealedBefore >= open) return;
    const { items } = await readPage(ledger, AUDIT_SEALS, { descending: true, limit: 1 });
    let newest = items[0]?.value ?? null;
    for (let day = newest === null ? dayAfter(open, -1) : dayAfter(newest.day); day < open; day = dayAfter(day)) {
      const seal = { day, ends: await endsOf(ledger, day), previous: newest && digestOfAudit(newest) };
      // Another process makes the same seal. Then the next call reads it.
      const { committed } = await ledger.transact([created(auditSealKey(day), seal)], { attemptId: newAttemptId() });
      if (!committed) return;
      newest = seal;
    }
    sealedBefore = open;
  };
}

async function endsOf(ledger: Pick<Ledger, 'query'>, day: string): Promise<SealValue['ends']> {
  const newest = new Map<string, AuditValue>();
  for await (const items of queryPages(ledger, auditOfDay(day))) {
    for (const { value } of items) {
      if (value.chain && value.chain.place > (newest.get(value.chain.id)?.chain?.place ?? 0))
        newest.set(value.chain.id, value);
    }
  }
  const ends = [...newest].map(([id, value]) => [
    id,
    { records: value.chain?.place ?? 0, digest: digestOfAudit(value) },
  ]);
  return Object.fromEntries(ends);
}
