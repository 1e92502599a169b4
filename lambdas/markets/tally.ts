/** Counts rows by their outcome. */

import type { MarketDecision } from './market-decision.ts';
import type { RowFault } from './rules/check-rows.ts';

export interface Tally {
  readonly accepted: number;
  readonly unchanged: number;
  readonly refused: number;
  /** The new revision of each changed market, by slug. */
  readonly revisions: { readonly [slug: string]: number };
}

export function tallyOf(decisions: readonly MarketDecision[]): Tally {
  const counts = { accepted: 0, unchanged: 0, refused: 0 };
  const revisions: { [slug: string]: number } = {};
  for (const { slug, outcomes, record } of decisions) {
    for (const { kind } of outcomes.values()) counts[kind]++;
    if (record !== null) revisions[slug] = record.revision;
  }
  return { ...counts, revisions };
}

/** The faults of rows that a decision refuses. */
export function faultsOf({ outcomes }: MarketDecision): readonly RowFault[] {
  const faults: RowFault[] = [];
  for (const [index, outcome] of outcomes) {
    if (outcome.kind === 'refused') faults.push({ index, ...outcome.error });
  }
  return faults;
}
