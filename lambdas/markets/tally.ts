/** Adds up what became of rows. */
import type { RowFault } from './check-rows.ts';
import type { MarketDecision } from './decide.ts';

export interface Tally {
  readonly accepted: number;
  readonly unchanged: number;
  /** Slugs of the markets that changed, once each, in order. */
  readonly markets: readonly string[];
}

export function tallyOf(decisions: readonly MarketDecision[]): Tally {
  let accepted = 0;
  let unchanged = 0;
  for (const { outcomes } of decisions) {
    for (const { kind } of outcomes.values()) {
      if (kind === 'accepted') accepted++;
      if (kind === 'unchanged') unchanged++;
    }
  }
  const changed = decisions.filter(({ changes }) => changes.length > 0).map(({ slug }) => slug);
  return { accepted, unchanged, markets: [...new Set(changed)].sort() };
}

/** The faults of the rows that a decision refuses. */
export function faultsOf({ outcomes }: MarketDecision): readonly RowFault[] {
  const faults: RowFault[] = [];
  for (const [index, outcome] of outcomes) {
    if (outcome.kind === 'refused') faults.push({ index, ...outcome.error });
  }
  return faults;
}
