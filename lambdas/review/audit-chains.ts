/**
 * The chains of audit records. Each record has the digest of the one before it, so a record that is altered, removed or
 * put in between is found (docs/decisions/025).
 *
 * A chain belongs to one process, and to one write of it at a time: no two writes ever wait for, or refuse, each other
 * because of a chain. Its end is kept in memory only. If the outcome of a write is unknown, its chain is not continued,
 * and neither is a chain of a process that ends.
 */
import { type AuditValue, type ChainedAudit, dayOf, digestOfAudit } from '../../storage/records/audit.ts';

/** A record of a write that is about to be committed. */
export interface AuditLink {
  readonly audit: ChainedAudit;
  /** Call it once the write is committed: the next write continues the chain. */
  readonly committed: () => void;
  /** Call it once the write is refused: the next write takes the same place. */
  readonly refused: () => void;
}

export class AuditChains {
  /** The newest records of chains that no write is continuing. At most as many as there were writes at once. */
  readonly #ends: ChainedAudit[] = [];

  link(audit: AuditValue): AuditLink {
    const end = this.#take(dayOf(audit.at));
    const linked = linkedTo(end, audit);
    return {
      audit: linked,
      committed: () => void this.#ends.push(linked),
      refused: () => void (end && this.#ends.push(end)),
    };
  }

  /** A chain of another day is dropped. */
  #take(day: string): ChainedAudit | null {
    for (;;) {
      const end = this.#ends.pop();
      if (end === undefined) return null;
      if (dayOf(end.at) === day) return end;
    }
  }
}

/** The records of one transaction of the service itself, as a chain of their own. */
export function chainOf(audits: readonly AuditValue[]): readonly ChainedAudit[] {
  const chain: ChainedAudit[] = [];
  for (const audit of audits) chain.push(linkedTo(chain.at(-1) ?? null, audit));
  return chain;
}

function linkedTo(end: ChainedAudit | null, audit: AuditValue): ChainedAudit {
  if (end === null) return { ...audit, chain: { id: audit.id, place: 1, previous: null } };
  return { ...audit, chain: { id: end.chain.id, place: end.chain.place + 1, previous: digestOfAudit(end) } };
}
