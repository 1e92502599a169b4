/**
 * The chains of audit records. Each record contains the digest of the previous one. So an altered, removed or inserted record
 * is found (docs/decisions/025).
 *
 * A chain belongs to one process, and to one of its writes at a time. So no write waits for another, or refuses another,
 * because of a chain. The end of a chain is only in memory. If the outcome of a write is unknown, its chain is not continued;
 * nor is a chain of a process that has ended.
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
  /** The newest records of chains that no write is continuing. At most as many as there were concurrent writes. */
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

  /** Chains of another day are dropped. */
  #take(day: string): ChainedAudit | null {
    for (;;) {
      const end = this.#ends.pop();
      if (end === undefined) return null;
      if (dayOf(end.at) === day) return end;
    }
  }
}

/** A separate chain for the records of one transaction that the service itself makes. */
export function chainOf(audits: readonly AuditValue[]): readonly ChainedAudit[] {
  const chain: ChainedAudit[] = [];
  for (const audit of audits) chain.push(linkedTo(chain.at(-1) ?? null, audit));
  return chain;
}

function linkedTo(end: ChainedAudit | null, audit: AuditValue): ChainedAudit {
  if (end === null) return { ...audit, chain: { id: audit.id, place: 1, previous: null } };
  return { ...audit, chain: { id: end.chain.id, place: end.chain.place + 1, previous: digestOfAudit(end) } };
}
