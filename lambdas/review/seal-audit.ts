/** Seals the audit of finished days. Then a later removal at the end of a chain, or of a whole chain, is found. */

import type { Runtime } from '../../storage/aws/runtime.ts';
import { created } from '../../storage/ports/changes.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { queryPages, readAll, readPage } from '../../storage/ports/paging.ts';
import {
  AUDIT_SEALS,
  auditOfDay,
  auditSealKey,
  auditSealPartKey,
  auditSealPartsOf,
  type ChainEnds,
  type ChainedAudit,
  dayOf,
  digestOfAudit,
  type SealPartValue,
  type SealValue,
} from '../../storage/records/audit.ts';

export interface SealDependencies extends Pick<Runtime, 'nowMs' | 'newAttemptId'> {
  readonly ledger: Pick<Ledger, 'query' | 'transact'>;
  /** The limit of chains in one part of a long day. */
  readonly mostChains?: number;
}

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** A write of a day is committed at most seconds after midnight, even if a clock is minutes slow. So an hour is enough. */
const OVER_AFTER_MS = HOUR_MS;

/** The first unfinished day: it cannot be sealed yet. */
const firstOpenDay = (nowMs: number): string => dayOf(new Date(nowMs - OVER_AFTER_MS).toISOString());

export const dayAfter = (day: string, days = 1): string =>
  dayOf(new Date(Date.parse(day) + days * DAY_MS).toISOString());

/** The limit of chains in one part: a third of an item's size. */
const MOST_CHAINS = 1_000;
/** The limit of records in one part: some seconds of reading. */
const MOST_RECORDS = 100_000;

/**
 * Makes a function that seals each finished day that is not sealed, in order. On a new ledger, the first call seals the
 * previous day. Call it often: until the next day is finished, it reads at most one item. A long day is sealed in parts, each
 * as soon as it is read. So an interrupted call loses only its last part.
 *
 * @throws StorageUnavailable if storage fails: the next call continues
 */
export function createAuditSealer({
  ledger,
  nowMs,
  newAttemptId,
  mostChains = MOST_CHAINS,
}: SealDependencies): () => Promise<void> {
  let sealedBefore = '';

  /** Null: another process is making the parts at the same time. */
  async function sealParts(day: string): Promise<Pick<SealValue, 'ends' | 'parts'> | null> {
    const known = await readAll(ledger, auditSealPartsOf(day));
    const parts = known.map(({ value }) => digestOfAudit(value));
    const after = known.at(-1)?.value.upTo;
    let newest = new Map<string, ChainedAudit>();
    let records = 0;
    for await (const items of queryPages(ledger, auditOfDay(day), after === undefined ? {} : { after })) {
      for (const { sort, value } of items) {
        const { chain } = value;
        records++;
        if (chain && chain.place > (newest.get(chain.id)?.chain.place ?? 0)) newest.set(chain.id, { ...value, chain });
        if (newest.size < mostChains && records < MOST_RECORDS) continue;
        const part: SealPartValue = { day, upTo: sort, ends: endsOf(newest) };
        const made = created(auditSealPartKey(day, parts.length), part);
        if (!(await ledger.transact([made], { attemptId: newAttemptId() })).committed) return null;
        parts.push(digestOfAudit(part));
        newest = new Map();
        records = 0;
      }
    }
    return { ends: endsOf(newest), ...(parts.length === 0 ? {} : { parts }) };
  }

  return async () => {
    const open = firstOpenDay(nowMs());
    if (sealedBefore >= open) return;
    const { items } = await readPage(ledger, AUDIT_SEALS, { descending: true, limit: 1 });
    let newest = items[0]?.value ?? null;
    for (let day = newest === null ? dayAfter(open, -1) : dayAfter(newest.day); day < open; day = dayAfter(day)) {
      const sealed = await sealParts(day);
      if (sealed === null) return;
      const seal: SealValue = { day, ...sealed, previous: newest && digestOfAudit(newest) };
      // If another process makes the same seal, the next call reads that one.
      const { committed } = await ledger.transact([created(auditSealKey(day), seal)], { attemptId: newAttemptId() });
      if (!committed) return;
      newest = seal;
    }
    sealedBefore = open;
  };
}

function endsOf(newest: ReadonlyMap<string, ChainedAudit>): ChainEnds {
  const ends = [...newest].map(([id, value]) => [id, { records: value.chain.place, digest: digestOfAudit(value) }]);
  return Object.fromEntries(ends);
}
